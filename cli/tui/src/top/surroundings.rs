//! What the overview is told from outside: the time, whose keys it gets, and where it runs.

use std::time::Instant;

use termd_proto::TerminalId;

/// Now, by the clock that only goes forward, and by that of the wall.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// For what lasts.
    pub at: Instant,
    /// In milliseconds since the Unix epoch: for ages.
    pub ms: i64,
}

/// Whose keys the overview is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typist {
    /// Who has agreed to what they type.
    Person,
    /// Whose lines the gate asks about, and whose answers it does not take.
    Agent,
}

/// What the overview is told of where it runs.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The person's home, which is shown as `~`.
    pub home: Option<String>,
    /// The terminal that the overview itself runs in. It is not listed: its screen would show itself.
    pub own: Option<TerminalId>,
    /// The terminal that one comes from: it is in hand at first.
    pub here: Option<TerminalId>,
    /// The directory in which new terminals are started.
    pub cwd: Option<String>,
}
