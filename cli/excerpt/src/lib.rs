//! What a model is shown of a part of a long output that is left out: the lines that look like errors.
//!
//! Pure: lines in, text out. The MCP server, the shell of agents and `termctl read` find the same.

mod error_lines;
mod severity;
mod short_line;

pub use self::error_lines::ErrorLines;
pub use self::severity::looks_like_error;
pub use self::short_line::short_line;
