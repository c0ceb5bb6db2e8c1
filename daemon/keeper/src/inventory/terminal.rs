//! One terminal, as the keeper holds it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use nix::libc::{SIGCHLD, SIGKILL};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use crate::cgroup;
use crate::launch::{Launched, PendingStart, Progress};
use crate::poll::Token;
use crate::process_tree::{Identity, RequestNumber, Tree, signal_process};
use crate::protocol::confinement::Enforced;
use crate::protocol::message::{ProcessId, SpawnRequest, TerminalFds, WaitStatus};

/// A start that is under way.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) pending: PendingStart,
    /// The request to answer. `None` once its server is gone, and while the command is paused.
    pub(crate) request: Option<RequestNumber>,
    /// Its error pipe in the epoll.
    pub(crate) token: Token,
}

/// One terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// The process of its command; reaped once there is a status.
    root: ProcessId,
    /// The init of its PID namespace, where it has one. It may have ended.
    init: Option<ProcessId>,
    status: Option<WaitStatus>,
    /// Its descriptors, until a server releases them.
    fds: Option<TerminalFds>,
    stdio: Stdio,
    /// Its tty or pipes, as the links in `/proc/PID/fd` say it. Of released ones, those that a process
    /// had open then.
    stdio_links: Vec<PathBuf>,
    /// The device number of its PTY, where it has one.
    tty: Option<u32>,
    /// The processor time that each of its processes may use, where there is a limit.
    cpu_limit: Option<Duration>,
    enforced: Enforced,
    /// The cgroup that is its own, where it has one.
    cgroup: Option<PathBuf>,
    /// Whether the keeper made the cgroup, and removes it. One of systemd's goes by itself.
    is_cgroup_ours: bool,
    /// The server's notes, opaque.
    notes: Vec<u8>,
    /// `None` once its command was executed.
    start: Option<Start>,
    /// It was closed, or no server ever learned of it: it is dropped when its processes are gone.
    is_forgotten: bool,
}

impl Terminal {
    /// A terminal whose command was just forked. Returns its start too, to be watched.
    pub(crate) fn new(request: SpawnRequest, launched: Launched) -> (Self, PendingStart) {
        let cpu_seconds = request.confinement.limits.cpu_seconds;
        let terminal = Self {
            root: launched.root,
            init: None,
            status: None,
            stdio_links: stdio_links(&launched.fds, launched.tty),
            fds: Some(launched.fds),
            stdio: request.stdio,
            tty: launched.tty,
            cpu_limit: cpu_seconds.map(Duration::from_secs),
            enforced: launched.enforced,
            is_cgroup_ours: launched.cgroup.is_some(),
            cgroup: launched.cgroup,
            notes: request.notes,
            start: None,
            is_forgotten: false,
        };
        (terminal, launched.start)
    }

    pub(crate) fn root(&self) -> ProcessId {
        self.root
    }

    pub(crate) fn status(&self) -> Option<WaitStatus> {
        self.status
    }

    pub(crate) fn stdio(&self) -> Stdio {
        self.stdio
    }

    pub(crate) fn notes(&self) -> &[u8] {
        &self.notes
    }

    pub(crate) fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    /// The descriptors in the order in which they are sent.
    pub(crate) fn shared_fds(&self) -> Option<Vec<BorrowedFd<'_>>> {
        self.fds.as_ref().map(TerminalFds::to_send)
    }

    /// Whether it has an open pipe to read.
    pub(crate) fn has_stdin(&self) -> bool {
        self.fds.as_ref().is_some_and(|fds| fds.stdin().is_some())
    }

    /// Closes the pipe that it reads: the command finds the end of its input.
    pub(crate) fn close_stdin(&mut self) {
        if let Some(TerminalFds::Pipes { stdin, .. }) = &mut self.fds {
            *stdin = None;
        }
    }

    /// Whether the server may know it: its command was executed and it is not forgotten.
    pub(crate) fn is_visible(&self) -> bool {
        self.start.is_none() && !self.is_forgotten
    }

    pub(crate) fn set_start(&mut self, start: Start) {
        self.start = Some(start);
    }

    pub(crate) fn start(&self) -> Option<&Start> {
        self.start.as_ref()
    }

    pub(crate) fn start_mut(&mut self) -> Option<&mut Start> {
        self.start.as_mut()
    }

    /// Reads what a start has reported.
    pub(crate) fn poll_start(&mut self) -> Progress {
        let Some(start) = &mut self.start else {
            return Progress::Pending;
        };
        let progress = start.pending.poll(&mut self.root, &mut self.enforced);
        self.init = start.pending.init();
        if let Progress::Executed(status) = progress {
            self.status = self.status.or(status);
        }
        progress
    }

    /// Ends the start.
    pub(crate) fn take_start(&mut self) -> Option<Start> {
        self.start.take()
    }

    /// The server has put it into a cgroup, or has found it in the keeper's.
    pub(crate) fn set_cgroup(&mut self, cgroup: PathBuf) {
        self.is_cgroup_ours &= self.cgroup.as_ref() == Some(&cgroup);
        self.cgroup = Some(cgroup);
    }

    /// Removes its cgroup once its command has ended and a server has seen how, unless background
    /// processes are left in it.
    pub(crate) fn remove_unused_cgroup(&mut self) {
        if self.status.is_some() && self.fds.is_none() && self.is_cgroup_ours {
            self.cgroup.take_if(|cgroup| cgroup::remove(cgroup));
        }
    }

    /// The cgroup that the keeper has made and has to remove.
    pub(crate) fn into_own_cgroup(self) -> Option<PathBuf> {
        self.cgroup.filter(|_| self.is_cgroup_ours)
    }

    pub(crate) fn set_notes(&mut self, notes: Vec<u8>) {
        self.notes = notes;
    }

    /// Drops the descriptors. A PTY's root that still runs is hung up; one on pipes finds them
    /// closed. Returns the pipes of a command that has ended to which others write.
    pub(crate) fn release_fds(&mut self) -> Vec<OwnedFd> {
        let Some(fds) = self.fds.take() else {
            return Vec::new();
        };
        let mut is_open = outputs(&fds).into_iter().map(is_open_elsewhere);
        self.stdio_links.retain(|_| is_open.next() == Some(true));
        match fds {
            TerminalFds::Pipes { stdout, stderr, .. } if self.status.is_some() => {
                let outputs = [stdout, stderr].into_iter();
                outputs
                    .filter(|pipe| is_open_elsewhere(pipe.as_fd()))
                    .collect()
            }
            TerminalFds::Pipes { .. } | TerminalFds::Pty { .. } => Vec::new(),
        }
    }

    /// The device number of its PTY.
    pub(crate) fn tty(&self) -> Option<u32> {
        self.tty
    }

    /// A new terminal has this tty. The kernel gives a number again when no process has it open.
    pub(crate) fn tty_is_reused(&mut self, tty: u32) {
        if self.fds.is_none() && self.tty == Some(tty) {
            self.stdio_links.clear();
        }
    }

    /// Drops the descriptors, and hides the terminal from servers for good.
    pub(crate) fn forget(&mut self) {
        // What its processes would write is over: they are being ended.
        let _ = self.release_fds();
        self.is_forgotten = true;
    }

    /// Whether it can be dropped once its tree is not being ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_forgotten && self.status.is_some()
    }

    /// The root's pid, while no other process can have it.
    pub(crate) fn unreaped_root(&self) -> Option<i32> {
        let start = self.start.as_ref();
        let is_there = start.is_none_or(|start| start.pending.has_unreaped_root());
        (is_there && self.status.is_none()).then_some(self.root.pid)
    }

    /// The limit on the processor time of each process.
    pub(crate) fn cpu_limit(&self) -> Option<Duration> {
        self.cpu_limit
    }

    /// The root was reaped.
    pub(crate) fn set_status(&mut self, status: WaitStatus) {
        self.status = Some(status);
        if let Some(init) = self.init {
            // The command is no child of its init, which looks now whether anything else is left.
            signal_process(init, SIGCHLD);
        }
    }

    /// Ends everything in its PID namespace and in its cgroup, where it has them. The terminal is being
    /// dropped.
    pub(crate) fn end_rest(&self) {
        if let Some(init) = self.init {
            signal_process(init, SIGKILL);
        }
        if let Some(cgroup) = &self.cgroup {
            cgroup::kill(cgroup);
        }
    }

    pub(crate) fn tree<'a>(&'a self, id: &'a TerminalId) -> Tree<'a> {
        Tree {
            identity: Identity {
                id,
                root: self.root,
                init: self.init,
                cgroup: (self.cgroup.as_deref()).and_then(cgroup::path_of),
                // Once the master is closed, the kernel reuses the tty's number.
                tty: self.tty.filter(|_| self.fds.is_some()),
            },
            cgroup: self.cgroup.as_deref(),
            unreaped_root: self.unreaped_root(),
            stdio: &self.stdio_links,
        }
    }
}

/// What the command writes to, at the keeper's end.
fn outputs(fds: &TerminalFds) -> Vec<BorrowedFd<'_>> {
    match fds {
        TerminalFds::Pty { master, .. } => vec![master.as_fd()],
        TerminalFds::Pipes { stdout, stderr, .. } => vec![stdout.as_fd(), stderr.as_fd()],
    }
}

/// Whether a process has the other end open.
fn is_open_elsewhere(output: BorrowedFd<'_>) -> bool {
    let mut outputs = [PollFd::from_borrowed_fd(output, PollFlags::empty())];
    let polled = poll(&mut outputs, Some(&Timespec::default()));
    polled.is_err() || !outputs[0].revents().contains(PollFlags::HUP)
}

/// One link for each of the outputs.
fn stdio_links(fds: &TerminalFds, tty: Option<u32>) -> Vec<PathBuf> {
    match fds {
        TerminalFds::Pty { .. } => tty.map(tty_link).into_iter().collect(),
        TerminalFds::Pipes { .. } => {
            let entries = outputs(fds).into_iter().map(rustix::fs::fstat);
            let inodes = entries.map(|entry| entry.map_or(0, |entry| entry.st_ino));
            inodes
                .map(|inode| format!("pipe:[{inode}]").into())
                .collect()
        }
    }
}

/// The name of a pseudo-terminal: their majors are 136 to 143 with 256 minors each
/// (Documentation/admin-guide/devices.txt), and a devpts numbers them on in minors of 20 bits.
fn tty_link(device: u32) -> PathBuf {
    let minor = (device & 0xff) | ((device >> 12) & 0x000f_ff00);
    format!("/dev/pts/{minor}").into()
}

impl AsFd for Start {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pending.as_fd()
    }
}
