//! From a profile to what the keeper is asked to hold a command to.
//!
//! Paths are resolved here, because the keeper takes none with a link in it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use super::directories::NeededPath;
use super::directory_links::{leads_above, links_below};
use super::link_resolver::{Destination, FileKind, LinkResolver};
use super::places::places;
use super::protected_finder::found_in_writable;
use super::tmux_directory::make_tmux_directory;
use super::tree_search::TreeSearchError;
use super::writable_paths::{WritablePath, WritablePathError, file_id, writable_paths};
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::confinement::{
    Access, Builder, Confinement, Enforcement, FileId, IfAbsent, MAX_SANDBOX_PATHS, ProcessLimits,
    Processes, ProtectedPath, Sandbox, Temporary,
};
use termd_policy::{
    ByteSize, HostPaths, LimitsSpec, MissingPath, Profile, SandboxAccess, SandboxBuilder,
    TemporaryFiles, TimeSpan,
};

/// A confinement, and the directories that the keeper creates for it.
#[derive(Debug, Default)]
pub(super) struct NewConfinement {
    pub(super) confinement: Confinement,
    /// What is created where it is absent, so that it is protected.
    pub(super) creatable: Vec<NeededPath>,
    /// The workspace, without links. `None` where there is no sandbox.
    pub(super) workspace: Option<PathBuf>,
}

/// What sandboxes let a command access, with everything to protect and to hide that was found.
#[derive(Debug)]
pub(super) struct SearchedAccess {
    walls: SandboxAccess,
    /// What is writable, as it was judged.
    writable: Vec<WritablePath>,
    /// The workspace, without links.
    workspace: PathBuf,
    home: PathBuf,
}

impl SearchedAccess {
    /// What a writable path was when it was judged.
    fn id_of(&self, path: &Path) -> Result<FileId, WritablePathError> {
        let judged = self.writable.iter().find(|writable| writable.path == path);
        judged.map_or_else(|| file_id(path), |judged| Ok(judged.id))
    }
}

/// Why the sandbox of some profiles cannot be asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum SandboxError {
    #[error("{}: {cause}", path.display())]
    Directory { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    WritablePath(#[from] WritablePathError),
    #[error(
        "they protect, hide or let be written more than {MAX_SANDBOX_PATHS} paths; each repository \
         below the workspace is one: start in a directory below it"
    )]
    TooManyPaths,
    #[error("the search for repositories: {0}")]
    Search(#[from] TreeSearchError),
}

/// What a profile's sandboxes let a command access, with what is found on this host. `None` without a
/// sandbox. Searches the writable places, which takes long where they hold many directories.
pub(super) fn searched_access(
    profile: &Profile,
    cwd: &Path,
    config_dir: &Path,
) -> Result<Option<SearchedAccess>, TerminalError> {
    if profile.sandboxes.is_empty() {
        return Ok(None);
    }
    let mut links = LinkResolver::default();
    let places = places(&mut links, cwd, config_dir).map_err(|cause| {
        let path = cwd.to_owned();
        unconfinable(profile, &SandboxError::Directory { path, cause })
    })?;
    let Some(mut walls) = profile.sandbox_access(&places) else {
        return Ok(None);
    };
    leave_out_absent(&mut walls, &places.home);
    make_tmux_directory();
    let found = writable_paths(&mut links, &walls.writable, &places).map_err(SandboxError::from);
    let found = found.and_then(|writable| Ok((with_found(walls, &writable, &places)?, writable)));
    let (walls, writable) = found.map_err(|error| unconfinable(profile, &error))?;
    Ok(Some(SearchedAccess {
        walls,
        writable,
        workspace: places.workspace,
        home: places.home,
    }))
}

/// What the keeper is to hold a command to.
pub(super) fn confinement(
    profile: &Profile,
    access: Option<SearchedAccess>,
) -> Result<NewConfinement, TerminalError> {
    let limits = process_limits(&profile.limits);
    let workspace = access.as_ref().map(|access| access.workspace.clone());
    let sandbox = access.map(|access| sandbox(&mut LinkResolver::default(), &access));
    let sandbox = sandbox.transpose();
    let (sandbox, creatable) = sandbox
        .map_err(|error| unconfinable(profile, &error))?
        .unzip();
    Ok(NewConfinement {
        confinement: Confinement { limits, sandbox },
        creatable: creatable.unwrap_or_default(),
        workspace,
    })
}

fn unconfinable(profile: &Profile, error: &SandboxError) -> TerminalError {
    TerminalError::Unconfinable {
        profiles: profile.names.join(", "),
        problem: error.to_string(),
    }
}

fn process_limits(limits: &LimitsSpec) -> ProcessLimits {
    ProcessLimits {
        cpu_seconds: limits.cpu_time.map(TimeSpan::seconds),
        address_space_bytes: limits.address_space.map(ByteSize::get),
        open_files: limits.open_files,
        processes: limits.processes,
        file_bytes: limits.file_bytes.map(ByteSize::get),
        ..ProcessLimits::default()
    }
}

fn sandbox(
    links: &mut LinkResolver,
    access: &SearchedAccess,
) -> Result<(Sandbox, Vec<NeededPath>), SandboxError> {
    let walls = &access.walls;
    let writable: Vec<PathBuf> = access
        .writable
        .iter()
        .map(|path| path.path.clone())
        .collect();
    let mut protected = guarded_paths(links, walls);
    // A workspace is wherever its caller starts, beneath a protected directory too.
    let left = without_protected(writable.clone(), &protected);
    protected.retain(|guarded| writable.iter().any(|above| guarded.path.starts_with(above)));
    let creatable = protected.iter().flat_map(GuardedPath::needed).collect();
    let writable = left;
    // What is absent need not be shown.
    let visible = walls.visible.iter();
    let visible: BTreeSet<_> = visible.filter_map(|path| links.real_path(path)).collect();
    // Of the home the sandbox has directories of its own, in which no new name appears.
    let hidden = walls
        .hidden
        .iter()
        .filter_map(|path| match links.resolve(path).destination {
            Destination::Exists(place, _) => Some(place),
            Destination::Absent(place) => place.starts_with(&access.home).then_some(place),
            Destination::AbsentBelow(_) | Destination::Unknown => None,
        });
    let hidden: BTreeSet<_> = hidden.collect();
    let writable_ids = writable.iter().map(|path| access.id_of(path));
    let writable_ids = writable_ids.collect::<Result<Vec<_>, _>>()?;
    let lengths = [writable.len(), protected.len(), hidden.len()];
    if lengths.into_iter().any(|length| length > MAX_SANDBOX_PATHS) {
        return Err(SandboxError::TooManyPaths);
    }
    let bytes = |path: PathBuf| path.into_os_string().into_vec();
    let access = |allowed| {
        if allowed {
            Access::Allowed
        } else {
            Access::Denied
        }
    };
    let protected = protected.into_iter().map(|guarded| ProtectedPath {
        path: bytes(guarded.path),
        if_absent: guarded.if_absent,
    });
    let sandbox = Sandbox {
        protected: protected.collect(),
        writable: writable.into_iter().map(bytes).collect(),
        writable_ids,
        hidden: hidden.into_iter().map(bytes).collect(),
        visible: visible.into_iter().map(bytes).collect(),
        network: access(walls.network),
        daemon_socket: access(walls.daemon_socket),
        enforcement: if walls.best_effort {
            Enforcement::BestEffort
        } else {
            Enforcement::Required
        },
        temporary: match walls.temporary {
            TemporaryFiles::Private => Temporary::Private,
            TemporaryFiles::Shared => Temporary::Shared,
        },
        processes: Processes::Private,
        builder: match walls.builder {
            SandboxBuilder::Termd => Builder::Termd,
            SandboxBuilder::Bubblewrap => Builder::Bubblewrap,
        },
    };
    Ok((sandbox, creatable))
}

/// What a sandbox lets a command access, with everything to protect and to hide that is found on this
/// host.
pub(super) fn with_found(
    mut walls: SandboxAccess,
    writable: &[WritablePath],
    places: &HostPaths,
) -> Result<SandboxAccess, SandboxError> {
    let writable: Vec<PathBuf> = writable.iter().map(|path| path.path.clone()).collect();
    for found in found_in_writable(&walls, &writable, places)? {
        if !walls.protected.contains(&found) {
            walls.protected.push(found);
        }
    }
    walls.hidden.extend(named_by_prefix(&walls.hidden_prefixes));
    add_links(&mut walls, &writable, &places.home);
    Ok(walls)
}

/// Adds the links in protected and hidden directories. A link out of the home leads to files of the
/// system, which everybody may read.
fn add_links(walls: &mut SandboxAccess, writable: &[PathBuf], home: &Path) {
    let protected = walls.protected.iter();
    let links = protected.flat_map(|(path, _)| links_below(path));
    let links = links.filter(|link| !leads_above(link, writable));
    let links: Vec<_> = links.map(|link| (link, MissingPath::CreateFile)).collect();
    walls.protected.extend(links);
    let links = walls.hidden.iter().flat_map(|path| links_below(path));
    let is_of_home = |link: &PathBuf| link.canonicalize().is_ok_and(|real| real.starts_with(home));
    let links: Vec<_> = links
        .filter(|link| is_of_home(link) && !leads_above(link, writable))
        .collect();
    walls.hidden.extend(links);
}

/// Leaves out what cannot be in the home, because the home does not have the first of its names. One
/// look at the home is for two hundred paths.
fn leave_out_absent(walls: &mut SandboxAccess, home: &Path) {
    let Ok(entries) = fs::read_dir(home) else {
        return;
    };
    let names: HashSet<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    let may_exist = |path: &Path| match path.strip_prefix(home) {
        Ok(below) => match below.components().next() {
            Some(Component::Normal(first)) => names.contains(first),
            _ => true,
        },
        Err(_) => true,
    };
    walls.hidden.retain(|path| may_exist(path));
    walls
        .protected
        .retain(|(path, missing)| *missing != MissingPath::Ignore || may_exist(path));
}

/// The paths that exist and begin so.
fn named_by_prefix(prefixes: &[PathBuf]) -> Vec<PathBuf> {
    let mut directories: Vec<(&Path, Vec<OsString>)> = Vec::new();
    let mut found = Vec::new();
    for prefix in prefixes {
        let (Some(directory), Some(beginning)) = (prefix.parent(), prefix.file_name()) else {
            continue;
        };
        let known = directories
            .iter()
            .position(|(known, _)| *known == directory);
        let known = known.unwrap_or_else(|| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name()).collect();
            directories.push((directory, names));
            directories.len() - 1
        });
        let names = directories.get(known).map(|(_, names)| names.as_slice());
        let begins = |name: &&OsString| name.as_bytes().starts_with(beginning.as_bytes());
        let named = names.unwrap_or_default().iter().filter(begins);
        found.extend(named.map(|name| directory.join(name)));
    }
    found
}

/// What has to be guarded for the protected paths to stay as they are.
fn guarded_paths(links: &mut LinkResolver, walls: &SandboxAccess) -> Vec<GuardedPath> {
    let mut protected: Vec<GuardedPath> = Vec::new();
    for (path, absent) in &walls.protected {
        for guarded in guarded(links, path, *absent) {
            if !protected.contains(&guarded) {
                protected.push(guarded);
            }
        }
    }
    protected
}

/// The writable paths but for those beneath a protected one.
fn without_protected(mut writable: Vec<PathBuf>, protected: &[GuardedPath]) -> Vec<PathBuf> {
    let is_protected = |path: &PathBuf| {
        let holds = |guarded: &GuardedPath| {
            guarded.path != *path && !guarded.if_absent.is_pin() && path.starts_with(&guarded.path)
        };
        protected.iter().any(holds)
    };
    writable.retain(|path| !is_protected(path));
    writable
}

/// A path that is protected.
#[derive(Debug, PartialEq, Eq)]
struct GuardedPath {
    path: PathBuf,
    if_absent: IfAbsent,
    exists: bool,
    /// The absent directories above it.
    above: Vec<PathBuf>,
}

impl GuardedPath {
    /// What the keeper creates for it, the topmost first.
    fn needed(&self) -> impl Iterator<Item = NeededPath> {
        let is_created = match self.if_absent {
            IfAbsent::MakeDirectory | IfAbsent::MakeFile | IfAbsent::PinDirectory => {
                Some(&self.path)
            }
            IfAbsent::Leave | IfAbsent::PinLink => None,
        };
        let needed = |path: &PathBuf, exists| NeededPath {
            path: path.clone(),
            exists,
        };
        let above = self.above.iter().map(move |path| needed(path, false));
        above.chain(is_created.map(|path| needed(path, self.exists)))
    }
}

/// What has to be guarded for a path to stay as it is: where the path leads, each link on the way, and
/// each directory that a `..` leaves. A process that can replace one of them decides what the path means.
fn guarded(links: &mut LinkResolver, path: &Path, absent: MissingPath) -> Vec<GuardedPath> {
    let resolved = links.resolve(path);
    let guard = |path, if_absent, exists| GuardedPath {
        path,
        if_absent,
        exists,
        above: Vec::new(),
    };
    let made = |path: PathBuf, if_absent| GuardedPath {
        above: absent_above(&path),
        ..guard(path, if_absent, false)
    };
    let on_the_way = resolved.links.into_iter();
    let mut guarded: Vec<_> = on_the_way
        .map(|link| guard(link, IfAbsent::PinLink, true))
        .collect();
    let created = match absent {
        MissingPath::Ignore | MissingPath::CreateDirectoryFor(_) => None,
        MissingPath::CreateDirectory => Some(IfAbsent::MakeDirectory),
        MissingPath::CreateFile => Some(IfAbsent::MakeFile),
    };
    let is_held = created.is_some() || matches!(resolved.destination, Destination::Exists(..));
    for left in resolved.left.into_iter().filter(|_| is_held) {
        guarded.push(match left.symlink_metadata() {
            Ok(found) if found.is_dir() => guard(left, IfAbsent::PinDirectory, true),
            Ok(_) => guard(left, IfAbsent::Leave, true),
            Err(_) => made(left, IfAbsent::PinDirectory),
        });
    }
    match (resolved.destination, created) {
        // What exists may be gone when the command starts.
        (Destination::Exists(place, FileKind::Directory), Some(IfAbsent::MakeDirectory)) => {
            guarded.push(guard(place, IfAbsent::MakeDirectory, true));
        }
        (Destination::Exists(place, _), _) => guarded.push(guard(place, IfAbsent::Leave, true)),
        (Destination::Absent(place), Some(created)) => guarded.push(guard(place, created, false)),
        (Destination::AbsentBelow(place), Some(created)) => guarded.push(made(place, created)),
        (Destination::Absent(_) | Destination::AbsentBelow(_), None)
        | (Destination::Unknown, _) => {}
    }
    guarded
}

/// The absent directories above a path, the topmost first.
fn absent_above(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let absent = above.take_while(|above| above.symlink_metadata().is_err());
    let mut absent: Vec<_> = absent.map(Path::to_owned).collect();
    absent.reverse();
    absent
}
