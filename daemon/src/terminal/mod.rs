//! One terminal's life: spool, input, exit, and who is told of it.
pub mod spool;
pub mod text;
