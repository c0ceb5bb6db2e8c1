//! The steps of starting a command, each with its number on the wire and a phrase for people.

use std::fmt;
use std::io;

use rustix::io::Errno;

use super::confinement::Restriction;

/// Where starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnStep {
    /// openpty(3).
    OpenPty,
    /// `memfd_create(2)` for the spool.
    Spool,
    /// pipe(2), and opening `/dev/null` for a command on pipes.
    Pipe,
    /// fork(2).
    Fork,
    /// setsid(2), and TIOCSCTTY where there is a terminal.
    Session,
    /// chdir(2) to the working directory.
    Chdir,
    /// execve(2).
    Exec,
    /// Waiting at the exec gate: the command was not released (ETIMEDOUT), or it was cancelled
    /// (ECANCELED).
    ExecGate,
    /// Applying one restriction of its [`Confinement`](super::confinement::Confinement).
    Confine(Restriction),
}

/// Every step but [`SpawnStep::Confine`], by its number on the wire.
pub(super) const STEPS: [SpawnStep; 8] = [
    SpawnStep::OpenPty,
    SpawnStep::Spool,
    SpawnStep::Pipe,
    SpawnStep::Fork,
    SpawnStep::Session,
    SpawnStep::Chdir,
    SpawnStep::Exec,
    SpawnStep::ExecGate,
];

/// The step numbers of restrictions begin here; 64 are left below and 64 above.
const FIRST_CONFINE_STEP: u8 = 64;

impl SpawnStep {
    /// Its number on the control socket and on a starting child's error pipe; below 128.
    pub fn number(self) -> u8 {
        match self {
            Self::OpenPty => 0,
            Self::Spool => 1,
            Self::Pipe => 2,
            Self::Fork => 3,
            Self::Session => 4,
            Self::Chdir => 5,
            Self::Exec => 6,
            Self::ExecGate => 7,
            Self::Confine(restriction) => FIRST_CONFINE_STEP + restriction.number(),
        }
    }

    /// The step of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        match number.checked_sub(FIRST_CONFINE_STEP) {
            None => STEPS.get(usize::from(number)).copied(),
            Some(number) => Restriction::from_number(number).map(Self::Confine),
        }
    }
}

/// A command that could not be started. Nothing is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnFailure {
    /// The step that failed.
    pub step: SpawnStep,
    /// The errno of that step.
    pub errno: i32,
}

impl SpawnStep {
    /// This step with the errno that it failed with; for `map_err`.
    pub fn failed(self, errno: Errno) -> SpawnFailure {
        SpawnFailure {
            step: self,
            errno: errno.raw_os_error(),
        }
    }
}

impl fmt::Display for SpawnStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confine(restriction) => {
                return write!(f, "confining the command ({restriction})");
            }
            Self::OpenPty => "opening a pseudo-terminal",
            Self::Spool => "creating the spool",
            Self::Pipe => "creating a pipe",
            Self::Fork => "forking",
            Self::Session => "making a session on the terminal",
            Self::Chdir => "changing to the working directory",
            Self::Exec => "executing the program",
            Self::ExecGate => "waiting for the command's scope",
        })
    }
}

impl fmt::Display for SpawnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = io::Error::from_raw_os_error(self.errno);
        write!(f, "{}: {reason}", self.step)
    }
}
