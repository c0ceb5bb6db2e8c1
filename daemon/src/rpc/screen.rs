//! `session.screen`: what a person would see.

use std::time::{Duration, Instant};

use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::screen::{Screen, ScreenFormat, ScreenOptions, ScreenResult, ScreensServer};
use termd_proto::terminal::MAX_WAIT_MS;
use termd_proto::{Offset, TerminalRef};

use super::error::invalid_params;
use crate::service::Terminals;
use crate::terminal::screen::MAX_SCROLLBACK_LINES;
use crate::terminal::viewing::{ScreenWait, wait_for_screen};
use crate::terminal::{Terminal, TerminalError};
use termd_vt::{Model, render};

/// How long a wait for a screen is, unless asked otherwise: below the minute after which MCP
/// clients give a call up.
const DEFAULT_WAIT_MS: u64 = 30_000;

/// Serves `session.screen`.
#[derive(Debug)]
pub struct ScreenHandler {
    terminals: Terminals,
}

impl ScreenHandler {
    /// Over these terminals.
    pub fn new(terminals: Terminals) -> Self {
        Self { terminals }
    }
}

impl ScreenHandler {
    /// The picture and the screen of one moment: the output after its end goes on from it.
    async fn redraw(
        &self,
        terminal: &Terminal,
        options: &ScreenOptions,
    ) -> Result<(Screen, Option<String>), TerminalError> {
        let look = |model: &Model| {
            let mut screen = model.screen(options);
            let view = render::View {
                cols: options.view_cols.unwrap_or(screen.cols),
                rows: options.view_rows.unwrap_or(screen.rows),
            };
            if (view.cols, view.rows) == (screen.cols, screen.rows) {
                // The picture is followed by output: by the whole of a sequence that is cut here.
                screen.end = Offset(model.whole_until());
            }
            (screen, Some(model.redraw(view)))
        };
        self.terminals.look_at(terminal, look).await
    }
}

#[async_trait]
impl ScreensServer for ScreenHandler {
    async fn screen(
        &self,
        id: TerminalRef,
        format: Option<ScreenFormat>,
        since: Option<u64>,
        from_row: Option<i64>,
        to_row: Option<i64>,
        changed_after: Option<u64>,
        settle_ms: Option<u64>,
        timeout_ms: Option<u64>,
        view_cols: Option<u16>,
        view_rows: Option<u16>,
    ) -> RpcResult<ScreenResult> {
        let timeout_ms = timeout_ms.unwrap_or(DEFAULT_WAIT_MS);
        if timeout_ms > MAX_WAIT_MS {
            return Err(invalid_params(
                "timeout_ms",
                &format!("may be {MAX_WAIT_MS} at the most"),
            ));
        }
        if settle_ms.is_some_and(|settle_ms| settle_ms > timeout_ms) {
            return Err(invalid_params(
                "settle_ms",
                "may not be longer than `timeout_ms`",
            ));
        }
        if from_row.is_some_and(|row| row < -i64::from(MAX_SCROLLBACK_LINES)) {
            return Err(invalid_params(
                "from_row",
                &format!("may be -{MAX_SCROLLBACK_LINES} at the least"),
            ));
        }
        let terminal = self.terminals.find(&id).await?;
        let wait = ScreenWait {
            changed_after,
            settle: settle_ms.map(Duration::from_millis),
        };
        let until = Instant::now() + Duration::from_millis(timeout_ms);
        let settled = wait_for_screen(&terminal, wait, until).await;
        let format = format.unwrap_or_default();
        let options = ScreenOptions {
            format,
            since,
            from_row,
            to_row,
            changed_after,
            settle_ms,
            timeout_ms: Some(timeout_ms),
            view_cols,
            view_rows,
        };
        let (mut screen, rendering) = if format == ScreenFormat::Attach {
            self.redraw(&terminal, &options).await?
        } else {
            let screen = self.terminals.screen(&terminal, &options).await?;
            let rendering = render::render(&screen, format);
            (screen, rendering)
        };
        if rendering.is_some() {
            screen.lines.clear();
        }
        Ok(ScreenResult {
            screen,
            rendering,
            settled,
        })
    }
}
