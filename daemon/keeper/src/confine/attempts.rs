//! Applying one restriction after the other, by the enforcement that was requested.

use rustix::io::Errno;

use crate::protocol::confinement::{Enforcement, Restriction};
use crate::protocol::message::{SpawnFailure, SpawnStep};

/// What is done where a restriction cannot be applied.
#[derive(Clone, Copy)]
pub(super) struct Attempts<'a> {
    pub(super) enforcement: Enforcement,
    /// Reports a restriction that the command runs without.
    pub(super) report_missing: &'a dyn Fn(Restriction, Errno),
}

impl Attempts<'_> {
    /// The outcome of an attempt. By best effort a failed one is reported and gives `None`.
    pub(super) fn check<T>(
        self,
        restriction: Restriction,
        outcome: Result<T, Errno>,
    ) -> Result<Option<T>, SpawnFailure> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(errno) => self.missing(restriction, errno).map(|()| None),
        }
    }

    /// The same for mounts. A path that is gone, or leads elsewhere, was replaced meanwhile: the kernel can
    /// enforce the restriction, so it is refused by best effort, too.
    pub(super) fn check_mounts<T>(
        self,
        restriction: Restriction,
        outcome: Result<T, Errno>,
    ) -> Result<Option<T>, SpawnFailure> {
        match outcome {
            Err(errno @ (Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE)) => {
                Err(SpawnStep::Confine(restriction).failed(errno))
            }
            outcome => self.check(restriction, outcome),
        }
    }

    /// A restriction cannot be applied.
    pub(super) fn missing(
        self,
        restriction: Restriction,
        errno: Errno,
    ) -> Result<(), SpawnFailure> {
        match self.enforcement {
            Enforcement::Required => Err(SpawnStep::Confine(restriction).failed(errno)),
            Enforcement::BestEffort => {
                (self.report_missing)(restriction, errno);
                Ok(())
            }
        }
    }

    /// Reports restrictions that depend on one which failed, whatever the enforcement.
    pub(super) fn report_all(self, restrictions: &[Restriction], errno: Errno) {
        for &restriction in restrictions {
            (self.report_missing)(restriction, errno);
        }
    }
}
