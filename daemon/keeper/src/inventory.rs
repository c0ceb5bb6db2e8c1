//! What the keeper holds: every terminal, by id.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::ending::Ending;
use super::event_loop::Token;
use super::exec_gate::Gate;
use super::handover::Lead;
use super::process_tree::Identity;
use super::spawn::{self, Outcome};
use crate::protocol::confinement::Enforced;
use crate::protocol::message::{MAX_TERMINALS, ProcessId, SpawnFailure, TerminalFds, WaitStatus};

/// Whom to answer: a request of the server that is there now.
pub(super) type RequestNumber = u32;

/// How far a terminal's start is.
#[derive(Debug)]
pub(super) enum Start {
    /// Between fork and exec. The pipe says how it went: end of file for a successful exec.
    Pending {
        /// The read end, non-blocking.
        error_pipe: OwnedFd,
        /// Who asked; nobody, once that server is gone, and while the command is held.
        asked_by: Option<RequestNumber>,
        /// Whether the command waits to be let go.
        gate: Gate,
        /// Who becomes the command.
        lead: Lead,
        /// By which the error pipe is watched.
        watched: Token,
    },
    /// The command runs, or ran.
    Done,
}

/// Whether a server may still ask for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It may.
    Yes,
    /// It was closed, or nobody was ever told of it: it goes when its processes have.
    Forgotten,
}

/// One terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    /// Its root; reaped once `status` is there.
    pub(super) root: ProcessId,
    /// Its descriptors, until a server released them.
    pub(super) fds: Option<TerminalFds>,
    /// What its command has for standard input, output and error.
    pub(super) stdio: Stdio,
    /// Its tty's device number, where it has one.
    pub(super) tty: Option<u32>,
    /// Whether a server may still ask for it.
    pub(super) known: Known,
    /// How its root ended.
    pub(super) status: Option<WaitStatus>,
    /// The processor time that each of its processes may use, where there is a limit.
    pub(super) cpu_limit: Option<Duration>,
    /// What its command is held to.
    pub(super) enforced: Enforced,
    /// The cgroup that is its own, where it has one.
    pub(super) cgroup: Option<PathBuf>,
    /// The server's, opaque.
    pub(super) notes: Vec<u8>,
    /// Whether its command runs yet.
    pub(super) start: Start,
    /// Its processes are being ended.
    pub(super) ending: Option<Ending>,
    /// Who is told when they have.
    pub(super) waiters: Vec<RequestNumber>,
}

impl Terminal {
    /// Whether the server may know it: it was started, and not forgotten.
    pub(super) fn is_shown(&self) -> bool {
        matches!(self.start, Start::Done) && self.known == Known::Yes
    }

    /// Takes what the error pipe of a start says. How the start went, once that is known.
    pub(super) fn conclude(&mut self) -> Option<Result<(), SpawnFailure>> {
        loop {
            let Start::Pending {
                error_pipe, lead, ..
            } = &mut self.start
            else {
                return None;
            };
            let failed = match spawn::outcome(error_pipe, &mut self.enforced) {
                Outcome::Pending => return None,
                Outcome::HandedOver(pid) => match lead.told(self.root, pid) {
                    Ok(root) => {
                        self.root = root;
                        continue;
                    }
                    Err(failure) => failure,
                },
                Outcome::Started => match lead.executed(&self.enforced) {
                    Ok(ended) => {
                        self.status = self.status.or(ended);
                        return Some(Ok(()));
                    }
                    Err(failure) => failure,
                },
                Outcome::Failed(failure) => failure,
            };
            return Some(Err(failed));
        }
    }

    /// By which the error pipe of a start is watched whose root is a builder.
    pub(super) fn with_builder(&mut self) -> Option<Token> {
        match &self.start {
            Start::Pending {
                lead: Lead::Builder { .. },
                watched,
                ..
            } => Some(*watched),
            Start::Pending { .. } | Start::Done => None,
        }
    }

    /// Who becomes its command, while that is to be found out.
    pub(super) fn lead(&mut self) -> Option<&mut Lead> {
        match &mut self.start {
            Start::Pending { lead, .. } => Some(lead),
            Start::Done => None,
        }
    }

    /// Its root's number, while no other process can have it.
    pub(super) fn unreaped_root(&self) -> Option<i32> {
        let is_there = match &self.start {
            Start::Pending { lead, .. } => lead.has_unreaped_root(),
            Start::Done => true,
        };
        (is_there && self.status.is_none()).then_some(self.root.pid)
    }

    /// Drops the descriptors. A root that still runs is hung up; one on pipes finds them closed.
    pub(super) fn release(&mut self) {
        self.fds = None;
    }

    /// Drops the descriptors: from now on no server knows it. A root that still runs is hung up.
    pub(super) fn forget(&mut self) {
        self.fds = None;
        self.known = Known::Forgotten;
    }

    /// Whether nothing is left to do for it.
    pub(super) fn is_over(&self) -> bool {
        self.known == Known::Forgotten && self.status.is_some() && self.ending.is_none()
    }

    /// The descriptors in the order in which they are sent.
    pub(super) fn shared_fds(&self) -> Option<[BorrowedFd<'_>; 4]> {
        self.fds.as_ref().map(TerminalFds::to_send)
    }
}

/// Every terminal there is, [`MAX_TERMINALS`] at the most.
#[derive(Debug, Default)]
pub(super) struct Inventory(BTreeMap<TerminalId, Terminal>);

impl Inventory {
    /// Whether there is no room for another.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_TERMINALS
    }

    /// Whether there is one of this id, shown or not.
    pub(super) fn contains(&self, id: &TerminalId) -> bool {
        self.0.contains_key(id)
    }

    /// Adds one. The caller has checked that there is room and none of this id.
    pub(super) fn insert(&mut self, id: TerminalId, terminal: Terminal) {
        self.0.insert(id, terminal);
    }

    /// Drops one, and with it its descriptors.
    pub(super) fn remove(&mut self, id: &TerminalId) -> Option<Terminal> {
        self.0.remove(id)
    }

    /// The one of this id, shown or not.
    pub(super) fn get_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.0.get_mut(id)
    }

    /// The one of this id, if the server may know it.
    pub(super) fn shown(&self, id: &TerminalId) -> Option<&Terminal> {
        self.0.get(id).filter(|terminal| terminal.is_shown())
    }

    /// The one of this id, if the server may know it.
    pub(super) fn shown_mut(&mut self, id: &TerminalId) -> Option<&mut Terminal> {
        self.0.get_mut(id).filter(|terminal| terminal.is_shown())
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&TerminalId, &Terminal)> {
        self.0.iter()
    }

    /// All of them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&TerminalId, &mut Terminal)> {
        self.0.iter_mut()
    }

    /// Whose root this unreaped child is.
    pub(super) fn by_unreaped_root(&self, pid: i32) -> Option<TerminalId> {
        let (id, _) = self
            .0
            .iter()
            .find(|(_, terminal)| terminal.unreaped_root() == Some(pid))?;
        Some(id.clone())
    }

    /// A child was reaped that is nobody's root: perhaps somebody's builder.
    pub(super) fn reaped(&mut self, pid: i32) {
        let mut leads = self.0.values_mut().filter_map(Terminal::lead);
        leads.any(|lead| lead.reaped(pid));
    }

    /// What tells their processes apart, in the order of [`Inventory::iter`].
    pub(super) fn identities(&self) -> Vec<Identity<'_>> {
        self.0
            .iter()
            .map(|(id, terminal)| Identity {
                id,
                root: terminal.root,
                tty: terminal.tty.filter(|_| terminal.fds.is_some()),
            })
            .collect()
    }

    /// Forgets those that are over.
    pub(super) fn sweep(&mut self) {
        self.0.retain(|_, terminal| !terminal.is_over());
    }
}
