//! ACP v1's `terminal/*`: the protocol's words on one side, the services on the other.

use std::sync::Arc;

use serde_json::{Value, json};
use termd_proto::TerminalId;
use termd_proto::acp::{
    CreateMeta, CreateTerminalRequest, CreateTerminalResponse, EmptyResponse, KillTerminalRequest,
    LenientMeta, Meta, OutputForm, OutputRange, ReleaseTerminalRequest, TerminalExitStatus,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
};
use termd_proto::terminal::{CreateTerminal, Encoding, ExitStatus, Front};

use super::creation;
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::rpc::params;
use crate::service::{ConnectionBinding, Creator, Ender, OutputSecrets, Registry};
use crate::terminal::lifecycle::progress::{Exit, Progress};
use crate::terminal::output::transcript::TranscriptError;
use crate::terminal::read::raw_tail::{Tail, raw_tail};
use crate::terminal::read::text::Completeness;
use crate::terminal::read::unfiltered::Unfiltered;
use crate::terminal::{Terminal, TerminalError};

/// Longest ACP `sessionId`, in bytes: it stands in every record.
const MAX_SESSION_ID_BYTES: usize = 1_024;
/// Our key in `_meta`.
const META_KEY: &str = "termd";

/// Serves ACP's terminals.
#[derive(Debug)]
pub struct AcpHandler {
    pub(crate) registry: Arc<Registry>,
    pub(crate) output_secrets: OutputSecrets,
    pub(crate) creator: Arc<Creator>,
    pub(crate) ender: Arc<Ender>,
    pub(crate) binding: ConnectionBinding,
}

impl AcpHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::create);
        api.method(&handler, Self::output);
        api.method(&handler, Self::wait_for_exit);
        api.method(&handler, Self::kill);
        api.method(&handler, Self::release);
    }

    /// The terminal, if it is this session's of this agent, and not released.
    fn terminal(
        &self,
        context: &ConnectionContext,
        session: &str,
        id: &str,
    ) -> Result<Arc<Terminal>, RpcError> {
        let caller = context.acp_owner(session);
        id.parse::<TerminalId>()
            .ok()
            .and_then(|id| self.registry.open(&id))
            .filter(|terminal| {
                let owner = &terminal.record.owner;
                // A session's name is what its client says, and no proof.
                let is_sessions =
                    owner.front == Front::Acp && owner.session.as_deref() == Some(session);
                is_sessions && terminal.is_opened_by(&caller)
            })
            .ok_or_else(|| RpcError::terminal_not_found(id))
    }
}

impl AcpHandler {
    async fn create(
        self: Arc<Self>,
        params: CreateTerminalRequest,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<CreateTerminalResponse> {
        let CreateTerminalRequest {
            session_id,
            command,
            args,
            env,
            cwd,
            output_byte_limit,
            meta,
        } = params;
        if session_id.is_empty() || session_id.len() > MAX_SESSION_ID_BYTES {
            return Err(RpcError::invalid_params(
                "sessionId",
                "must be 1 to 1,024 bytes long",
            ));
        }
        let meta = given(meta);
        let ours = create_meta(meta.as_ref())?;
        let owner = context.acp_owner(&session_id);
        let options = CreateTerminal {
            command: Some(command),
            args: args.unwrap_or_default(),
            env: env
                .unwrap_or_default()
                .into_iter()
                .map(|variable| (variable.name, variable.value))
                .collect(),
            cwd,
            cols: ours.cols,
            rows: ours.rows,
            output_byte_limit,
            close_on_disconnect: ours.close_on_disconnect.unwrap_or_default(),
            confirmed: ours.confirmed.unwrap_or_default(),
            tags: ours.tags.unwrap_or_default(),
            meta: meta.clone(),
            ..CreateTerminal::default()
        };
        let terminal =
            creation::create(&self.creator, &self.binding, options, owner, context, None).await?;
        Ok(CreateTerminalResponse {
            terminal_id: terminal.id().to_string(),
            meta,
        })
    }

    async fn output(
        self: Arc<Self>,
        params: TerminalOutputRequest,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<TerminalOutputResponse> {
        let TerminalOutputRequest {
            session_id,
            terminal_id,
            meta,
        } = params;
        let terminal = self.terminal(&context, &session_id, &terminal_id)?;
        terminal.touch();
        let limit = terminal.record.output_byte_limit;
        let _turn = context.turn(limit.min(terminal.end().0)).await;
        let progress = terminal.progress();
        let tail = tail(&terminal, &progress, limit)
            .await
            .map_err(TerminalError::from)?;
        let encoding = match output_form(&terminal) {
            OutputForm::Raw => Encoding::Raw,
            OutputForm::Plain => Encoding::Text,
        };
        let secrets = &self.output_secrets;
        let hidden = secrets.hide_in_tail(Front::Acp, &terminal, (tail, encoding));
        let tail = hidden.await.map_err(TerminalError::from)?;
        let range = OutputRange {
            start: tail.start,
            end: tail.end,
        };
        let mut meta = given(meta).unwrap_or_default();
        let mut ours = json!(range);
        if let Some(cause) = progress.end_cause {
            ours["end_cause"] = json!(cause);
        }
        meta.insert(META_KEY.to_owned(), ours);
        Ok(TerminalOutputResponse {
            output: tail.text,
            truncated: tail.truncated,
            exit_status: progress.exit.as_ref().map(acp_status),
            meta: Some(meta),
        })
    }

    async fn wait_for_exit(
        self: Arc<Self>,
        params: WaitForTerminalExitRequest,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<WaitForTerminalExitResponse> {
        let WaitForTerminalExitRequest {
            session_id,
            terminal_id,
            meta,
        } = params;
        let terminal = self.terminal(&context, &session_id, &terminal_id)?;
        let exit = terminal.wait_for_exit().await?;
        let mut meta = given(meta);
        if let Some(cause) = terminal.progress().end_cause {
            let ours = json!({ "end_cause": cause });
            meta.get_or_insert_default()
                .insert(META_KEY.to_owned(), ours);
        }
        Ok(WaitForTerminalExitResponse {
            status: acp_status(&exit),
            meta,
        })
    }

    async fn kill(
        self: Arc<Self>,
        params: KillTerminalRequest,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<EmptyResponse> {
        let KillTerminalRequest {
            session_id,
            terminal_id,
            meta,
        } = params;
        let terminal = self.terminal(&context, &session_id, &terminal_id)?;
        let actor = context.acp_owner(&session_id);
        let ender = Arc::clone(&self.ender);
        let killed = tokio::spawn(async move { ender.kill(&terminal, &actor).await });
        killed.await.map_err(|_| TerminalError::Stopping)??;
        Ok(EmptyResponse { meta: given(meta) })
    }

    async fn release(
        self: Arc<Self>,
        params: ReleaseTerminalRequest,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<EmptyResponse> {
        let ReleaseTerminalRequest {
            session_id,
            terminal_id,
            meta,
        } = params;
        let terminal = self.terminal(&context, &session_id, &terminal_id)?;
        let actor = context.acp_owner(&session_id);
        let ender = Arc::clone(&self.ender);
        let released = tokio::spawn(async move { ender.release(&terminal, &actor).await });
        released.await.map_err(|_| TerminalError::Stopping)??;
        Ok(EmptyResponse { meta: given(meta) })
    }
}

fn given(meta: Option<LenientMeta>) -> Option<Meta> {
    meta.and_then(|meta| meta.0)
}

/// `_meta.termd` of a create. A value that is no object counts as absent.
fn create_meta(meta: Option<&Meta>) -> Result<CreateMeta, RpcError> {
    match meta.and_then(|meta| meta.get(META_KEY)) {
        Some(ours @ Value::Object(_)) => params::read_member(&format!("_meta.{META_KEY}"), ours),
        _ => Ok(CreateMeta::default()),
    }
}

/// The form of output that the terminal was created for.
fn output_form(terminal: &Terminal) -> OutputForm {
    // The create refused a meta that cannot be read.
    let ours = create_meta(terminal.record.meta.as_ref()).unwrap_or_default();
    ours.output.unwrap_or_default()
}

/// The end of the output, in the form that the terminal was created for.
async fn tail(
    terminal: &Terminal,
    progress: &Progress,
    limit: u64,
) -> Result<Unfiltered<Tail>, TranscriptError> {
    let (transcript, end) = (&terminal.transcript, progress.end);
    let completeness = Completeness::after_exit(progress.exit.is_some());
    match output_form(terminal) {
        OutputForm::Raw => raw_tail(transcript, end, limit, completeness).await,
        OutputForm::Plain => {
            let (size, plain) = (progress.size.into(), &terminal.plain);
            plain.tail(transcript, end, limit, size, completeness).await
        }
    }
}

fn acp_status(exit: &Exit) -> TerminalExitStatus {
    match &exit.status {
        Some(ExitStatus { exit_code, signal }) => TerminalExitStatus {
            exit_code: *exit_code,
            signal: signal.clone(),
        },
        None => TerminalExitStatus {
            exit_code: None,
            signal: None,
        },
    }
}
