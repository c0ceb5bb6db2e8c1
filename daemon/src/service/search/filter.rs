//! Which terminals and lines a search leaves out, whatever they say. Pure.

use std::path::Path;

use termd_proto::command::CommandInfo;
use termd_proto::search::SearchFilter;

use crate::store::TerminalRow;

/// Whether a line that matches may be none that is wanted.
pub(super) fn is_restricted(filter: &SearchFilter) -> bool {
    filter.failed.is_some()
        || filter.cwd.is_some()
        || filter.since_ms.is_some()
        || filter.until_ms.is_some()
}

/// Whether a terminal can have a line that is wanted.
pub(super) fn may_have_hits(filter: &SearchFilter, row: &TerminalRow) -> bool {
    let ended = row.exited_at_ms.or(row.closed_at_ms);
    let is_before = matches!((filter.since_ms, ended), (Some(since), Some(end)) if end < since);
    let is_after = (filter.until_ms).is_some_and(|until| row.created_at_ms >= until);
    let is_other = filter.label.is_some() && row.label != filter.label;
    let has_tag = filter.tags.is_empty() || row.tags.meet(&filter.tags);
    !is_before && !is_after && !is_other && has_tag
}

/// Whether what came at this time is wanted.
pub(super) fn is_within(filter: &SearchFilter, at_ms: i64) -> bool {
    filter.since_ms.is_none_or(|since| at_ms >= since)
        && filter.until_ms.is_none_or(|until| at_ms < until)
}

/// Whether output of this command is wanted; `None`: no command is known that it is of.
pub(super) fn fits(filter: &SearchFilter, command: Option<&CommandInfo>) -> bool {
    let cwd = command.and_then(|command| command.cwd.as_deref());
    let failed = command.and_then(has_failed);
    is_below(cwd, filter.cwd.as_deref())
        && filter.failed.is_none_or(|wanted| failed == Some(wanted))
}

/// Whether a command failed; `None` while it runs, or where that is not known.
fn has_failed(command: &CommandInfo) -> Option<bool> {
    match (&command.signal, command.exit_code) {
        (Some(_), _) => Some(true),
        (None, code) => code.map(|code| code != 0),
    }
}

/// Whether a directory is the wanted one, or below it.
pub(super) fn is_below(directory: Option<&str>, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted else { return true };
    directory.is_some_and(|directory| Path::new(directory).starts_with(wanted))
}
