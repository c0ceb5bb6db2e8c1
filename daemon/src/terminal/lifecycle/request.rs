//! What others ask of a terminal's task.

use tokio::sync::oneshot;

use crate::terminal::input::Input;
use crate::terminal::input::tty::LineDiscipline;
use crate::terminal::screen::size::Size;

/// Requests that wait for a terminal's task; further senders wait for a place.
pub const REQUEST_QUEUE: usize = 64;

/// One request. An answer that cannot be given is dropped.
#[derive(Debug)]
pub enum Request {
    /// Types a piece of input.
    Input(Input),
    /// Sets the size; answered when the size is set and queued for the database.
    Resize(Size, oneshot::Sender<()>),
    LineDiscipline(oneshot::Sender<LineDiscipline>),
    /// The character that ends input (VEOF).
    EndOfFileCharacter(oneshot::Sender<u8>),
    /// The inode of the pipe that the command reads.
    StdinInode(oneshot::Sender<u64>),
    /// Whether the program has printed something that the task has not read yet.
    HasOutput(oneshot::Sender<bool>),
    /// The tty's foreground process group.
    Foreground(oneshot::Sender<i32>),
}
