//! The screen as text: all of it (`snapshot`), or the rows that changed (`diff`).

use serde_json::json;
use termd_client::ClientError;
use termd_proto::screen::{ReadScreen, Screen, ScreenFormat, ScreenResult, ScreenRow};
use termd_proto::{TerminalId, TerminalRef};

use crate::backend::Backend;
use crate::shared::Shared;
use crate::tool::{Facts, add};

/// `session.screen`.
pub(in crate::tools) async fn read(
    backend: &Backend,
    request: &ReadScreen,
) -> Result<ScreenResult, ClientError> {
    backend.pool().repeat(request).await
}

/// Adds the whole screen to a result, and some scrollback above it. Gives the screen's `seq`.
pub(in crate::tools) async fn snapshot(
    shared: &Shared,
    id: &TerminalId,
    scrollback: Option<u32>,
    strip: bool,
    facts: &mut Facts,
) -> Result<u64, ClientError> {
    let request = ReadScreen {
        format: Some(if strip {
            ScreenFormat::Text
        } else {
            ScreenFormat::Ansi
        }),
        from_row: scrollback.map(|rows| -i64::from(rows)),
        ..ReadScreen::of(TerminalRef::from(id))
    };
    let answer = read(&shared.backend, &request).await?;
    let text = answer.rendering.unwrap_or_default();
    let text = text.trim_end_matches('\n');
    describe(facts, text, &answer.screen, "snapshot");
    if scrollback.is_some() {
        add(facts, json!({ "total_lines": text.lines().count() }));
    }
    Ok(answer.screen.seq)
}

/// Adds the rows that changed since this client's last diff to a result.
pub(in crate::tools) async fn diff(
    shared: &Shared,
    id: &TerminalId,
    facts: &mut Facts,
) -> Result<(), ClientError> {
    let since = shared.cursors.of(id).screen_seq;
    let screen = changed_since(shared, id, since).await?;
    describe_changes(facts, &screen, since.is_none());
    Ok(())
}

/// Adds the rows that changed since this client last saw the screen to a result; all rows where it has
/// not seen it, or where most have changed.
pub(in crate::tools) async fn changes_or_all(
    shared: &Shared,
    id: &TerminalId,
    facts: &mut Facts,
) -> Result<(), ClientError> {
    if let Some(since) = shared.cursors.of(id).screen_seq {
        let screen = changed_since(shared, id, Some(since)).await?;
        if screen.lines.len() * 2 <= usize::from(screen.rows) {
            describe_changes(facts, &screen, false);
            return Ok(());
        }
    }
    let seq = snapshot(shared, id, None, true, facts).await?;
    shared.cursors.set_screen(id, seq);
    Ok(())
}

async fn changed_since(
    shared: &Shared,
    id: &TerminalId,
    since: Option<u64>,
) -> Result<Screen, ClientError> {
    let request = ReadScreen {
        since,
        ..ReadScreen::of(TerminalRef::from(id))
    };
    let screen = read(&shared.backend, &request).await?.screen;
    shared.cursors.set_screen(id, screen.seq);
    Ok(screen)
}

fn describe_changes(facts: &mut Facts, screen: &Screen, is_first: bool) {
    let mut rows: Vec<(i64, String)> = screen
        .lines
        .iter()
        .filter(|row| row.row >= 0)
        .map(|row| (row.row + 1, text_of(row)))
        .collect();
    if is_first {
        // The first diff leaves out the empty rows at the screen's end.
        while rows.last().is_some_and(|(_, text)| text.is_empty()) {
            rows.pop();
        }
    }
    // The rows stand in `changed_lines` alone: a model pays for each place.
    describe(facts, "", screen, "diff");
    let changed: Vec<_> = rows
        .iter()
        .map(|(line, content)| json!({ "line": line, "content": content }))
        .collect();
    add(
        facts,
        json!({ "changed_lines": changed, "is_first_read": is_first }),
    );
}

fn text_of(row: &ScreenRow) -> String {
    let text: String = row.runs.iter().map(|run| run.text.as_str()).collect();
    text.trim_end().to_owned()
}

fn describe(facts: &mut Facts, text: &str, screen: &Screen, mode: &str) {
    add(
        facts,
        json!({
            "output": text,
            "bytes_read": text.len(),
            "truncated": false,
            "tui_active": screen.full_screen,
            "mode_used": mode,
            "cursor": {
                "row": screen.cursor.row + 1,
                "column": screen.cursor.column + 1,
                "visible": screen.cursor.visible,
            },
        }),
    );
}
