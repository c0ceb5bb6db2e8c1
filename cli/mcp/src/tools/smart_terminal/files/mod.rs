//! Files that the tools write.

pub(super) mod place;
pub(super) mod write_file;
