//! `session.type` and `session.send`: from the caller to the terminal's task.

mod control_keys;
mod piped;
mod recorder;

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_proto::interact::TypedInput;
use termd_proto::terminal::{SendResult, Stdin};

use super::gate::{Gate, TerminalUse, Typist};
use super::screens::Screens;
use crate::clock::now_ms;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::foreground::runs_pasted_lines;
use crate::terminal::input::input_audit::AuditedInput;
use crate::terminal::input::send::{QueuedInput, queue_input, wait_until_taken};
use crate::terminal::input::shell_prompt::PromptState;
use crate::terminal::input::typing::{Lines, Paste, Typing, TypingModes, echo_of};
use crate::terminal::input::{Care, LineCare, PipePosition, Place, Secrecy};
use crate::terminal::wait;

use self::control_keys::ControlKeys;
pub(crate) use self::recorder::InputRecorder;

/// Types into terminals: judged, recorded, and only then typed.
#[derive(Debug)]
pub(crate) struct InputSender {
    gate: Arc<Gate>,
    recorder: InputRecorder,
    screens: Screens,
}

impl InputSender {
    pub(crate) fn new(gate: Arc<Gate>, recorder: InputRecorder, screens: Screens) -> Self {
        Self {
            gate,
            recorder,
            screens,
        }
    }

    /// Types as a person does. Waits until the terminal has taken it, `max` at the longest.
    ///
    /// A secret goes only where one is awaited, unless forced, and is not remembered. Where it is
    /// forced upon a tty that reads lines and shows them, the tty is kept from showing it. A line
    /// editor shows what it likes, and what it shows is output.
    pub(crate) async fn type_input(
        &self,
        terminal: &Arc<Terminal>,
        input: &TypedInput,
        typist: &Typist<'_>,
        max: Duration,
    ) -> Result<SendResult, TerminalError> {
        if terminal.record.stdin == Stdin::Pipe {
            if input.secret {
                return Err(TerminalError::NoSecretAwaited(terminal.id().clone()));
            }
            if input.at_prompt {
                return Err(not_at_prompt(terminal, PromptState::Elsewhere));
            }
            let (bytes, position) = piped::of_typed(input)?;
            return self.send(terminal, bytes, position, typist, max).await;
        }
        let typing = Typing::of(input)?;
        // A tty that cannot say how it reads has no reader left.
        let tty = terminal.line_discipline().await;
        let tty = tty.ok_or_else(|| terminal.takes_no_input())?;
        if input.secret && !input.force && !tty.awaits_secret() {
            return Err(TerminalError::NoSecretAwaited(terminal.id().clone()));
        }
        let look = |model: &_| TypingModes::of(model, tty);
        let mut modes = self.screens.look_at(terminal, look).await?;
        if modes.paste == Paste::Bracketed
            && typing.has_lines()
            && !runs_pasted_lines(terminal).await
        {
            modes.paste = Paste::Typed;
        }
        let by_line = input.line_by_line && modes.paste == Paste::Typed && typing.has_lines();
        let pieces = if by_line {
            typing.lines(&modes)?
        } else {
            vec![typing.bytes(&modes)?]
        };
        let bytes = pieces.concat();
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
        let place = if input.at_prompt {
            Place::Prompt
        } else {
            Place::Anywhere
        };
        let care = Care {
            lines,
            secrecy,
            place,
        };
        let position = PipePosition::default();
        self.type_bytes(terminal, pieces, care, position, typist, max)
            .await
    }

    /// Sends bytes as they are. Waits until the terminal has taken them, `max` at the longest.
    pub(crate) async fn send(
        &self,
        terminal: &Arc<Terminal>,
        bytes: Vec<u8>,
        position: PipePosition,
        typist: &Typist<'_>,
        max: Duration,
    ) -> Result<SendResult, TerminalError> {
        let secrecy = match terminal.record.stdin {
            Stdin::Pipe => Secrecy::NotShown,
            Stdin::Null | Stdin::Inherited if position == PipePosition::default() => {
                Secrecy::Shown(echo_of(&bytes))
            }
            Stdin::Null | Stdin::Inherited => {
                // Of one that is over the record does not say what its input was.
                if terminal.progress().exit.is_some() {
                    return Err(terminal.takes_no_input());
                }
                return Err(TerminalError::Invalid {
                    field: "eof",
                    problem: "and `input_offset` are for a command that reads a pipe: a tty gets \
                              the key ctrl-d"
                        .to_owned(),
                });
            }
        };
        let care = Care {
            lines: LineCare::Any,
            secrecy,
            place: Place::Anywhere,
        };
        self.type_bytes(terminal, vec![bytes], care, position, typist, max)
            .await
    }

    /// The one way to a terminal's task. Bytes are judged and recorded before any of them goes out,
    /// one caller after the other, so that what came first is typed first. Of several pieces each is typed
    /// once the program reads again.
    async fn type_bytes(
        &self,
        terminal: &Arc<Terminal>,
        pieces: Vec<Vec<u8>>,
        care: Care,
        position: PipePosition,
        typist: &Typist<'_>,
        max: Duration,
    ) -> Result<SendResult, TerminalError> {
        let deadline = Instant::now() + max;
        let bytes = pieces.concat();
        let (actor, connection) = (typist.actor, typist.connection);
        self.gate
            .check_use(terminal, TerminalUse::Input, typist.asker())
            .await?;
        if let Some(size) = terminal.connections.typed(connection) {
            self.screens.follow(terminal, size).await;
        }
        let mut typed = terminal.typed_lines.lock().await;
        if care.place == Place::Prompt {
            // Nobody is asked about a line that cannot be typed now. The terminal's task looks again.
            let state = PromptState::of(terminal, terminal.end())
                .with_unended_text(terminal, typed.holds_text());
            if state != PromptState::Free {
                return Err(not_at_prompt(terminal, state));
            }
        }
        let next = match terminal.record.stdin {
            Stdin::Pipe => {
                let judged =
                    self.gate
                        .judge_piped(terminal, typist, &typed, &bytes, position.is_last);
                judged.await?
            }
            Stdin::Null | Stdin::Inherited => {
                let judged =
                    self.gate
                        .judge_typing(terminal, typist, &typed, &bytes, &care.secrecy);
                judged.await?
            }
        };
        terminal.takes_input()?;
        let has_own_record = match self.recorder.begin(terminal, actor, connection).await {
            Ok(()) => false,
            Err(error) => {
                let keys = match terminal.record.stdin {
                    Stdin::Pipe => None,
                    Stdin::Null | Stdin::Inherited => ControlKeys::of(&bytes, &typed),
                };
                let keys = keys.ok_or(error)?;
                self.recorder
                    .record_interrupt(terminal, actor, &keys)
                    .await?;
                true
            }
        };
        self.gate.note_typist(terminal, actor).await?;
        let mut lines = TypedPieces {
            sender: self,
            terminal,
            typist,
            has_own_record,
            care,
            position,
        };
        let mut pieces = pieces.into_iter();
        let first = pieces.next().unwrap_or_default();
        terminal.attention.seen_by(actor);
        // Before the program has it: what it says then is no answer of ours.
        terminal.attention.answered();
        let queued = lines.queue(first).await?;
        let before = std::mem::replace(&mut *typed, next.clone());
        drop(typed);
        let left = deadline.saturating_duration_since(Instant::now());
        let mut taken = wait_until_taken(terminal, queued, left).await;
        terminal.attention.typed();
        if let Ok(sent) = &mut taken {
            lines.queue_rest(pieces, sent, deadline).await?;
        }
        if matches!(
            taken,
            Err(TerminalError::CanonicalLimit { .. }
                | TerminalError::NoSecretAwaited(_)
                | TerminalError::NotAtPrompt { .. })
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

/// Input that was judged and recorded, on its way to the terminal in pieces.
struct TypedPieces<'a> {
    sender: &'a InputSender,
    terminal: &'a Arc<Terminal>,
    typist: &'a Typist<'a>,
    has_own_record: bool,
    care: Care,
    position: PipePosition,
}

impl TypedPieces<'_> {
    async fn queue(&mut self, piece: Vec<u8>) -> Result<QueuedInput, TerminalError> {
        let secret = matches!(self.care.secrecy, Secrecy::Awaited | Secrecy::Forced);
        let mut care = self.care.clone();
        if let Secrecy::Shown(shown) = &mut care.secrecy {
            *shown = echo_of(&piece);
        }
        let copy = piece.clone();
        let queued = queue_input(self.terminal, piece, care, self.position).await?;
        let audited = AuditedInput {
            bytes: copy,
            taken: Arc::clone(&queued.taken),
            facts: Arc::clone(&queued.facts),
            secret,
            at_ms: now_ms(),
        };
        if !self.has_own_record {
            let (actor, connection) = (self.typist.actor, self.typist.connection);
            let recorder = &self.sender.recorder;
            recorder.count(self.terminal, actor, connection, audited);
        }
        Ok(queued)
    }

    /// Types the rest: each piece once the program reads again, all of them at the deadline, and none
    /// after Ctrl-C.
    async fn queue_rest(
        &mut self,
        mut pieces: impl Iterator<Item = Vec<u8>>,
        sent: &mut SendResult,
        deadline: Instant,
    ) -> Result<(), TerminalError> {
        // Its place was looked at before the first piece.
        self.care.place = Place::Anywhere;
        let mut since = sent.offset;
        while let Some(mut piece) = pieces.next() {
            wait::until_awaited(self.terminal, since, deadline).await?;
            if self.terminal.typed.is_interrupted() || self.terminal.takes_input().is_err() {
                break;
            }
            if deadline <= Instant::now() {
                piece.extend(pieces.by_ref().flatten());
            }
            let queued = self.queue(piece).await?;
            let left = deadline.saturating_duration_since(Instant::now());
            let more = wait_until_taken(self.terminal, queued, left).await?;
            sent.sent += more.sent;
            sent.queued += more.queued;
            since = more.offset;
        }
        Ok(())
    }
}

fn not_at_prompt(terminal: &Terminal, state: PromptState) -> TerminalError {
    let id = terminal.id().clone();
    TerminalError::NotAtPrompt { id, state }
}
