//! `daemon.*`: the daemon itself.

use serde::{Deserialize, Serialize};

use crate::policy::GateSettings;
use crate::shell::ShellOutput;
use crate::tag::Tags;
use crate::terminal::Front;

/// The native API's version: raised when a client of an older one would be misled.
pub const API_VERSION: u32 = 1;

/// How a client wants the daemon to treat what it does; holds for its connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientSettings {
    /// Most terminals that this client process may have running at once (those it created and
    /// whose command runs; the process is the connection's peer pid); absent: the daemon's limit alone.
    pub max_running: Option<u32>,
    /// How the gate is to be.
    pub gate: GateSettings,
}

/// Answer to `daemon.hello` and `daemon.info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonInfo {
    /// The server's version.
    pub version: String,
    /// [`API_VERSION`] of the server.
    pub api_version: u32,
    /// The keeper's process id: the main PID, the one to signal.
    pub keeper_pid: i32,
    /// The server's process id; it changes when the server is replaced.
    pub server_pid: i32,
    /// When this server started.
    pub server_started_at_ms: i64,
    /// The socket's path.
    pub socket: String,
    /// The database's path.
    pub database: String,
    /// Why config.toml is not in force, with its line: what it said before is. Absent: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_fault: Option<String>,
    /// The same of approved.toml, beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_fault: Option<String>,
    /// Why the program on disk was not taken at the last reload: the server before it goes on. Absent:
    /// it was taken, or no reload was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reload_fault: Option<String>,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reload_failed_at_ms: Option<i64>,
    /// The unit of systemd whose main process the keeper is. Absent: a client or a person started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What the disk of the database lacks. Absent: it has room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskShortage>,
    /// Whether the connection counts as an agent's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// How an agent's shell is to show output. Only in the answer to the hello of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellOutput>,
}

/// Too little space on the disk of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskShortage {
    /// How little it is, and what is refused for it.
    pub kind: DiskShortageKind,
    /// Free bytes, as of the last look: every few seconds.
    pub free: u64,
    /// `store.free_floor` in bytes, where there is a floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<u64>,
}

/// How little space there is. Reading, and ending what runs, work with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskShortageKind {
    /// Less than the floor: nothing new is run, and what programs print is kept in part.
    BelowFloor,
    /// None for output: nothing new is run, and programs that print much wait.
    OutputWaits,
    /// None for records: nothing is run, nothing but control keys typed, and no file written.
    Full,
}

/// Answer to `daemon.stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStats {
    /// Terminals whose command runs.
    pub terminals_running: u64,
    /// Terminals that have exited and are not closed.
    pub terminals_exited: u64,
    /// Connections now.
    pub connections: u64,
    /// Bytes of output held in spools.
    pub spool_bytes: u64,
    /// Bytes of output that are not in the database yet.
    pub unstored_bytes: u64,
    /// Resident memory of the server, in bytes.
    pub server_rss_bytes: u64,
    /// Size of the database with its write-ahead log, in bytes.
    pub database_bytes: u64,
    /// Processes that terminals have left behind and that no terminal is known for. They end with the
    /// daemon.
    #[serde(default)]
    pub orphan_count: u64,
    /// The first of them, by pid; at most 64.
    #[serde(default)]
    pub orphans: Vec<Orphan>,
}

/// A process that no terminal is known for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orphan {
    /// Its pid.
    pub pid: i32,
    /// Its name (`proc_pid_comm(5)`), at most 15 bytes, as the process chose it.
    pub name: String,
}

/// Params of `daemon.hello`: a client introduces itself. Said again, it replaces what was said
/// before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its name, which stands in the audit records of what it does.
    pub client: Option<String>,
    /// The front that owns what it creates.
    pub front: Option<Front>,
    /// Where its terminals start by default, absolute.
    pub cwd: Option<String>,
    /// How it wants to be treated.
    pub settings: Option<ClientSettings>,
    /// The process of the agent that it serves: its own or its parent's, of an agent's shell any that
    /// it descends from. What that process has started counts as the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_pid: Option<i32>,
    /// Whether it can ask its person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// The agent's session, by the agent's own name for it. Only of an agent's shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Tags of each terminal that it creates.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
}

/// Params of `daemon.info`: which daemon this is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetDaemonInfo {}

/// Params of `daemon.stats`: what the daemon holds now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetDaemonStats {}
