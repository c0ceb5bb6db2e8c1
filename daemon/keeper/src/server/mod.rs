//! The server's process: started, supervised, replaced. Terminals never depend on it.

mod command;
mod health;
mod link;
mod running;
mod supervisor;
mod trial;

pub(crate) use self::command::ServerCommand;
pub use self::command::{InheritedFds, inherited_fds};
pub(crate) use self::supervisor::{AfterExit, Supervisor};
pub(crate) use self::trial::Verdict;
