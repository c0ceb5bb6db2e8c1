//! Output on its way: from the PTY or the pipes into the spool, and from there to the screen and the
//! store; what of it is kept.

pub(crate) mod arrival_log;
pub(crate) mod async_fd;
pub(crate) mod backlog;
pub(crate) mod block_writer;
pub(crate) mod disk;
pub(crate) mod flood_turn;
pub mod flow;
pub(crate) mod pump;
pub mod quota;
mod screen_feeder;
pub mod shell_commands;
pub mod shell_log;
pub mod source;
pub mod spool;
pub mod spool_writer;
pub mod stream_map;
pub(crate) mod stream_pieces;
pub mod transcript;
pub(crate) mod write_pacing;
