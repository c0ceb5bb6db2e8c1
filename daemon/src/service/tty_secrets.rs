//! Passwords that programs in agents' terminals read from their tty: a person is asked for them, as by
//! askpass.
//!
//! A tty awaits a secret where it reads lines and does not show them, which `attention` looks at.

use std::sync::Arc;
use std::time::Duration;

use termd_policy::CompiledGate;
use termd_proto::interact::TypedInput;
use termd_proto::secret::Secret;
use termd_proto::terminal::{Owner, Stdio};
use termd_vt::Model;

use super::descent::named_program;
use super::gate::Typist;
use super::input::InputSender;
use super::secret_desk::SecretDesk;
use crate::store::own_actor;
use crate::terminal::handle::Terminal;
use crate::terminal::wait::completion::ProcessState;
use crate::terminal::wait::program::foreground;

/// How long the terminal has to take the secret.
const TYPE_WITHIN: Duration = Duration::from_secs(5);
/// The connection that types. Those of clients are counted from the other end.
const OWN_CONNECTION: u64 = u64::MAX;

/// Asks a person where the tty of an agent's terminal awaits a secret. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct TtySecrets {
    pub(crate) desk: SecretDesk,
    pub(crate) input: Arc<InputSender>,
}

impl TtySecrets {
    /// Watches a terminal from now on, where an agent has opened it and it has a tty.
    pub(crate) fn watch(&self, terminal: &Arc<Terminal>) {
        let record = &terminal.record;
        if record.stdio == Stdio::Pty && record.owner.agent().is_some() {
            let (this, terminal) = (self.clone(), Arc::clone(terminal));
            tokio::spawn(async move { this.follow(&terminal).await });
        }
    }

    /// Asks once for each prompt, until the command has ended.
    async fn follow(&self, terminal: &Arc<Terminal>) {
        let mut awaited = terminal.attention.watch_secrets();
        let mut watched = self.desk.approvals.watched();
        let mut asked_at = None;
        while terminal.progress().exit.is_none() {
            let is_watched = *watched.borrow_and_update();
            let at = *awaited.borrow_and_update();
            if is_watched && at.is_some() && at != asked_at {
                asked_at = at;
                let gone = async {
                    // Fails only without the terminal, which is here.
                    let _ = awaited.wait_for(|now| *now != at).await;
                };
                self.ask(terminal, gone).await;
                continue;
            }
            tokio::select! {
                changed = awaited.changed() => if changed.is_err() { return },
                changed = watched.changed() => if changed.is_err() { return },
                _ = terminal.exit() => return,
            }
        }
    }

    async fn ask(&self, terminal: &Arc<Terminal>, gone: impl Future<Output = ()>) {
        let asked_by = Owner {
            terminal: Some(terminal.id().clone()),
            ..terminal.record.owner.clone()
        };
        let (prompt, reader) = (prompt_of(terminal), reader_of(terminal));
        let asked = self.desk.ask(&prompt, reader, asked_by, gone);
        match asked.await.map(|asked| asked.secret) {
            Ok(Some(secret)) => self.answer(terminal, &secret).await,
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(terminal = %terminal.id(), %error, "a question for a secret is not recorded");
            }
        }
    }

    /// Types a secret, where the tty still awaits one.
    async fn answer(&self, terminal: &Arc<Terminal>, secret: &Secret) {
        let input = TypedInput {
            text: Some(secret.reveal().to_owned()),
            enter: true,
            secret: true,
            ..TypedInput::default()
        };
        let (actor, gate) = (own_actor(), CompiledGate::default());
        let typist = Typist {
            actor: &actor,
            connection: OWN_CONNECTION,
            gate: &gate,
            confirmed: false,
            asks: false,
        };
        let typed = self
            .input
            .type_input(terminal, &input, &typist, TYPE_WITHIN);
        if let Err(error) = typed.await {
            tracing::warn!(terminal = %terminal.id(), %error, "a secret that a person gave is not typed");
        }
    }
}

/// What stands before the cursor.
fn prompt_of(terminal: &Terminal) -> String {
    let line = terminal.screen.look(Model::cursor_line);
    line.map(|(before, _)| before).unwrap_or_default()
}

/// The program that sleeps in a read of the tty. Where that cannot be seen, such as of sudo(8), the newest
/// one in the foreground that sleeps.
fn reader_of(terminal: &Terminal) -> Option<String> {
    let program = foreground(terminal.record.pid)?;
    let may_read = program.doing.waits_for_tty() || program.doing == ProcessState::Sleeps;
    may_read.then(|| named_program(program.pid)).flatten()
}
