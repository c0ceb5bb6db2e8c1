//! What attaching needs beside the wire: the person's tty in raw mode and back, the key that
//! detaches, and what must be filtered from, and undone after, somebody else's program.

pub(crate) mod detach;
pub(crate) mod queries;
pub(crate) mod residue;
pub(crate) mod tty;
