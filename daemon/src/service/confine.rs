//! From a profile to what the keeper is asked to hold a command to.
//!
//! It looks at the file system, to find out what is where: paths are resolved here, for the keeper
//! takes none with a link in it. It must not know rules.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use termd_proto::terminal::{Confinement as Told, MissingWall};

use super::links::{End, Kind, Ways};
use super::made::Needed;
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, IfAbsent, MAX_SANDBOX_PATHS,
    ProcessLimits, ProtectedPath, Sandbox, Temporary,
};
use termd_policy::{
    ByteSize, HostPaths, LimitsSpec, MissingPath, Profile, SandboxAccess, SandboxBuilder,
    TemporaryFiles, TimeSpan,
};

/// Where things are for a command that starts in this directory.
pub(super) fn places(ways: &mut Ways, cwd: &Path, config_dir: &Path) -> io::Result<HostPaths> {
    let cwd = real(ways, cwd)?;
    let home = env::home_dir().filter(|home| home.is_absolute());
    let home = home.unwrap_or_else(|| PathBuf::from("/"));
    let home = ways.place(&home).unwrap_or(home);
    let repository = cwd
        .ancestors()
        .take_while(|above| !home.starts_with(above))
        .find(|above| above.join(".git").exists());
    let set = env::var_os("TMPDIR").map(PathBuf::from);
    let set = set.filter(|temporary| temporary.is_absolute());
    let usual = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let mut temporary: Vec<PathBuf> = Vec::new();
    for directory in set.into_iter().chain(usual) {
        match ways.place(&directory) {
            // Whoever sets it to something that holds everything does not mean this.
            Some(real) if !home.starts_with(&real) && !temporary.contains(&real) => {
                temporary.push(real);
            }
            Some(_) | None => {}
        }
    }
    let runtime_dir = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    Ok(HostPaths {
        is_repository: repository.is_some_and(|root| root.join(".git").is_dir()),
        workspace: repository.unwrap_or(&cwd).to_owned(),
        home,
        temporary,
        ssh_agent: env::var_os("SSH_AUTH_SOCK")
            .map(PathBuf::from)
            .filter(|socket| socket.is_absolute()),
        runtime_dir: runtime_dir.filter(|directory| directory.is_absolute()),
        daemon_config: config_dir.to_owned(),
    })
}

/// Where something is, without a link in the path; else why nobody can tell.
fn real(ways: &mut Ways, path: &Path) -> io::Result<PathBuf> {
    ways.place(path).map_or_else(|| fs::canonicalize(path), Ok)
}

/// What the keeper is to hold a command to, and what it makes for that.
#[derive(Debug, Default)]
pub(super) struct Confined {
    pub(super) confinement: Confinement,
    /// Directories that are protected, and made where they are not there.
    pub(super) makeable: Vec<Needed>,
}

/// What the keeper is to hold a command to.
pub(super) fn confinement(
    profile: &Profile,
    cwd: &Path,
    config_dir: &Path,
) -> Result<Confined, TerminalError> {
    let limits = process_limits(&profile.limits);
    if profile.sandboxes.is_empty() {
        let confinement = Confinement {
            limits,
            sandbox: None,
        };
        let makeable = Vec::new();
        return Ok(Confined {
            confinement,
            makeable,
        });
    }
    let failed = |problem: String| TerminalError::Unconfinable {
        profiles: profile.names.join(", "),
        problem,
    };
    let mut ways = Ways::default();
    let places = places(&mut ways, cwd, config_dir);
    let places = places.map_err(|error| failed(format!("{}: {error}", cwd.display())))?;
    let walls = profile.sandbox_access(&places);
    let sandbox = walls.map(|walls| sandbox(&mut ways, &walls)).transpose();
    let (sandbox, makeable) = sandbox.map_err(failed)?.unzip();
    Ok(Confined {
        confinement: Confinement { limits, sandbox },
        makeable: makeable.unwrap_or_default(),
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

fn sandbox(ways: &mut Ways, walls: &SandboxAccess) -> Result<(Sandbox, Vec<Needed>), String> {
    let mut writable: Vec<PathBuf> = Vec::new();
    for path in &walls.writable {
        let real = real(ways, path);
        let real =
            real.map_err(|error| format!("the writable path {}: {error}", path.display()))?;
        writable.push(real);
    }
    writable.sort();
    writable.dedup();
    let mut protected: Vec<Guarded> = Vec::new();
    for (path, absent) in &walls.protected {
        for guarded in guarded(ways, path, *absent) {
            let is_writable = writable.iter().any(|above| guarded.path.starts_with(above));
            if is_writable && !protected.contains(&guarded) {
                protected.push(guarded);
            }
        }
    }
    let is_made = |guarded: &&Guarded| guarded.if_absent == IfAbsent::MakeDirectory;
    let makeable = protected.iter().filter(is_made).map(|guarded| Needed {
        path: guarded.path.clone(),
        is_there: guarded.is_there,
    });
    let makeable = makeable.collect();
    // What is not there cannot be hidden, and need not be shown.
    let mut there = |paths: &[PathBuf]| {
        let real = paths.iter().filter_map(|path| ways.place(path));
        real.collect::<BTreeSet<_>>()
    };
    let hidden = there(&walls.hidden);
    let visible = there(&walls.visible);
    let lengths = [writable.len(), protected.len(), hidden.len()];
    if lengths.into_iter().any(|length| length > MAX_SANDBOX_PATHS) {
        return Err(format!(
            "they name more than {MAX_SANDBOX_PATHS} paths together"
        ));
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
    Ok((sandbox, makeable))
}

/// A path that is protected.
#[derive(Debug, PartialEq, Eq)]
struct Guarded {
    path: PathBuf,
    if_absent: IfAbsent,
    is_there: bool,
}

/// What has to be held for a path to stay as it is: what it leads to, and each link on the way,
/// for whoever can replace one decides what the path means.
fn guarded(ways: &mut Ways, path: &Path, absent: MissingPath) -> Vec<Guarded> {
    let way = ways.follow(path);
    let held = |path, if_absent, is_there| Guarded {
        path,
        if_absent,
        is_there,
    };
    let links = way.links.into_iter();
    let mut guarded: Vec<_> = links
        .map(|link| held(link, IfAbsent::PinLink, true))
        .collect();
    match (way.end, absent) {
        // Said of one that is there, too: it may be gone when the command starts.
        (End::There(place, Kind::Directory), MissingPath::CreateDirectory) => {
            guarded.push(held(place, IfAbsent::MakeDirectory, true));
        }
        (End::There(place, _), _) => guarded.push(held(place, IfAbsent::Leave, true)),
        (End::Absent(place), MissingPath::CreateDirectory) => {
            guarded.push(held(place, IfAbsent::MakeDirectory, false));
        }
        (End::Absent(_), MissingPath::Ignore) | (End::Nowhere, _) => {}
    }
    guarded
}

/// What is told of a command's confinement before it runs; `None`: there is none.
pub(super) fn told(profile: &Profile) -> Option<Told> {
    let told = Told {
        profiles: profile.names.clone(),
        timeout_ms: profile.timeout.map(TimeSpan::ms),
        output_bytes: profile.output_bytes.map(ByteSize::get),
        scope: profile.limits.scope(),
        terminal_quota: profile.terminal_quota.map(ByteSize::get),
        cpu_time_ms: profile.limits.cpu_time.map(TimeSpan::ms),
        file_bytes: profile.limits.file_bytes.map(ByteSize::get),
        sandbox: profile
            .kinds()
            .into_iter()
            .map(|kind| kind.as_str().to_owned())
            .collect(),
        ..Told::default()
    };
    (told != Told::default()).then_some(told)
}

/// The same, once it runs.
pub(super) fn told_of(told: Option<Told>, enforced: &Enforced) -> Option<Told> {
    let missing = enforced.missing.iter().map(|missing| MissingWall {
        wall: missing.restriction.name().to_owned(),
        reason: io::Error::from_raw_os_error(missing.errno).to_string(),
    });
    let held = enforced
        .active
        .iter()
        .map(|restriction| restriction.name().to_owned());
    told.map(|told| Told {
        held: held.collect(),
        missing: missing.collect(),
        ..told
    })
}
