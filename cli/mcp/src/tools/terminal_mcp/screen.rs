//! The screen as text: all of it (`snapshot`), or the rows that changed (`diff`).

use serde_json::json;
use termd_client::ClientError;
use termd_proto::screen::{ReadScreen, Screen, ScreenFormat, ScreenResult};
use termd_proto::{TerminalId, TerminalRef};

use crate::backend::Backend;
use crate::shared::Shared;
use crate::tool::{Facts, ScreenRows, add, changed_lines};

/// `session.screen`.
pub(super) async fn read(
    backend: &Backend,
    request: &ReadScreen,
) -> Result<ScreenResult, ClientError> {
    backend.pool().repeat(request).await
}

/// Adds the whole screen to a result, and some scrollback above it.
pub(super) async fn snapshot(
    shared: &Shared,
    id: &TerminalId,
    scrollback: Option<u32>,
    strip: bool,
    facts: &mut Facts,
) -> Result<(), ClientError> {
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
    Ok(())
}

/// Adds the rows that changed since this client's last diff to a result.
pub(super) async fn diff(
    shared: &Shared,
    id: &TerminalId,
    facts: &mut Facts,
) -> Result<(), ClientError> {
    let seen = ScreenRows::see(shared, id).await?;
    // The rows stand in `changed_lines` alone: a model pays for each place.
    describe(facts, "", &seen.screen, "diff");
    add(
        facts,
        json!({ "changed_lines": changed_lines(seen.changed()), "is_first_read": seen.is_first() }),
    );
    Ok(())
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
