//! Stopping the daemon: terminals first, then the server, then the keeper itself.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nix::libc::{SIGHUP, SIGKILL};

use super::ending::Ending;
use super::event_loop::Keeper;
use super::process_tree::owners;
use super::procfs;
use super::supervision::Server;
use super::sys::{self, Unreaped};
use crate::protocol::message::{KeeperEvent, ToServer};

/// How long the last server has to store what is left.
const FINISH_LIMIT: Duration = Duration::from_secs(10);

/// How often a keeper that leaves at once looks for processes that were forked while it killed
/// their parents.
const LAST_PASSES: usize = 8;

/// How far the daemon is on its way to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is not.
    Serving,
    /// The terminals are being ended. A server that dies meanwhile is replaced as ever.
    EndingTerminals,
    /// All have ended; a server stores the rest, until then at the latest.
    Finishing {
        /// When to leave without it.
        give_up_at: Instant,
    },
}

impl Stage {
    /// When something is due by time alone.
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Finishing { give_up_at } => Some(give_up_at),
            Self::Serving | Self::EndingTerminals => None,
        }
    }
}

impl Keeper {
    /// SIGTERM or SIGINT: stop, or at the second one leave at once.
    pub(super) fn stop(&mut self, now: Instant) {
        if self.stage != Stage::Serving {
            self.kill_everything();
            self.exit = Some(1);
            return;
        }
        self.stage = Stage::EndingTerminals;
        self.notifier.send("STOPPING=1\nSTATUS=Ending terminals");
        self.tell(&ToServer::Event(KeeperEvent::Stopping));
        let grace = self.options.kill_grace;
        for (_, terminal) in self.inventory.iter_mut() {
            match &mut terminal.ending {
                Some(ending) => ending.join(grace, now),
                None => terminal.ending = Some(Ending::new(SIGHUP, grace, now)),
            }
        }
    }

    /// Takes the next step of a stop.
    pub(super) fn progress_stopping(&mut self, now: Instant) {
        match self.stage {
            Stage::Serving => {}
            Stage::EndingTerminals => {
                if self
                    .inventory
                    .iter()
                    .all(|(_, terminal)| terminal.ending.is_none())
                {
                    self.stage = Stage::Finishing {
                        give_up_at: now + FINISH_LIMIT,
                    };
                    match &mut self.server {
                        // What is still in the spools is worth another server.
                        Server::Down { start_at } => *start_at = now,
                        Server::Up(running) => running.expect_to_leave(now),
                    }
                    self.tell(&ToServer::Event(KeeperEvent::Finish));
                }
            }
            Stage::Finishing { give_up_at } => {
                if now >= give_up_at && self.exit.is_none() {
                    if let Server::Up(running) = &mut self.server {
                        running.kill();
                    }
                    self.exit = Some(0);
                }
            }
        }
    }

    /// Tells a server that was just introduced where the daemon is.
    pub(super) fn tell_stage(&mut self) {
        if self.stage != Stage::Serving {
            self.tell(&ToServer::Event(KeeperEvent::Stopping));
        }
        if matches!(self.stage, Stage::Finishing { .. }) {
            self.tell(&ToServer::Event(KeeperEvent::Finish));
        }
    }

    fn kill_everything(&mut self) {
        for (_, terminal) in self.inventory.iter() {
            if let Some(root) = terminal.unreaped_root() {
                sys::kill_unreaped(Unreaped::GroupOf(root), SIGKILL);
                sys::kill_unreaped(Unreaped::Child(root), SIGKILL);
            }
        }
        let mut killed = BTreeSet::new();
        for _ in 0..LAST_PASSES {
            if !self.kill_newcomers(&mut killed) {
                break;
            }
        }
        if let Server::Up(running) = &mut self.server {
            running.kill();
        }
    }

    /// Kills what belongs to a terminal and was not killed yet; whether there was anything.
    fn kill_newcomers(&self, killed: &mut BTreeSet<(i32, u64)>) -> bool {
        let keeper = rustix::process::getpid().as_raw_pid();
        let processes = procfs::snapshot(keeper, self.server.pid());
        let owners = owners(&processes, &self.inventory.identities());
        let mut found = false;
        for (process, owner) in processes.iter().zip(owners) {
            let ours = owner.is_some() && !process.ended;
            if ours && killed.insert((process.id.pid, process.id.start_time)) {
                super::endings::signal_process(process.id, SIGKILL);
                found = true;
            }
        }
        found
    }
}
