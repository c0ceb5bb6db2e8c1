//! What a command of an agent's shell has left running: waits until it may not live any longer.

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use termd_proto::terminal::{Children, CloseCause};

use crate::keeper_client::KeeperClient;
use crate::service::descent::is_process;
use crate::terminal::handle::Terminal;
use crate::terminal::output::async_fd::register_readable;

/// Watches what commands leave. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Leftovers {
    keeper: KeeperClient,
}

impl Leftovers {
    pub(super) fn new(keeper: KeeperClient) -> Self {
        Self { keeper }
    }

    /// The call of this terminal's command is over, and so is the command. Resolves with the cause when
    /// the terminal is to be closed.
    pub(super) async fn outlived(&self, terminal: &Terminal, children: Children) -> CloseCause {
        match children {
            Children::Keep => std::future::pending().await,
            Children::Call => CloseCause::CallEnd,
            Children::Agent => {
                let (pid, started) = terminal.record.agent_process.unwrap_or_default();
                tokio::select! {
                    () = self.all_ended(terminal) => CloseCause::CallEnd,
                    () = process_end(pid, started) => CloseCause::AgentEnd,
                }
            }
        }
    }

    /// Waits until no process of a terminal is left. Of those that there are, one is waited for, and then
    /// they are listed again: nothing is looked at while nothing ends.
    async fn all_ended(&self, terminal: &Terminal) {
        loop {
            match self.keeper.processes(terminal.id()).await {
                Ok(processes) => match processes.listed.first() {
                    Some(first) => process_end(first.process.pid, first.process.start_time).await,
                    None => return,
                },
                Err(error) => {
                    tracing::warn!(terminal = %terminal.id(), %error, "cannot list what is left");
                    return std::future::pending().await;
                }
            }
        }
    }
}

/// Waits until the process with this pid and start has ended.
pub(crate) async fn process_end(pid: i32, started: u64) {
    let pidfd = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::NONBLOCK).ok());
    // Behind the opening: before it the pid may have become another process's.
    let Some(pidfd) = pidfd.filter(|_| is_process(pid, started)) else {
        return;
    };
    if let Ok(pidfd) = register_readable(pidfd) {
        let _ = pidfd.readable().await;
    }
}
