//! The steps of starting a command, each with its number on the wire and its words.

use std::fmt;
use std::io;

use super::confinement::Wall;

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
    /// Waiting to be let go: nobody did (ETIMEDOUT), or it was given up (ECANCELED).
    Hold,
    /// Building a wall of its [`Confinement`](super::confinement::Confinement).
    Confine(Wall),
}

/// Every step but the walls, by its number on the wire.
pub(super) const STEPS: [SpawnStep; 8] = [
    SpawnStep::OpenPty,
    SpawnStep::Spool,
    SpawnStep::Pipe,
    SpawnStep::Fork,
    SpawnStep::Session,
    SpawnStep::Chdir,
    SpawnStep::Exec,
    SpawnStep::Hold,
];

/// Where the numbers of walls begin among those of steps; there is room for as many on both sides.
const FIRST_WALL_STEP: u8 = 64;

impl SpawnStep {
    /// The step's number, on the control socket and on a starting child's error pipe.
    pub fn number(self) -> u8 {
        match self {
            Self::OpenPty => 0,
            Self::Spool => 1,
            Self::Pipe => 2,
            Self::Fork => 3,
            Self::Session => 4,
            Self::Chdir => 5,
            Self::Exec => 6,
            Self::Hold => 7,
            Self::Confine(wall) => FIRST_WALL_STEP + wall.number(),
        }
    }

    /// The step of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        match number.checked_sub(FIRST_WALL_STEP) {
            None => STEPS.get(usize::from(number)).copied(),
            Some(wall) => Wall::from_number(wall).map(Self::Confine),
        }
    }
}

/// A command that could not be started: the step and its errno. Nothing is left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpawnFailure {
    /// Which step.
    pub step: SpawnStep,
    /// The errno it failed with.
    pub errno: i32,
}

impl fmt::Display for SpawnStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Confine(wall) => return write!(f, "confining the command ({wall})"),
            Self::OpenPty => "opening a pseudo-terminal",
            Self::Spool => "creating the spool",
            Self::Pipe => "creating a pipe",
            Self::Fork => "forking",
            Self::Session => "making a session on the terminal",
            Self::Chdir => "changing to the working directory",
            Self::Exec => "executing the program",
            Self::Hold => "waiting for the command's scope",
        })
    }
}

impl fmt::Display for SpawnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = io::Error::from_raw_os_error(self.errno);
        write!(f, "{}: {reason}", self.step)
    }
}
