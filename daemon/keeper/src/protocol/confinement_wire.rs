//! The encoding of a [`Confinement`] and of what is [`Enforced`]: pure, and total over any bytes.
//!
//! Both stand at the end of older messages. Nothing there is an older peer's: the default.

use super::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, IfAbsent, MAX_SANDBOX_PATHS, MissingWall,
    ProcessLimits, ProtectedPath, Sandbox, Temporary, WALLS, Wall,
};
use super::fields::{Reader, Writer};
use super::wire::Malformed;

/// What the last byte of a sandbox says, a bit each. A keeper from before a bit takes the byte for
/// damaged and refuses the start: nothing is left out in silence.
const BEST_EFFORT: u8 = 1;
const PRIVATE_TEMPORARY: u8 = 2;
const BUBBLEWRAP: u8 = 4;

impl Writer {
    pub(super) fn confinement(&mut self, confinement: &Confinement) {
        let limits = confinement.limits;
        for limit in [
            limits.cpu_seconds,
            limits.address_space_bytes,
            limits.open_files,
            limits.processes,
            limits.file_bytes,
            limits.core_bytes,
        ] {
            self.u8(limit.is_some().into());
            self.u64(limit.unwrap_or_default());
        }
        self.u8(confinement.sandbox.is_some().into());
        if let Some(sandbox) = &confinement.sandbox {
            self.sandbox(sandbox);
        }
    }

    fn sandbox(&mut self, sandbox: &Sandbox) {
        self.list(&sandbox.writable);
        self.length(sandbox.protected.len());
        for protected in &sandbox.protected {
            self.bytes(&protected.path);
            self.u8(match protected.if_absent {
                IfAbsent::Leave => 0,
                IfAbsent::MakeDirectory => 1,
                IfAbsent::MakeFile => 2,
                IfAbsent::HoldLink => 3,
            });
        }
        self.list(&sandbox.hidden);
        self.list(&sandbox.visible);
        for access in [sandbox.network, sandbox.daemon_socket] {
            self.u8((access == Access::Denied).into());
        }
        let bit = |holds, bit| if holds { bit } else { 0 };
        self.u8(
            bit(sandbox.enforcement == Enforcement::BestEffort, BEST_EFFORT)
                | bit(sandbox.temporary == Temporary::Private, PRIVATE_TEMPORARY)
                | bit(sandbox.builder == Builder::Bubblewrap, BUBBLEWRAP),
        );
    }

    pub(super) fn enforced(&mut self, enforced: &Enforced) {
        self.length(enforced.held.len());
        for wall in &enforced.held {
            self.u8(wall.number());
        }
        self.length(enforced.missing.len());
        for missing in &enforced.missing {
            self.u8(missing.wall.number());
            self.i32(missing.errno);
        }
    }
}

impl Reader<'_> {
    pub(super) fn confinement(&mut self) -> Result<Confinement, Malformed> {
        if self.0.is_empty() {
            return Ok(Confinement::default());
        }
        let limits = ProcessLimits {
            cpu_seconds: self.limit()?,
            address_space_bytes: self.limit()?,
            open_files: self.limit()?,
            processes: self.limit()?,
            file_bytes: self.limit()?,
            core_bytes: self.limit()?,
        };
        let sandbox = if self.is_second()? {
            Some(self.sandbox()?)
        } else {
            None
        };
        Ok(Confinement { limits, sandbox })
    }

    fn limit(&mut self) -> Result<Option<u64>, Malformed> {
        let (is_there, value) = (self.is_second()?, self.u64()?);
        Ok(is_there.then_some(value))
    }

    fn sandbox(&mut self) -> Result<Sandbox, Malformed> {
        let (writable, protected) = (self.paths()?, self.protected()?);
        let (hidden, visible) = (self.paths()?, self.paths()?);
        let (network, daemon_socket) = (self.access()?, self.access()?);
        let last = self.u8()?;
        if last & !(BEST_EFFORT | PRIVATE_TEMPORARY | BUBBLEWRAP) != 0 {
            return Err(Malformed);
        }
        Ok(Sandbox {
            writable,
            protected,
            hidden,
            visible,
            network,
            daemon_socket,
            enforcement: if last & BEST_EFFORT == 0 {
                Enforcement::Required
            } else {
                Enforcement::BestEffort
            },
            temporary: if last & PRIVATE_TEMPORARY == 0 {
                Temporary::Shared
            } else {
                Temporary::Private
            },
            builder: if last & BUBBLEWRAP == 0 {
                Builder::Termd
            } else {
                Builder::Bubblewrap
            },
        })
    }

    fn paths(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        let paths = self.list()?;
        if paths.len() > MAX_SANDBOX_PATHS {
            return Err(Malformed);
        }
        Ok(paths)
    }

    fn protected(&mut self) -> Result<Vec<ProtectedPath>, Malformed> {
        let count = self.length()?;
        if count > MAX_SANDBOX_PATHS {
            return Err(Malformed);
        }
        let mut protected = Vec::new();
        for _ in 0..count {
            protected.push(ProtectedPath {
                path: self.bytes()?,
                if_absent: match self.u8()? {
                    0 => IfAbsent::Leave,
                    1 => IfAbsent::MakeDirectory,
                    2 => IfAbsent::MakeFile,
                    3 => IfAbsent::HoldLink,
                    _ => return Err(Malformed),
                },
            });
        }
        Ok(protected)
    }

    fn access(&mut self) -> Result<Access, Malformed> {
        Ok(if self.is_second()? {
            Access::Denied
        } else {
            Access::Allowed
        })
    }

    /// Which of two. Whatever else stands there is not taken for either.
    fn is_second(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(super) fn enforced(&mut self) -> Result<Enforced, Malformed> {
        let mut enforced = Enforced::default();
        if self.0.is_empty() {
            return Ok(enforced);
        }
        for _ in 0..self.walls()? {
            enforced.held.push(self.wall()?);
        }
        for _ in 0..self.walls()? {
            enforced.missing.push(MissingWall {
                wall: self.wall()?,
                errno: self.i32()?,
            });
        }
        Ok(enforced)
    }

    /// How many follow: never more than there are. A newer keeper has more, but builds no wall that
    /// this server did not ask for.
    fn walls(&mut self) -> Result<usize, Malformed> {
        let count = self.length()?;
        if count > WALLS.len() {
            return Err(Malformed);
        }
        Ok(count)
    }

    fn wall(&mut self) -> Result<Wall, Malformed> {
        Wall::from_number(self.u8()?).ok_or(Malformed)
    }
}
