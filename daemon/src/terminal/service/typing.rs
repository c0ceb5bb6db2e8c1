//! `session.type`: what a caller wants typed, on its way to the terminal's task.

use std::time::Duration;

use termd_proto::interact::TypedInput;
use termd_proto::terminal::{Owner, SendResult};

use super::super::error::TerminalError;
use super::super::handle::Terminal;
use super::super::input::{Care, LineCare, Secrecy};
use super::super::typing::{Lines, Typing, TypingModes, echo_of};
use super::Terminals;
use crate::policy::CompiledGate;

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
        terminal: &Terminal,
        input: &TypedInput,
        typist: &Typist<'_>,
        longest: Duration,
    ) -> Result<SendResult, TerminalError> {
        let typing = Typing::of(input)?;
        // A tty that cannot say how it reads has nobody left who reads.
        let tty = terminal
            .line_discipline()
            .await
            .ok_or_else(|| TerminalError::Exited(terminal.id().clone()))?;
        if input.secret && !input.force && !tty.awaits_secret() {
            return Err(TerminalError::NoSecretAwaited(terminal.id().clone()));
        }
        let look = |model: &_| TypingModes::of(model, tty);
        let modes = self.look_at(terminal, look).await?;
        let bytes = typing.bytes(&modes)?;
        self.before_typing(terminal, &bytes, input, typist).await?;
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
        terminal.type_bytes(bytes, care, longest).await
    }

    /// The one place where what is to be typed is judged and recorded, before any of it goes out.
    async fn before_typing(
        &self,
        terminal: &Terminal,
        bytes: &[u8],
        input: &TypedInput,
        typist: &Typist<'_>,
    ) -> Result<(), TerminalError> {
        self.judge_typing(
            terminal,
            typist.actor,
            typist.gate,
            bytes,
            input.secret,
            typist.confirmed,
        )
        .await?;
        self.audit_input(terminal, typist.actor, typist.connection)
            .await
    }
}
