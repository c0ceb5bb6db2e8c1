//! Whether an agent's shell is to run its command where it is: the daemon would run it with other
//! rights, or runs the shell itself already.
//!
//! A shell in a sandbox may reach the daemon's socket. A command that the daemon runs for it would be
//! outside of that sandbox, so everything that confines a process and that `/proc` shows is compared
//! with the daemon's own. What it does not show is Landlock: docs/security.md says so.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::Map;
use termd_proto::shell::ReportInPlace;
use termd_proto::terminal::{CreateTerminal, Owner};

use super::audit_log::AuditLog;
use super::descent::{Placement, is_process};
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::TerminalError;
use termd_policy::agent_line;

/// Namespaces (namespaces(7)) that have to be the same.
const NAMESPACES: [&str; 8] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"];
/// Fields of `proc_pid_status(5)` that have to be the same.
const STATUS_FIELDS: [&str; 6] = [
    "Uid",
    "Gid",
    "Groups",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
];
/// Capability sets of the same file.
const CAPABILITY_FIELDS: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
/// `CAP_WAKE_ALARM`, which systemd gives its user services and not each login. It opens no way anywhere.
const IGNORED_CAPABILITIES: u64 = 1 << 35;

/// Decides where the commands of agents' shells run, and records those that run in place. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct InPlace {
    pub(crate) audit: AuditLog,
}

impl InPlace {
    /// Refuses a command that is to run where its shell is, and records that.
    pub(crate) async fn check(
        &self,
        shell: &Owner,
        placement: &Placement,
        options: &CreateTerminal,
    ) -> Result<(), TerminalError> {
        let pid = Some(shell.pid).filter(|pid| *pid != 0);
        let placement = placement.clone();
        // /proc of a process that exits may block for a moment.
        let looked = tokio::task::spawn_blocking(move || in_place_reason(pid, &placement));
        let Some(reason) = looked.await.map_err(|_| TerminalError::Stopping)? else {
            return Ok(());
        };
        let command = options.command.iter();
        let argv = command.chain(&options.args).cloned().collect();
        let cwd = options.cwd.clone().unwrap_or_default();
        let report = ReportInPlace { argv, cwd, reason };
        let reason = report.reason.clone();
        self.record(shell, report).await?;
        Err(TerminalError::InPlace(reason))
    }

    /// Records that a shell runs its command where it is.
    pub(crate) async fn record(
        &self,
        shell: &Owner,
        report: ReportInPlace,
    ) -> Result<(), TerminalError> {
        let ReportInPlace { argv, cwd, reason } = report;
        let line = agent_line(&argv).map(|line| ("agent_line".to_owned(), line.into()));
        let mut detail = Map::from_iter(line);
        detail.extend([
            ("argv".to_owned(), argv.into()),
            ("cwd".to_owned(), cwd.into()),
            ("reason".to_owned(), reason.into()),
        ]);
        let (action, outcome) = (AuditAction::ShellInPlace, AuditOutcome::Ok);
        self.audit
            .record(action, outcome, shell, None, detail)
            .await
    }
}

/// Why the shell of this pid is to run its command where it is, in some words; `None`: the daemon may.
fn in_place_reason(pid: Option<i32>, placement: &Placement) -> Option<String> {
    if let Some(terminal) = &placement.terminal {
        return Some(format!("it is in {terminal} already"));
    }
    if placement.is_unknown {
        return Some("nobody can tell where its process comes from".to_owned());
    }
    let Some(pid) = pid else {
        return Some("its process is in another PID namespace".to_owned());
    };
    if let Some(difference) = difference(&pid.to_string()) {
        return Some(format!("its {difference} is not the daemon's"));
    }
    // Behind the look: until now the pid was that of the process that connected.
    let is_there = is_process(pid, placement.started);
    (!is_there).then(|| "its process has ended".to_owned())
}

/// What confines a process otherwise than this one. What cannot be read is taken to differ.
fn difference(pid: &str) -> Option<&'static str> {
    let namespace = |pid: &str, name: &str| fs::read_link(format!("/proc/{pid}/ns/{name}")).ok();
    for name in NAMESPACES {
        // An old kernel has no such namespace.
        let own = namespace("self", name);
        if own.is_some() && namespace(pid, name) != own {
            return Some(namespace_name(name));
        }
    }
    let root = |pid: &str| {
        let root = fs::metadata(format!("/proc/{pid}/root/")).ok()?;
        Some((root.dev(), root.ino()))
    };
    if root(pid).is_none() || root(pid) != root("self") {
        return Some("root directory");
    }
    let status = |pid: &str| fs::read_to_string(format!("/proc/{pid}/status"));
    let (Ok(status), Ok(own)) = (status(pid), status("self")) else {
        return Some("status");
    };
    for name in STATUS_FIELDS {
        if field(&status, name) != field(&own, name) {
            return Some(name);
        }
    }
    for name in CAPABILITY_FIELDS {
        if capabilities(&status, name) != capabilities(&own, name) {
            return Some(name);
        }
    }
    let label = |pid: &str| fs::read_to_string(format!("/proc/{pid}/attr/current")).ok();
    (label(pid) != label("self")).then_some("security label")
}

fn namespace_name(name: &str) -> &'static str {
    match name {
        "user" => "user namespace",
        "mnt" => "mount namespace",
        "pid" => "PID namespace",
        "net" => "network namespace",
        "ipc" => "IPC namespace",
        "uts" => "UTS namespace",
        "cgroup" => "cgroup namespace",
        _ => "time namespace",
    }
}

/// The value of a field; `None` where there is none.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

fn capabilities(status: &str, name: &str) -> Option<u64> {
    let set = u64::from_str_radix(field(status, name)?.trim(), 16).ok()?;
    Some(set & !IGNORED_CAPABILITIES)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn ended(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_child_is_confined_as_this_process() {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(difference(&child.id().to_string()), None);
        ended(child);
    }

    #[test]
    fn one_that_takes_no_new_privileges_is_not() {
        let mut command = Command::new("setpriv");
        command.args(["--no-new-privs", "sh", "-c", "echo; exec sleep 60"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        assert_eq!(difference(&child.id().to_string()), Some("NoNewPrivs"));
        ended(child);
    }

    #[test]
    fn the_capability_of_user_services_is_no_difference() {
        let status = |set: &str| format!("CapEff:\t{set}\n");
        let of = |set: &str| capabilities(&status(set), "CapEff");
        assert_eq!(of("0000000800000000"), of("0000000000000000"));
        assert_ne!(of("0000000800000001"), of("0000000000000000"));
        assert_eq!(capabilities("", "CapEff"), None);
    }

    #[test]
    fn what_has_ended_differs() {
        let mut child = Command::new("true").arg0("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(difference(&pid.to_string()).is_some());
    }
}
