//! The `terminal` set: smart-terminal-mcp's seventeen tools, same names, parameters, defaults and
//! result fields. Nine are listed; the other eight are called through `terminal_extra`, or by name.
//!
//! A file a family: `start`, `exec` (and `retry`, `diff` on top of it), `typed` (write, keys,
//! resize), `read`, `wait`, `watch`, `history`, `stop`, `list`, `run` (with `paged`, `piped`,
//! `parse` and `checks`), `write_file`. What they share: `fields` (schemas), `session` (which terminal), `text`
//! (output by lines), `files` (where files may be written).
//!
//! It promises what the original does not keep: a command's end is told by marks and never by its
//! echo, and what a limit leaves out is named by offsets.

mod checks;
mod diff;
mod escapes;
mod exec;
mod extra;
mod fields;
mod files;
mod history;
mod list;
mod paged;
mod parse;
mod piped;
mod read;
mod retry;
mod run;
mod session;
mod start;
mod stop;
mod text;
mod typed;
mod wait;
mod watch;
mod write_file;

use crate::tool::Tool;

/// The tools that are listed, in the order in which a model should meet them.
pub(crate) fn tools() -> Vec<Tool> {
    vec![
        start::tool(),
        exec::tool(),
        run::tool(),
        typed::write_tool(),
        read::tool(),
        wait::tool(),
        stop::tool(),
        list::tool(),
        extra::tool(),
    ]
}

/// The tools that are called by name without being listed.
pub(crate) fn unlisted() -> Vec<Tool> {
    vec![
        paged::tool(),
        history::tool(),
        typed::resize_tool(),
        typed::key_tool(),
        watch::tool(),
        retry::tool(),
        diff::tool(),
        write_file::tool(),
    ]
}
