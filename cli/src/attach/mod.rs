//! The parts of attaching: the person's tty in raw mode, the detach key, and the filter for queries
//! and the reset of modes of the attached program.

pub(crate) mod detach;
pub(crate) mod queries;
pub(crate) mod residue;
pub(crate) mod tty;
