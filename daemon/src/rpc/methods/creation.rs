//! Creating a terminal for a connection: the way that every front takes.

use std::sync::Arc;

use termd_proto::terminal::{CreateTerminal, Owner};

use crate::rpc::context::ConnectionContext;
use crate::service::{ConnectionBinding, CreateRequest, Creator, VacateLabel};
use crate::terminal::Terminal;
use crate::terminal::TerminalError;

/// Creates a terminal with the defaults and bounds that the connection has set, and binds it to the
/// connection where it is to end with it.
///
/// With `vacate`, the label is freed by that, once all is found that the command needs.
///
/// The work is a task of its own, which begins when the command's turn to be checked has come: a client
/// that disconnects half-way leaves a whole terminal, and one that disconnects before leaves none.
pub(super) async fn create(
    creator: &Arc<Creator>,
    binding: &ConnectionBinding,
    mut options: CreateTerminal,
    owner: Owner,
    context: Arc<ConnectionContext>,
    vacate: Option<VacateLabel>,
) -> Result<Arc<Terminal>, TerminalError> {
    // Those of this line, before another one is read.
    let fds = context.take_fds();
    let turn = context.check_turn().await;
    let introduction = context.introduction();
    let is_bound = options.close_on_disconnect;
    options.cwd = options.cwd.or_else(|| introduction.cwd.clone());
    let tags = options.tags.and(&introduction.tags);
    options.tags = tags.map_err(|error| TerminalError::Invalid {
        field: "tags",
        problem: format!("are too many with those of the connection: {error}"),
    })?;
    let request = CreateRequest {
        options,
        owner: owner.clone(),
        max_running: introduction.settings.max_running,
        gate: context.gate(),
        asks: context.asks(),
        agent_process: context.served_process(),
        fds: fds.into(),
        turn,
    };
    let (creator, binding) = (Arc::clone(creator), binding.clone());
    let created = tokio::spawn(async move {
        let terminal = Box::pin(creator.create(request, vacate)).await?;
        if is_bound {
            let ended = context.closed.clone().cancelled_owned();
            binding.bind_to_connection(&terminal, owner, ended);
        }
        Ok(terminal)
    });
    created.await.map_err(|_| TerminalError::Stopping)?
}
