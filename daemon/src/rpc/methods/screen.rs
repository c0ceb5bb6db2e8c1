//! `session.screen`: what a person would see.

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::Offset;
use termd_proto::glance::{Glance, GlanceAtTerminals, MAX_GLANCE_BYTES, MAX_GLANCES};
use termd_proto::screen::{ReadScreen, Screen, ScreenFormat, ScreenResult};
use termd_proto::terminal::{Front, MAX_WAIT_MS};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::output_secrets::{only_row, text_of};
use crate::service::{Catalog, OutputSecrets, Screens, one_line};
use crate::terminal::screen::history::{Moment, PastScreen, past_of};
use crate::terminal::screen::scrollback::MAX_SCROLLBACK_LINES;
use crate::terminal::wait::screen_wait::{ScreenWait, wait_for_screen};
use crate::terminal::{Terminal, TerminalError};
use termd_vt::{Model, render};

/// How long a wait for a screen is, unless asked otherwise: below the minute after which MCP
/// clients give a call up.
const DEFAULT_WAIT_MS: u64 = 30_000;

/// Serves `session.screen`.
#[derive(Debug)]
pub struct ScreenHandler {
    pub(crate) catalog: Catalog,
    pub(crate) screens: Screens,
    pub(crate) output_secrets: OutputSecrets,
}

impl ScreenHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::screen);
        api.method(&handler, Self::glance);
    }
}

impl ScreenHandler {
    /// The picture and the screen of one moment: the output after its end goes on from it.
    async fn redraw(
        &self,
        terminal: &Terminal,
        params: &ReadScreen,
    ) -> Result<(Screen, String), TerminalError> {
        let look = |model: &Model| {
            let mut screen = model.screen(params.rows());
            let view = render::View {
                cols: params.view_cols.unwrap_or(screen.cols),
                rows: params.view_rows.unwrap_or(screen.rows),
            };
            if (view.cols, view.rows) == (screen.cols, screen.rows) {
                // The picture is followed by output: by the whole of a sequence that is cut here.
                screen.end = Offset(model.whole_until());
            }
            (screen, model.redraw(view))
        };
        self.screens.look_at(terminal, look).await
    }
}

/// The moment that is asked for, where that is not now.
fn moment(params: &ReadScreen) -> RpcResult<Option<Moment>> {
    let moment = match (params.at, params.at_ms) {
        (None, None) => return Ok(None),
        (Some(at), None) => Moment::Offset(at),
        (None, Some(at_ms)) => Moment::TimeMs(at_ms),
        (Some(_), Some(_)) => {
            let problem = "may not be given with `at`";
            return Err(RpcError::invalid_params("at_ms", problem));
        }
    };
    let is_of_now = [
        ("since", params.since.is_some()),
        ("changed_after", params.changed_after.is_some()),
        ("settle_ms", params.settle_ms.is_some()),
        ("format", params.format == Some(ScreenFormat::Attach)),
    ];
    match is_of_now.into_iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => {
            let problem = "is for the screen as it is now, without `at` or `at_ms`";
            Err(RpcError::invalid_params(field, problem))
        }
        None => Ok(Some(moment)),
    }
}

impl ScreenHandler {
    async fn screen_at(
        &self,
        terminal: &Terminal,
        moment: Moment,
        params: &ReadScreen,
        reader: Front,
    ) -> RpcResult<ScreenResult> {
        let kept = (self.catalog.info(terminal).await?.start, terminal.end());
        let mut past = past_of(terminal, kept, moment).await?;
        let secrets = &self.output_secrets;
        let between = secrets.place_between(reader, terminal, past.end);
        past.end = between.await.map_err(TerminalError::from)?;
        let look = |model: &Model| secrets.screen(reader, terminal, model, params.rows());
        let PastScreen { screen, gap } = self
            .screens
            .screen_at(terminal, past, params.rows(), look)
            .await?;
        Ok(ScreenResult {
            gap,
            ..result(screen, params.format.unwrap_or_default(), true)
        })
    }
}

fn result(mut screen: Screen, format: ScreenFormat, settled: bool) -> ScreenResult {
    let rendering = render::render(&screen, format);
    if rendering.is_some() {
        screen.lines.clear();
    }
    ScreenResult {
        screen,
        rendering,
        settled,
        gap: None,
    }
}

impl ScreenHandler {
    async fn screen(
        self: Arc<Self>,
        params: ReadScreen,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<ScreenResult> {
        let timeout_ms = params.timeout_ms.unwrap_or(DEFAULT_WAIT_MS);
        if timeout_ms > MAX_WAIT_MS {
            return Err(RpcError::invalid_params(
                "timeout_ms",
                &format!("may be {MAX_WAIT_MS} at the most"),
            ));
        }
        if params
            .settle_ms
            .is_some_and(|settle_ms| settle_ms > timeout_ms)
        {
            return Err(RpcError::invalid_params(
                "settle_ms",
                "may not be longer than `timeout_ms`",
            ));
        }
        if params
            .from_row
            .is_some_and(|row| row < -i64::from(MAX_SCROLLBACK_LINES))
        {
            return Err(RpcError::invalid_params(
                "from_row",
                &format!("may be -{MAX_SCROLLBACK_LINES} at the least"),
            ));
        }
        let format = params.format.unwrap_or_default();
        let secrets = &self.output_secrets;
        let reader = context.reader();
        if format == ScreenFormat::Attach && secrets.are_hidden_everywhere(reader) {
            let problem = "may not be `attach` for an agent where secrets are hidden";
            return Err(RpcError::invalid_params("format", problem));
        }
        let terminal = self.catalog.find(&params.id).await?;
        if let Some(moment) = moment(&params)? {
            return self.screen_at(&terminal, moment, &params, reader).await;
        }
        let wait = ScreenWait {
            changed_after: params.changed_after,
            settle: params.settle_ms.map(Duration::from_millis),
        };
        let until = Instant::now() + Duration::from_millis(timeout_ms);
        let settled = wait_for_screen(&terminal, wait, until).await;
        terminal.attention.read_through(reader);
        if format != ScreenFormat::Attach {
            let look = |model: &Model| secrets.screen(reader, &terminal, model, params.rows());
            let screen = self.screens.screen(&terminal, look).await?;
            return Ok(result(screen, format, settled));
        }
        let (mut screen, rendering) = self.redraw(&terminal, &params).await?;
        screen.lines.clear();
        Ok(ScreenResult {
            screen,
            rendering: Some(rendering),
            settled,
            gap: None,
        })
    }
}

impl ScreenHandler {
    async fn glance(
        self: Arc<Self>,
        params: GlanceAtTerminals,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<Vec<Glance>> {
        if params.ids.len() > MAX_GLANCES {
            let problem = format!("may be {MAX_GLANCES} at the most");
            return Err(RpcError::invalid_params("ids", &problem));
        }
        let mut glances = Vec::with_capacity(params.ids.len());
        for id in &params.ids {
            if let Ok(terminal) = self.catalog.find(id).await {
                glances.push(self.glance_at(&terminal, context.reader()));
            }
        }
        Ok(glances)
    }

    fn glance_at(&self, terminal: &Terminal, reader: Front) -> Glance {
        let look = |model: &Model| {
            let last_row = model.last_row_with_text();
            let last_line = last_row.map(|row| {
                let secrets = &self.output_secrets;
                let screen = secrets.screen(reader, terminal, model, only_row(row));
                one_line(text_of(&screen.lines).trim_end(), MAX_GLANCE_BYTES)
            });
            (last_line, model.cwd().map(str::to_owned), model.progress())
        };
        let (last_line, cwd, progress) = terminal.screen.look(look).unwrap_or_default();
        Glance {
            id: terminal.id().clone(),
            last_line,
            cwd,
            progress,
        }
    }
}
