//! The server's process: started, supervised, replaced. Terminals never depend on it.

mod command;
mod health;
mod link;
mod running;
mod supervisor;

pub(crate) use self::command::ServerCommand;
pub use self::command::{InheritedFds, inherited_fds};
pub(crate) use self::supervisor::{AfterExit, Supervisor};
