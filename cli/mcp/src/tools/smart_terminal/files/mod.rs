//! Files that the tools use. The daemon reads and writes them, under the session's confinement.

pub(super) mod failed;
pub(super) mod write_file;
