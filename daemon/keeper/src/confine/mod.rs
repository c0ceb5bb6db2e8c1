//! Confinement of a child: limits, a view of the file system of its own, Landlock, seccomp.
//!
//! [`Plan::new`] checks a spec and makes everything that is needed, before the fork;
//! [`Plan::apply`] builds the walls in the child, with system calls alone. It promises that a
//! command runs with every wall that was asked for, or not at all, or (best effort) with a
//! [`MissingWall`] told for each that is not there. It must not know what a profile is.
//!
//! Namespaces and mounts can be built by somebody else, behind whom the child goes on ([`Built`]).
//!
//! The walls stand in this order, each one on those before: no new privileges, namespaces, mounts
//! (`mounts`, `devices`), no capabilities, Landlock (which forbids further mounts), limits, and last
//! the filter of system calls, which would refuse what the others need. Paths are opened in the
//! child and not before the fork: a file server that does not answer would stop the keeper.

mod bpf;
pub(super) mod bubblewrap;
mod built;
mod devices;
mod elsewhere;
mod kernel;
mod landlock;
mod limits;
mod mounts;
mod paths;
mod privileges;
mod seccomp;
pub(super) mod survey;
mod temporary;

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use nix::libc;
use rustix::process::Rlimit;

use self::limits::Limits;
use self::paths::Places;
use self::privileges::Identity;
use self::seccomp::Filter;
use self::survey::Survey;
use super::{KeeperOptions, KeeperStartError};
use crate::protocol::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, MissingWall, Sandbox, Temporary, WALLS,
    Wall,
};
use crate::protocol::message::{SpawnFailure, SpawnStep};

/// The daemon's directories, which no sandbox shows.
#[derive(Debug, Clone)]
pub(super) struct OwnPlaces {
    /// Where the socket is; without symbolic links.
    pub(super) socket_dir: PathBuf,
    /// Where the database is; without symbolic links.
    pub(super) state_dir: PathBuf,
}

impl OwnPlaces {
    /// Both are there when this is asked.
    pub(super) fn of(options: &KeeperOptions) -> Result<Self, KeeperStartError> {
        let whole = |path: &Path| {
            path.canonicalize().map_err(|source| KeeperStartError::Io {
                doing: "find",
                path: path.to_owned(),
                source,
            })
        };
        let socket = &options.socket_path;
        Ok(Self {
            socket_dir: whole(socket.parent().unwrap_or(socket))?,
            state_dir: whole(&options.state_dir)?,
        })
    }
}

/// The walls that are mounts.
const MOUNTED: [Wall; 5] = [
    Wall::Devices,
    Wall::ReadOnly,
    Wall::Protected,
    Wall::Hidden,
    Wall::Temporary,
];

/// Why a child stops before its exec.
pub(super) type Failure = (SpawnStep, i32);

/// Who has built what is mounted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Built<'a> {
    /// Nobody yet: this process does.
    Here,
    /// Somebody else, for these places as they were found.
    Elsewhere(&'a Survey),
    /// Nobody, and nobody will, for this reason.
    Nowhere(i32),
}

/// Everything that the child needs to be confined.
#[derive(Debug)]
pub(super) struct Plan {
    limits: Limits,
    walls: Option<Walls>,
    enforced: Enforced,
}

/// A sandbox, ready to be built.
#[derive(Debug)]
struct Walls {
    enforcement: Enforcement,
    network: Access,
    builder: Builder,
    places: Places,
    identity: Identity,
    /// For a child that nothing outside can be traced by, and for one that could trace others.
    filters: Option<&'static [Filter; 2]>,
}

impl Plan {
    /// Checks a spec. `tty` is the device number of the terminal's own tty.
    pub(super) fn new(
        confinement: &Confinement,
        own: &OwnPlaces,
        tty: Option<u32>,
    ) -> Result<Self, SpawnFailure> {
        let limits = Limits::new(&confinement.limits);
        let mut enforced = Enforced {
            held: limits.walls().collect(),
            missing: Vec::new(),
        };
        if enforced.held.contains(&Wall::Processes) && privileges::is_root() {
            miss(&mut enforced, Wall::Processes, libc::EPERM);
        }
        let walls = match &confinement.sandbox {
            None => None,
            Some(sandbox) => {
                enforced.held.extend(asked(sandbox));
                Some(Walls::new(sandbox, own, tty)?)
            }
        };
        Ok(Self {
            limits,
            walls,
            enforced,
        })
    }

    /// What it holds a command to, if everything goes well.
    pub(super) fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    /// Builds the walls and changes to the directory. In the child; 0 is what the command will
    /// have there. `open_files` is the limit that every child gets back.
    pub(super) fn apply(
        &mut self,
        built: Built<'_>,
        cwd: &CStr,
        open_files: Rlimit,
        missed: &dyn Fn(MissingWall),
    ) -> Result<(), Failure> {
        let chdir = || {
            rustix::process::chdir(cwd).map_err(|errno| (SpawnStep::Chdir, errno.raw_os_error()))
        };
        let Some(walls) = &mut self.walls else {
            limits::give_back(open_files);
            self.limits.set()?;
            return chdir();
        };
        match built {
            Built::Here => walls.build_mounts(missed)?,
            Built::Elsewhere(survey) => walls.look_at_mounts(survey, missed)?,
            Built::Nowhere(errno) => walls.do_without_mounts(errno, missed)?,
        }
        // Only now: a directory from before could be beneath a mount.
        chdir()?;
        walls.drop_rights(built, missed)?;
        limits::give_back(open_files);
        self.limits.set()?;
        walls.filter(missed)
    }
}

/// The walls that a sandbox asks for.
fn asked(sandbox: &Sandbox) -> impl Iterator<Item = Wall> {
    let denied = sandbox.network == Access::Denied;
    let protects = !sandbox.protected.is_empty();
    let own_temporary = sandbox.temporary == Temporary::Private;
    let is_built_by_it = sandbox.builder == Builder::Bubblewrap;
    WALLS.into_iter().filter(move |wall| match wall {
        Wall::CpuTime
        | Wall::AddressSpace
        | Wall::OpenFiles
        | Wall::Processes
        | Wall::FileSize
        | Wall::CoreSize => false,
        Wall::Tcp | Wall::Network => denied,
        Wall::Protected => protects,
        Wall::Temporary => own_temporary,
        Wall::Bubblewrap => is_built_by_it,
        Wall::NoNewPrivileges
        | Wall::Namespaces
        | Wall::Devices
        | Wall::ReadOnly
        | Wall::Hidden
        | Wall::Capabilities
        | Wall::Writes
        | Wall::Scopes
        | Wall::SystemCalls => true,
    })
}

/// Notes that a wall is not there. One that was not asked for is not missed.
pub(super) fn miss(enforced: &mut Enforced, wall: Wall, errno: i32) {
    let before = enforced.held.len();
    enforced.held.retain(|held| *held != wall);
    if enforced.held.len() < before {
        enforced.missing.push(MissingWall { wall, errno });
    }
}

impl Walls {
    fn new(sandbox: &Sandbox, own: &OwnPlaces, tty: Option<u32>) -> Result<Self, SpawnFailure> {
        let places = Places::new(sandbox, own, tty).map_err(|(wall, errno)| SpawnFailure {
            step: SpawnStep::Confine(wall),
            errno,
        })?;
        Ok(Self {
            enforcement: sandbox.enforcement,
            network: sandbox.network,
            builder: sandbox.builder,
            places,
            identity: Identity::current(),
            filters: Filter::each(sandbox.network),
        })
    }

    /// What an attempt gave, or nothing where it failed and that is no obstacle.
    fn attempt<T>(
        &self,
        wall: Wall,
        tried: Result<T, i32>,
        missed: &dyn Fn(MissingWall),
    ) -> Result<Option<T>, Failure> {
        match (tried, self.enforcement) {
            (Ok(done), _) => Ok(Some(done)),
            (Err(errno), Enforcement::Required) => Err((SpawnStep::Confine(wall), errno)),
            (Err(errno), Enforcement::BestEffort) => {
                missed(MissingWall { wall, errno });
                Ok(None)
            }
        }
    }

    /// What stands before the mounts, whoever builds those.
    fn stand_before_mounts(&mut self, missed: &dyn Fn(MissingWall)) -> Result<(), Failure> {
        // What is to be written to has to be there, whatever else the kernel can do.
        self.places
            .open_writable()
            .map_err(|errno| (SpawnStep::Confine(Wall::Writes), errno))?;
        self.attempt(Wall::NoNewPrivileges, privileges::no_new(), missed)?;
        Ok(())
    }

    fn build_mounts(&mut self, missed: &dyn Fn(MissingWall)) -> Result<(), Failure> {
        self.stand_before_mounts(missed)?;
        let own = self.identity.enter_namespaces();
        let errno = own.err();
        if self.attempt(Wall::Namespaces, own, missed)?.is_none() {
            let errno = errno.unwrap_or(libc::EPERM);
            for wall in MOUNTED {
                missed(MissingWall { wall, errno });
            }
            return Ok(());
        }
        self.identity.entered = true;
        // As they are before everything is read-only and without devices.
        let devices = devices::host_nodes(&self.places);
        let devices = self.attempt(Wall::Devices, devices, missed)?;
        let built = mounts::read_only_root(&mut self.places);
        self.attempt(Wall::ReadOnly, built, missed)?;
        let devices = match devices {
            Some(nodes) => self.attempt(Wall::Devices, devices::mount(&nodes), missed)?,
            None => None,
        };
        if self.places.temporary == Temporary::Private {
            let mounted = temporary::mount(&mut self.places);
            self.attempt(Wall::Temporary, mounted, missed)?;
        }
        let attached = mounts::attach_writable(&self.places);
        self.attempt(Wall::ReadOnly, attached, missed)?;
        let protected = mounts::protect(&mut self.places);
        self.attempt(Wall::Protected, protected, missed)?;
        let covered = match &devices {
            Some(devices) => mounts::cover(&mut self.places, devices.store()),
            // What covers is kept beside them.
            None => Err(libc::ENODEV),
        };
        self.attempt(Wall::Hidden, covered, missed)?;
        if let Some(devices) = devices {
            self.attempt(Wall::Devices, devices.finish(), missed)?;
            self.places.devices = paths::Devices::Own;
        }
        Ok(())
    }

    fn drop_rights(
        &mut self,
        built: Built<'_>,
        missed: &dyn Fn(MissingWall),
    ) -> Result<(), Failure> {
        let dropped = match built {
            Built::Elsewhere(_) => privileges::no_capabilities_left(),
            Built::Here | Built::Nowhere(_) => self.identity.drop_capabilities(),
        };
        self.attempt(Wall::Capabilities, dropped, missed)?;
        let abi = landlock::abi();
        let lacking = [
            (Wall::Writes, landlock::ABI_WRITES, true),
            (Wall::Tcp, landlock::ABI_TCP, self.network == Access::Denied),
            (Wall::Scopes, landlock::ABI_SCOPES, true),
        ];
        for (wall, least, is_asked) in lacking {
            if is_asked && abi < least {
                self.attempt(wall, Err::<(), _>(libc::ENOSYS), missed)?;
            }
        }
        if abi == 0 {
            return Ok(());
        }
        let restricted = landlock::restrict(&self.places, self.network, abi);
        let is_restricted = self.attempt(Wall::Writes, restricted, missed)?.is_some();
        if is_restricted {
            self.identity.entered = true;
        } else {
            for wall in [Wall::Tcp, Wall::Scopes] {
                missed(MissingWall {
                    wall,
                    errno: restricted.err().unwrap_or(libc::ENOSYS),
                });
            }
        }
        Ok(())
    }

    fn filter(&self, missed: &dyn Fn(MissingWall)) -> Result<(), Failure> {
        let installed = match &self.filters {
            None => Err(libc::ENOSYS),
            // A user namespace or a Landlock domain: either lets it trace its own alone.
            Some([within, _]) if self.identity.entered => {
                kernel::filter_system_calls(within.program())
            }
            Some([_, nobody]) => kernel::filter_system_calls(nobody.program()),
        };
        self.attempt(Wall::SystemCalls, installed, missed)?;
        if let (Err(errno), Access::Denied) = (installed, self.network) {
            missed(MissingWall {
                wall: Wall::Network,
                errno,
            });
        }
        Ok(())
    }
}
