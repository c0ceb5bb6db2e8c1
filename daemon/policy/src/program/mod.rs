//! Programs.

pub(crate) mod kind;
pub(crate) mod options;
pub(crate) mod wrapper;

pub use kind::{Reader, SqlClient, is_shell, reader};
