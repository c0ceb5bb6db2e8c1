//! What termctl says of output that is not kept, where an answer would look whole without it.

use termd_client::{Link, gap_note};
use termd_proto::screen::{Screen, ScreenResult};
use termd_proto::terminal::{Gap, ListScope, TerminalInfo};
use termd_proto::{Label, Offset, Tags, TerminalRef};

use super::list::list;
use super::show::show;
use crate::error::CliError;
use crate::output;

/// The output before all that is kept, where there was some: all of it, if it was deleted.
pub(super) fn beginning(info: &TerminalInfo) -> Option<Gap> {
    let mut not_kept = info.not_kept().into_iter();
    not_kept.find(|gap| gap.start == Offset::ZERO)
}

/// Says which output before all that is kept is gone.
pub(super) fn note_beginning(info: &TerminalInfo) {
    if let Some(gap) = beginning(info) {
        output::note(&gap_note(gap));
    }
}

/// Says which output before the end of a screen of the past is not kept: the screen was made without it.
pub(super) fn note_before(info: &TerminalInfo, wanted: Option<Offset>, result: &ScreenResult) {
    // A time may lead to the output before the gap that it is in.
    let ends_before = |gap: &&Gap| wanted.is_none() && gap.start == result.screen.end;
    let gap = result.gap.as_ref();
    if let Some(gap) = gap.or_else(|| info.gaps.iter().find(ends_before)) {
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
        note_beginning(&show(link, id).await?);
    }
    Ok(())
}

/// Says which output of a terminal is not kept.
pub(super) fn note_all(info: &TerminalInfo) {
    for gap in info.not_kept() {
        output::note(&format!("{}: {}", info.id, gap_note(gap)));
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
