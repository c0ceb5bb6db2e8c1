//! The parts of attaching: the person's tty in raw mode, the keys that are not the program's, notices, and the
//! filter for output that keeps what a program may do to the tty.

mod control_function;
pub(crate) mod detach;
pub(crate) mod detach_keys;
pub(crate) mod key_line;
mod key_report;
pub(crate) mod notice;
mod notification;
pub(crate) mod tty;
pub(crate) mod tty_filter;
mod undo;
