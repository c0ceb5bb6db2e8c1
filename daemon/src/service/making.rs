//! What a terminal is held to, with the directories that are made for its sake: found out, kept
//! while anything of it runs, given back.
//!
//! Promises: a start that does not come about leaves nothing behind; what was made outlives the
//! server that knows of it, by the notes. It must not know what a wall is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use termd_proto::TerminalId;
use tokio::runtime::Handle;

use super::Terminals;
use super::confine::confinement;
use super::made::{Left, is_notable};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use termd_keeper::protocol::confinement::Confinement;
use termd_policy::Profile;

/// What was made for a command stays so long after its end.
const LINGER: Duration = Duration::from_secs(5);
/// How long after that it is looked for what it left running, first; each time twice as
/// long as the time before. Nothing is asked of a command that made nothing.
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// The longest pause: a look reads the mounts of every process of this user.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// What a terminal is to be held to, and the directories that it holds until its end, or until this
/// is dropped.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) confinement: Confinement,
    /// Which were made for it, or for another one that needs them as well.
    pub(super) made: Vec<PathBuf>,
    terminals: Terminals,
    id: TerminalId,
    is_started: bool,
}

impl Held {
    /// It runs.
    pub(super) fn until_the_end_of(mut self, terminal: &Arc<Terminal>) {
        self.is_started = true;
        self.terminals.let_go_at_the_end(terminal);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_started || self.made.is_empty() {
            return;
        }
        let (terminals, id) = (self.terminals.clone(), self.id.clone());
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || terminals.inner.made.let_go(&id));
        }
    }
}

impl Terminals {
    /// What the keeper is to be asked for. It looks for repositories and resolves paths.
    pub(super) fn find_confinement(
        &self,
        id: &TerminalId,
        profile: &Profile,
        cwd: &Path,
    ) -> Result<Held, TerminalError> {
        let config_dir = &self.inner.options.config_dir;
        let find = || confinement(profile, cwd, config_dir);
        let (found, made) = if profile.sandboxes.is_empty() {
            // Nothing of it is in the file system, for which another one may be waiting.
            (find()?, Vec::new())
        } else {
            self.inner.made.claim(id, find, |found| &found.makeable)?
        };
        Ok(Held {
            confinement: found.confinement,
            made: made.into_iter().filter(|path| is_notable(path)).collect(),
            terminals: self.clone(),
            id: id.clone(),
            is_started: false,
        })
    }

    /// What an earlier server began.
    pub(super) fn go_on_holding(&self, terminal: &Arc<Terminal>) {
        self.inner
            .made
            .claim_again(terminal.id(), &terminal.record.made);
        self.let_go_at_the_end(terminal);
    }

    /// Once nothing of a terminal runs any more, what was made for it is removed.
    fn let_go_at_the_end(&self, terminal: &Arc<Terminal>) {
        if terminal.record.made.is_empty() {
            return;
        }
        let (terminals, terminal) = (self.clone(), Arc::clone(terminal));
        tokio::spawn(async move {
            if terminal.exit().await.is_err() {
                return;
            }
            // Commands in one directory often follow each other, and each needs the same.
            tokio::time::sleep(LINGER).await;
            let mut pause = FIRST_LOOK;
            while terminals.let_go(terminal.id()).await == Left::InUse {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }

    async fn let_go(&self, id: &TerminalId) -> Left {
        let (terminals, id) = (self.clone(), id.clone());
        let gone = tokio::task::spawn_blocking(move || terminals.inner.made.let_go(&id));
        gone.await.unwrap_or(Left::Nothing)
    }

    /// Removes what a daemon that was killed has left. When all there is was taken over.
    pub(super) async fn remove_leftovers(&self) {
        let terminals = self.clone();
        let gone = tokio::task::spawn_blocking(move || terminals.inner.made.remove_leftovers());
        if gone.await.is_err() {
            tracing::error!("what an earlier daemon made for sandboxes stays");
        }
    }

    /// Removes all that was made: every terminal has ended.
    pub async fn let_all_go(&self) {
        let terminals = self.clone();
        let gone = tokio::task::spawn_blocking(move || terminals.inner.made.let_all_go());
        if gone.await.is_err() {
            tracing::error!("what was made for sandboxes stays");
        }
    }
}
