//! The encoding of a [`Confinement`] and of what is [`Enforced`]: pure, and total over any bytes.
//!
//! Both stand at the end of older messages. An older peer sends nothing there, which is the default.

use super::fields::{Malformed, Reader, Writer};
use crate::protocol::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, FileId, IfAbsent, MAX_SANDBOX_PATHS,
    MissingRestriction, ProcessLimits, Processes, ProtectedPath, RESTRICTIONS, Restriction,
    Sandbox, Temporary,
};

/// The bits of a sandbox's last byte. A keeper that does not know a bit takes the byte for damaged
/// and refuses the start, so no option is dropped in silence.
const BEST_EFFORT: u8 = 1;
const PRIVATE_TEMPORARY: u8 = 2;
const BUBBLEWRAP: u8 = 4;
const PRIVATE_PROCESSES: u8 = 8;
/// The ids of the writable paths follow.
const WRITABLE_IDS: u8 = 16;

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
                IfAbsent::PinLink => 3,
                IfAbsent::PinDirectory => 4,
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
                | bit(sandbox.builder == Builder::Bubblewrap, BUBBLEWRAP)
                | bit(sandbox.processes == Processes::Private, PRIVATE_PROCESSES)
                | bit(!sandbox.writable_ids.is_empty(), WRITABLE_IDS),
        );
        if !sandbox.writable_ids.is_empty() {
            self.length(sandbox.writable_ids.len());
            for id in &sandbox.writable_ids {
                self.u64(id.device);
                self.u64(id.inode);
            }
        }
    }

    pub(super) fn enforced(&mut self, enforced: &Enforced) {
        self.length(enforced.active.len());
        for restriction in &enforced.active {
            self.u8(restriction.number());
        }
        self.length(enforced.missing.len());
        for missing in &enforced.missing {
            self.u8(missing.restriction.number());
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
        let sandbox = if self.flag()? {
            Some(self.sandbox()?)
        } else {
            None
        };
        Ok(Confinement { limits, sandbox })
    }

    fn limit(&mut self) -> Result<Option<u64>, Malformed> {
        let (is_there, value) = (self.flag()?, self.u64()?);
        Ok(is_there.then_some(value))
    }

    fn sandbox(&mut self) -> Result<Sandbox, Malformed> {
        let (writable, protected) = (self.paths()?, self.protected()?);
        let (hidden, visible) = (self.paths()?, self.paths()?);
        let (network, daemon_socket) = (self.access()?, self.access()?);
        let last = self.u8()?;
        let known = BEST_EFFORT | PRIVATE_TEMPORARY | BUBBLEWRAP | PRIVATE_PROCESSES | WRITABLE_IDS;
        if last & !known != 0 {
            return Err(Malformed);
        }
        let writable_ids = match last & WRITABLE_IDS {
            0 => Vec::new(),
            _ => self.file_ids(writable.len())?,
        };
        Ok(Sandbox {
            writable,
            writable_ids,
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
            processes: if last & PRIVATE_PROCESSES == 0 {
                Processes::Shared
            } else {
                Processes::Private
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

    /// As many ids as there are paths.
    fn file_ids(&mut self, paths: usize) -> Result<Vec<FileId>, Malformed> {
        if self.length()? != paths {
            return Err(Malformed);
        }
        let id = |_| {
            Ok(FileId {
                device: self.u64()?,
                inode: self.u64()?,
            })
        };
        (0..paths).map(id).collect()
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
                    3 => IfAbsent::PinLink,
                    4 => IfAbsent::PinDirectory,
                    _ => return Err(Malformed),
                },
            });
        }
        Ok(protected)
    }

    fn access(&mut self) -> Result<Access, Malformed> {
        Ok(if self.flag()? {
            Access::Denied
        } else {
            Access::Allowed
        })
    }

    /// A byte that is 0 or 1; any other is malformed.
    pub(super) fn flag(&mut self) -> Result<bool, Malformed> {
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
        for _ in 0..self.restriction_count()? {
            enforced.active.push(self.restriction()?);
        }
        for _ in 0..self.restriction_count()? {
            enforced.missing.push(MissingRestriction {
                restriction: self.restriction()?,
                errno: self.i32()?,
            });
        }
        Ok(enforced)
    }

    /// How many restrictions follow. A newer keeper knows more of them, but reports none that this
    /// server did not request.
    fn restriction_count(&mut self) -> Result<usize, Malformed> {
        let count = self.length()?;
        if count > RESTRICTIONS.len() {
            return Err(Malformed);
        }
        Ok(count)
    }

    fn restriction(&mut self) -> Result<Restriction, Malformed> {
        Restriction::from_number(self.u8()?).ok_or(Malformed)
    }
}
