//! termd itself, as the gate has to know it.

/// The processes and files of the daemon that judges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Daemon {
    /// The keeper and the server.
    pub pids: Vec<i32>,
    /// Its program, and its directories, absolute. Those of a home without XDG variables are known.
    pub paths: Vec<String>,
}
