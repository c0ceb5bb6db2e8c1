//! What termctl says of output that is not kept, where an answer would look whole without it.

use termd_client::{Link, gap_note};
use termd_proto::screen::Screen;
use termd_proto::terminal::{Gap, GapCause, ListScope, TerminalInfo};
use termd_proto::{Label, Offset, Tags, TerminalRef};

use super::list::list;
use super::show::show;
use crate::error::CliError;
use crate::output;

/// Says that all output of a terminal was deleted.
pub(super) fn note_if_deleted(info: &TerminalInfo) {
    let deleted = |gap: &&Gap| gap.cause == GapCause::Deleted;
    if let Some(gap) = info.gaps.iter().find(deleted) {
        output::note(&gap_note(*gap));
    }
}

/// Says which output before the end of a screen is not kept, if that end is in a gap: the screen is that of
/// before it.
pub(super) fn note_at(info: &TerminalInfo, wanted: Option<Offset>, screen: &Screen) {
    let is_at = |gap: &&Gap| match wanted {
        Some(at) => gap.start < at && at <= gap.end,
        // A time leads to the output before or behind the gap.
        None => gap.start <= screen.end && screen.end < gap.end,
    };
    if let Some(gap) = info.gaps.iter().find(is_at) {
        output::note(&gap_note(*gap));
    }
}

/// Says of an empty screen that its terminal's output was deleted.
pub(super) async fn note_empty(
    link: &Link,
    id: &TerminalRef,
    screen: &Screen,
) -> Result<(), CliError> {
    if screen.lines.iter().all(|line| line.runs.is_empty()) {
        note_if_deleted(&show(link, id).await?);
    }
    Ok(())
}

/// Says which output of a terminal is not kept.
pub(super) fn note_all(info: &TerminalInfo) {
    for gap in &info.gaps {
        output::note(&format!("{}: {}", info.id, gap_note(*gap)));
    }
}

/// The terminals with this label, closed ones too. None is an error: the label was mistyped.
pub(super) async fn labelled(link: &Link, label: &Label) -> Result<Vec<TerminalInfo>, CliError> {
    let mut found = list(link, ListScope::All, &Tags::default()).await?;
    found.retain(|info| info.label.as_ref() == Some(label));
    if found.is_empty() {
        return Err(CliError::NoneLabelled(label.clone()));
    }
    Ok(found)
}
