//! Files that a text writes and then runs: `cat > x.sh <<E …`, `bash x.sh`.
//!
//! **Promise:** a file is run as everything that the text may have given it. What of it is not known is named as
//! unread.

mod file_name;
mod learn;
mod links;
mod mentions;
mod obeyed;
mod package_json;
mod recipes;
mod run;
mod version;
mod written_files;

pub(super) use written_files::WrittenFiles;
