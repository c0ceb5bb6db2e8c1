//! The `terminal` set: smart-terminal-mcp's seventeen tools with the same names, parameters, defaults
//! and result fields. Nine are listed. The other eight are called through `terminal_extra`, or by name.
//!
//! A tool is a file. Several tools share `params` and `results` (schemas), `session` (the terminal of a
//! call), `text` (output by lines) and `files` (places for files); `run` and `paged` share `piped`.
//!
//! The set is stricter than the original in two things: marks tell a command's end, never its echo;
//! and output that a limit leaves out is named by offsets.

mod checks;
mod diff;
mod escapes;
mod exec;
mod extra;
mod files;
mod history;
mod line_history;
mod list;
mod paged;
mod params;
mod parse;
mod pattern;
mod piped;
mod read;
mod resize;
mod results;
mod retry;
mod run;
mod send_key;
mod session;
mod start;
mod stop;
mod text;
mod wait;
mod watch;
mod write;
mod write_file;

use crate::tool::Tool;
pub(crate) use extra::unlisted;
pub(crate) use results::error;

/// The tools that are listed, in the order in which a model should meet them.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        start::tool(),
        exec::tool(),
        run::tool(),
        write::tool(),
        read::tool(),
        wait::tool(),
        stop::tool(),
        list::tool(),
        extra::tool(),
    ]
}
