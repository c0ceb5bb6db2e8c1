//! `daemon.*`: the daemon itself.

use std::sync::{Arc, Mutex, PoisonError};

use termd_proto::daemon::{
    API_VERSION, DaemonInfo, DaemonStats, GetDaemonInfo, GetDaemonStats, Hello,
};
use termd_proto::shell::ShellOutput;
use termd_proto::terminal::Front;

use crate::approval::{Approvals, Reach};
use crate::clock::now_ms;
use crate::keeper_client::KeeperClient;
use crate::paths::Paths;
use crate::rpc::api::Api;
use crate::rpc::context::{ConnectionContext, Introduction};
use crate::rpc::error::{RpcError, RpcResult};
use crate::rpc::server::SocketStats;
use crate::service::{Catalog, Disk};
use termd_keeper::protocol::message::ListedProcess;

/// Why a file is not what this server runs on, each in one line.
#[derive(Debug, Default)]
pub struct Faults {
    /// config.toml.
    pub config: Option<String>,
    /// approved.toml.
    pub approved: Option<String>,
    /// The program on disk.
    pub reload: ReloadFault,
}

/// Why the last reload was not done, while this server goes on.
#[derive(Debug, Clone, Default)]
pub struct ReloadFault(Arc<Mutex<Option<(String, i64)>>>);

impl ReloadFault {
    /// A reload has failed now.
    pub fn set(&self, reason: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((reason, now_ms()));
    }

    /// Another reload begins.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Why, and when.
    fn get(&self) -> Option<(String, i64)> {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }
}

/// Serves `daemon.*`.
#[derive(Debug)]
pub struct DaemonHandler {
    catalog: Catalog,
    approvals: Approvals,
    disk: Arc<Disk>,
    keeper: KeeperClient,
    sockets: Arc<SocketStats>,
    reload_fault: ReloadFault,
    info: DaemonInfo,
    shell: Option<ShellOutput>,
}

impl DaemonHandler {
    /// For this server, which has just started.
    pub(crate) fn new(
        catalog: Catalog,
        disk: Arc<Disk>,
        keeper: KeeperClient,
        sockets: Arc<SocketStats>,
        paths: &Paths,
        faults: Faults,
        approvals: Approvals,
    ) -> Self {
        let pid =
            |pid: Option<rustix::process::Pid>| pid.map_or(0, |pid| pid.as_raw_nonzero().get());
        let info = DaemonInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            api_version: API_VERSION,
            keeper_pid: pid(rustix::process::getppid()),
            server_pid: pid(Some(rustix::process::getpid())),
            server_started_at_ms: now_ms(),
            socket: paths.socket.to_string_lossy().into_owned(),
            database: paths.database().to_string_lossy().into_owned(),
            config_fault: faults.config,
            approved_fault: faults.approved,
            reload_fault: None,
            reload_failed_at_ms: None,
            unit: systemd_unit(),
            disk: None,
            agent: false,
            shell: None,
        };
        Self {
            catalog,
            approvals,
            disk,
            keeper,
            sockets,
            reload_fault: faults.reload,
            info,
            shell: None,
        }
    }

    /// The same, which tells the shells of agents how they are to show output.
    pub(crate) fn with_shell(self, output: ShellOutput) -> Self {
        let shell = Some(output);
        Self { shell, ..self }
    }

    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.sync_method(&handler, Self::hello);
        api.sync_method(&handler, |handler, GetDaemonInfo {}, context| {
            Ok(handler.info_for(context))
        });
        api.method(&handler, Self::stats);
    }
}

impl DaemonHandler {
    fn hello(&self, params: Hello, context: &ConnectionContext) -> RpcResult<DaemonInfo> {
        if params.cwd.as_ref().is_some_and(|cwd| !cwd.starts_with('/')) {
            return Err(RpcError::invalid_params("cwd", "must be an absolute path"));
        }
        if params.front == Some(Front::Daemon) {
            return Err(RpcError::invalid_params(
                "front",
                "must be acp, mcp, shell or cli",
            ));
        }
        context.serve(&params);
        let Hello {
            client,
            front,
            cwd,
            settings,
            asks,
            session,
            tags,
            agent_pid: _,
        } = params;
        let introduction = Introduction {
            client,
            front,
            cwd,
            settings: settings.unwrap_or_default(),
            asks,
            session,
            tags,
        };
        context.set_introduction(introduction)?;
        if asks && context.speaks_for_person() {
            context.reach(&self.approvals, Reach::Front);
        }
        Ok(DaemonInfo {
            shell: self.shell.filter(|_| front == Some(Front::Shell)),
            ..self.info_for(context)
        })
    }

    fn info_for(&self, context: &ConnectionContext) -> DaemonInfo {
        let (reload_fault, reload_failed_at_ms) = self.reload_fault.get().unzip();
        DaemonInfo {
            disk: self.disk.shortage(),
            agent: context.native_owner().agent.is_some(),
            reload_fault,
            reload_failed_at_ms,
            ..self.info.clone()
        }
    }

    async fn stats(
        self: Arc<Self>,
        GetDaemonStats {}: GetDaemonStats,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<DaemonStats> {
        // An old keeper cannot say, and without a keeper the daemon is ending.
        let orphans = self.keeper.orphans().await.ok().flatten();
        let orphans = orphans.unwrap_or_default();
        let usage = self.catalog.usage();
        Ok(DaemonStats {
            terminals_running: usage.running,
            terminals_exited: usage.exited,
            connections: self.sockets.connections() as u64,
            spool_bytes: usage.spool_bytes,
            unstored_bytes: usage.unstored_bytes,
            server_rss_bytes: resident_bytes(),
            database_bytes: self.disk.database_bytes(),
            orphan_count: orphans.count.into(),
            orphans: orphans.listed.iter().map(orphan).collect(),
        })
    }
}

/// The unit whose main process the keeper is. `SYSTEMD_EXEC_PID` (systemd.exec(5)) is in the
/// environment of what a unit's process starts, too, so it counts only where it is the keeper's pid.
fn systemd_unit() -> Option<String> {
    let keeper = rustix::process::getppid()?.as_raw_nonzero();
    let main = std::env::var("SYSTEMD_EXEC_PID").ok()?;
    if main != keeper.to_string() {
        return None;
    }
    let cgroups = std::fs::read_to_string(format!("/proc/{keeper}/cgroup")).ok()?;
    unit_in(&cgroups)
}

/// The innermost service in `/proc/PID/cgroup`: the keeper may be in a cgroup of its own below it.
fn unit_in(cgroups: &str) -> Option<String> {
    let services = cgroups.split(['/', '\n']).rev();
    let unit = |name: &&str| {
        name.strip_suffix(".service")
            .is_some_and(|name| !name.is_empty())
    };
    services.into_iter().find(unit).map(str::to_owned)
}

fn orphan(orphan: &ListedProcess) -> termd_proto::daemon::Orphan {
    termd_proto::daemon::Orphan {
        pid: orphan.process.pid,
        name: String::from_utf8_lossy(&orphan.name).into_owned(),
    }
}

/// Resident memory of this process (`proc_pid_statm(5)`); 0 where it cannot be read.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|statm| statm.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_service_is_the_unit() {
        let below = "/user.slice/user-1.slice/user@1.service/app.slice";
        for (cgroups, unit) in [
            (format!("0::{below}/termd.service\n"), Some("termd.service")),
            (
                format!("0::{below}/termd.service/keeper\n"),
                Some("termd.service"),
            ),
            ("0::/user.slice/session-1.scope\n".to_owned(), None),
        ] {
            assert_eq!(unit_in(&cgroups).as_deref(), unit, "{cgroups}");
        }
    }
}
