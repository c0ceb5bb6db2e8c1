//! `file.*`: files, as a terminal's commands see them.
//!
//! What is done with a file is judged, confined and recorded like a command in the terminal. A path may
//! be relative: it is then seen from the directory of the terminal's foreground program.

use serde::{Deserialize, Serialize};

use crate::id::TerminalRef;

/// The longest path, in bytes (`PATH_MAX` of linux/limits.h, its NUL not counted).
pub const MAX_PATH_BYTES: usize = 4_095;

/// The most bytes that are written to a file at once. A transcript may be so long.
pub const MAX_CONTENT_BYTES: u64 = 64 << 20;

/// The most bytes of content in one call, before base64. The line of the call is shorter than 4 MiB then.
pub const MAX_DATA_BYTES: usize = 2 << 20;

/// How a file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// The file has the content, whole or not at all. A new file has the permissions that the umask
    /// leaves; an old one keeps its own.
    #[default]
    Replace,
    /// The content is added at the file's end.
    Append,
    /// As `replace`, and there may be no file yet.
    Create,
}

/// Params of `file.write`: writes a regular file. What is missing of its directory is made. Exactly one of `text`, `data`
/// and `transcript` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFile {
    /// The terminal whose confinement holds.
    pub id: TerminalRef,
    /// The file.
    pub path: String,
    /// The content as text.
    pub text: Option<String>,
    /// The content as base64.
    pub data: Option<String>,
    /// Whether the content is the terminal's output so far, as plain text.
    pub transcript: Option<bool>,
    /// Absent: `replace`.
    pub mode: Option<WriteMode>,
    /// Whether the path's last name may be a symbolic link, which is followed. Absent: yes.
    pub follow_link: Option<bool>,
    /// Whether somebody has agreed to it already; absent: no.
    pub confirmed: Option<bool>,
}

/// The answer to `file.write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// The file's path, without links.
    pub path: String,
    /// How much was written, in bytes.
    pub bytes: u64,
    /// The file's size, in bytes.
    pub size: u64,
    /// The SHA-256 of what was written, in hexadecimal digits.
    pub sha256: String,
}

/// Params of `file.search`: whether a file is there, and holds a match of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchFile {
    /// The terminal whose confinement holds.
    pub id: TerminalRef,
    /// The file.
    pub path: String,
    /// A regular expression in multi-line mode, for the first 16 MiB of a regular file. Absent: anything
    /// may be there, a directory too.
    pub pattern: Option<String>,
    /// Whether somebody has agreed to it already; absent: no.
    pub confirmed: Option<bool>,
}

/// The answer to `file.search`. A file that is absent is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    /// The file's path, without links.
    pub path: String,
    /// Whether the pattern matches.
    pub matched: bool,
}
