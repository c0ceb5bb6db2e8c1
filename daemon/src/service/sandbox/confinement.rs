//! From a profile to what the keeper is asked to hold a command to.
//!
//! Paths are resolved here, because the keeper takes none with a link in it.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::directories::NeededDirectory;
use super::link_resolver::{Destination, FileKind, LinkResolver};
use super::places::{places, real_path};
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::confinement::{
    Access, Builder, Confinement, Enforcement, IfAbsent, MAX_SANDBOX_PATHS, ProcessLimits,
    ProtectedPath, Sandbox, Temporary,
};
use termd_policy::{
    ByteSize, LimitsSpec, MissingPath, Profile, SandboxAccess, SandboxBuilder, TemporaryFiles,
    TimeSpan,
};

/// A confinement, and the directories that the keeper creates for it.
#[derive(Debug, Default)]
pub(super) struct NewConfinement {
    pub(super) confinement: Confinement,
    /// Directories that are protected, and created where they are absent.
    pub(super) creatable: Vec<NeededDirectory>,
    /// The workspace, without links. `None` where there is no sandbox.
    pub(super) workspace: Option<PathBuf>,
}

/// Why the sandbox of some profiles cannot be asked for.
#[derive(Debug, thiserror::Error)]
enum SandboxError {
    #[error("{}: {cause}", path.display())]
    Directory { path: PathBuf, cause: io::Error },
    #[error("the writable path {}: {cause}", path.display())]
    WritablePath { path: PathBuf, cause: io::Error },
    #[error("they name more than {MAX_SANDBOX_PATHS} paths together")]
    TooManyPaths,
}

/// What the keeper is to hold a command to.
pub(super) fn confinement(
    profile: &Profile,
    cwd: &Path,
    config_dir: &Path,
) -> Result<NewConfinement, TerminalError> {
    let limits = process_limits(&profile.limits);
    if profile.sandboxes.is_empty() {
        let sandbox = None;
        return Ok(NewConfinement {
            confinement: Confinement { limits, sandbox },
            creatable: Vec::new(),
            workspace: None,
        });
    }
    let failed = |error: SandboxError| TerminalError::Unconfinable {
        profiles: profile.names.join(", "),
        problem: error.to_string(),
    };
    let mut links = LinkResolver::default();
    let places = places(&mut links, cwd, config_dir);
    let places = places.map_err(|cause| {
        let path = cwd.to_owned();
        failed(SandboxError::Directory { path, cause })
    })?;
    let walls = profile.sandbox_access(&places);
    let sandbox = walls.map(|walls| sandbox(&mut links, &walls)).transpose();
    let (sandbox, creatable) = sandbox.map_err(failed)?.unzip();
    Ok(NewConfinement {
        confinement: Confinement { limits, sandbox },
        creatable: creatable.unwrap_or_default(),
        workspace: Some(places.workspace),
    })
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
    walls: &SandboxAccess,
) -> Result<(Sandbox, Vec<NeededDirectory>), SandboxError> {
    let writable = writable_paths(links, walls)?;
    let protected = guarded_paths(links, walls, &writable);
    let is_created = |guarded: &&GuardedPath| guarded.if_absent == IfAbsent::MakeDirectory;
    let creatable = protected.iter().filter(is_created);
    let creatable = creatable.map(|guarded| NeededDirectory {
        path: guarded.path.clone(),
        exists: guarded.exists,
    });
    let creatable = creatable.collect();
    // What is absent cannot be hidden, and need not be shown.
    let mut existing = |paths: &[PathBuf]| {
        let real = paths.iter().filter_map(|path| links.real_path(path));
        real.collect::<BTreeSet<_>>()
    };
    let hidden = existing(&walls.hidden);
    let visible = existing(&walls.visible);
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
        builder: match walls.builder {
            SandboxBuilder::Termd => Builder::Termd,
            SandboxBuilder::Bubblewrap => Builder::Bubblewrap,
        },
    };
    Ok((sandbox, creatable))
}

fn writable_paths(
    links: &mut LinkResolver,
    walls: &SandboxAccess,
) -> Result<Vec<PathBuf>, SandboxError> {
    let mut writable: Vec<PathBuf> = Vec::new();
    for path in &walls.writable {
        let real = real_path(links, path).map_err(|cause| {
            let path = path.clone();
            SandboxError::WritablePath { path, cause }
        })?;
        writable.push(real);
    }
    writable.sort();
    writable.dedup();
    Ok(writable)
}

/// The paths below writable ones that have to be guarded.
fn guarded_paths(
    links: &mut LinkResolver,
    walls: &SandboxAccess,
    writable: &[PathBuf],
) -> Vec<GuardedPath> {
    let mut protected: Vec<GuardedPath> = Vec::new();
    for (path, absent) in &walls.protected {
        for guarded in guarded(links, path, *absent) {
            let is_writable = writable.iter().any(|above| guarded.path.starts_with(above));
            if is_writable && !protected.contains(&guarded) {
                protected.push(guarded);
            }
        }
    }
    protected
}

/// A path that is protected.
#[derive(Debug, PartialEq, Eq)]
struct GuardedPath {
    path: PathBuf,
    if_absent: IfAbsent,
    exists: bool,
}

/// What has to be guarded for a path to stay as it is: where the path leads, and each link on the
/// way. A process that can replace a link decides what the path means.
fn guarded(links: &mut LinkResolver, path: &Path, absent: MissingPath) -> Vec<GuardedPath> {
    let resolved = links.resolve(path);
    let guard = |path, if_absent, exists| GuardedPath {
        path,
        if_absent,
        exists,
    };
    let on_the_way = resolved.links.into_iter();
    let mut guarded: Vec<_> = on_the_way
        .map(|link| guard(link, IfAbsent::PinLink, true))
        .collect();
    match (resolved.destination, absent) {
        // A directory that exists may be gone when the command starts.
        (Destination::Exists(place, FileKind::Directory), MissingPath::CreateDirectory) => {
            guarded.push(guard(place, IfAbsent::MakeDirectory, true));
        }
        (Destination::Exists(place, _), _) => guarded.push(guard(place, IfAbsent::Leave, true)),
        (Destination::Absent(place), MissingPath::CreateDirectory) => {
            guarded.push(guard(place, IfAbsent::MakeDirectory, false));
        }
        (Destination::Absent(_), MissingPath::Ignore) | (Destination::Unknown, _) => {}
    }
    guarded
}
