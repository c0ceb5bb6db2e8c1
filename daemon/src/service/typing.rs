//! `session.type`: what a caller wants typed, on its way to the terminal's task.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::interact::TypedInput;
use termd_proto::terminal::{Owner, SendResult};

use super::Terminals;
use crate::clock::now_ms;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::input_audit::AuditedInput;
use crate::terminal::input::send::{queue_input, wait_until_taken};
use crate::terminal::input::typing::{Lines, Typing, TypingModes, echo_of};
use crate::terminal::input::{Care, LineCare, Secrecy};
use termd_policy::CompiledGate;

/// Who types.
#[derive(Debug, Clone, Copy)]
pub struct Typist<'a> {
    /// As records name them.
    pub actor: &'a Owner,
    /// The connection, unique in this server process.
    pub connection: u64,
    /// How they want the gate to be.
    pub gate: &'a CompiledGate,
    /// Somebody has agreed to what is typed.
    pub confirmed: bool,
}

impl Terminals {
    /// Types as a person does; waits until the terminal has taken it, `longest` at the longest.
    ///
    /// A secret goes only where one is awaited, unless forced; it is not remembered. Where it is
    /// forced upon a tty that reads lines and shows them, the tty is kept from showing it; a line
    /// editor shows what it likes, and what it shows is output.
    pub async fn type_input(
        &self,
        terminal: &Arc<Terminal>,
        input: &TypedInput,
        typist: &Typist<'_>,
        longest: Duration,
    ) -> Result<SendResult, TerminalError> {
        let typing = Typing::of(input)?;
        // A tty that cannot say how it reads has nobody left who reads.
        let tty = terminal
            .line_discipline()
            .await
            .ok_or_else(|| terminal.takes_no_input())?;
        if input.secret && !input.force && !tty.awaits_secret() {
            return Err(TerminalError::NoSecretAwaited(terminal.id().clone()));
        }
        let look = |model: &_| TypingModes::of(model, tty);
        let modes = self.look_at(terminal, look).await?;
        let bytes = typing.bytes(&modes)?;
        let secrecy = match (input.secret, input.force) {
            (false, _) => Secrecy::Shown(echo_of(&bytes)),
            (true, false) => Secrecy::Awaited,
            (true, true) => Secrecy::Forced,
        };
        let lines = if input.force {
            LineCare::Any
        } else {
            LineCare::Whole(Lines::of(&bytes))
        };
        let care = Care { lines, secrecy };
        self.type_bytes(terminal, bytes, care, typist, longest)
            .await
    }

    /// Sends bytes as they are; waits until the terminal has taken them, `longest` at the longest.
    pub async fn send(
        &self,
        terminal: &Arc<Terminal>,
        bytes: Vec<u8>,
        typist: &Typist<'_>,
        longest: Duration,
    ) -> Result<SendResult, TerminalError> {
        let care = Care {
            lines: LineCare::Any,
            secrecy: Secrecy::Shown(echo_of(&bytes)),
        };
        self.type_bytes(terminal, bytes, care, typist, longest)
            .await
    }

    /// The one way to a terminal's task: judged and recorded before any of it goes out, one caller
    /// after the other, so that what came first is typed first.
    async fn type_bytes(
        &self,
        terminal: &Arc<Terminal>,
        bytes: Vec<u8>,
        care: Care,
        typist: &Typist<'_>,
        longest: Duration,
    ) -> Result<SendResult, TerminalError> {
        let mut typed = terminal.typed_lines.lock().await;
        let next = self.judge_typing(terminal, typist, &typed, &bytes, &care.secrecy);
        let next = next.await?;
        self.audit_input(terminal, typist.actor, typist.connection)
            .await?;
        self.is_recorded(terminal).await?;
        let copy = bytes.clone();
        let secret = matches!(care.secrecy, Secrecy::Awaited | Secrecy::Forced);
        let queued = queue_input(terminal, bytes, care).await?;
        let piece = AuditedInput {
            bytes: copy,
            taken: Arc::clone(&queued.taken),
            facts: Arc::clone(&queued.facts),
            secret,
            at_ms: now_ms(),
        };
        self.count_typed(terminal, typist.actor, typist.connection, piece);
        let before = std::mem::replace(&mut *typed, next.clone());
        drop(typed);
        let taken = wait_until_taken(terminal, queued, longest).await;
        if matches!(
            taken,
            Err(TerminalError::CanonicalLimit { .. } | TerminalError::NoSecretAwaited(_))
        ) {
            // Nothing was typed.
            let mut typed = terminal.typed_lines.lock().await;
            if *typed == next {
                *typed = before;
            }
        }
        taken
    }
}
