//! `attention.*`: what agents and scripts say of themselves.

use std::sync::Arc;

use termd_proto::TerminalRef;
use termd_proto::attention::{AttentionReport, MAX_TEXT_BYTES, MAX_WHY_BYTES, ReportAttention};
use termd_proto::terminal::{Owner, TerminalState};

use crate::approval::Approvals;
use crate::clock::now_ms;
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::RpcResult;
use crate::service::{Asker, Catalog, Gate, TerminalUse, one_line};
use crate::terminal::lifecycle::attention_log::Said;
use crate::terminal::{Terminal, TerminalError};

/// Serves `attention.*`.
#[derive(Debug)]
pub struct AttentionHandler {
    pub(crate) approvals: Approvals,
    pub(crate) catalog: Catalog,
    pub(crate) gate: Arc<Gate>,
}

impl AttentionHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        api.method(&Arc::new(self), Self::report);
    }

    async fn report(
        self: Arc<Self>,
        params: ReportAttention,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let ReportAttention {
            state,
            text,
            terminal,
        } = params;
        let of = context.native_owner();
        let about = match &terminal {
            Some(reference) => Some(self.named(reference, &of, context.asks()).await?),
            None => match &of.terminal {
                Some(id) => self.catalog.find(&TerminalRef::from(id)).await.ok(),
                None => None,
            }
            .filter(|own| own.state() == TerminalState::Running),
        };
        let text = one_line(&text.unwrap_or_default(), MAX_TEXT_BYTES);
        let at_ms = now_ms();
        if let Some(about) = &about {
            let text = one_line(&text, MAX_WHY_BYTES);
            about.attention.say(Said { state, text, at_ms });
        }
        self.approvals.attend(AttentionReport {
            number: 0,
            state,
            text,
            of,
            terminal: about.map(|about| about.id().clone()),
            at_ms,
        });
        Ok(())
    }

    /// The terminal that a caller names. An agent speaks for those that it may use.
    async fn named(
        &self,
        reference: &TerminalRef,
        caller: &Owner,
        asks: bool,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let terminal = self.catalog.find_for(reference, caller).await?;
        let is_own = caller.terminal.as_ref() == Some(terminal.id());
        if !is_own {
            let asker = Asker {
                owner: caller,
                confirmed: false,
                asks,
            };
            let usage = TerminalUse::Control;
            self.gate.check_use(&terminal, usage, asker).await?;
        }
        if terminal.state() != TerminalState::Running {
            return Err(TerminalError::Invalid {
                field: "terminal",
                problem: "is that of a command that has ended, and wants nothing".to_owned(),
            });
        }
        Ok(terminal)
    }
}
