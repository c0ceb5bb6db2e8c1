//! What is known of a terminal: whose it is, where it is in its life, all of it.

use serde::{Deserialize, Serialize};

use super::{
    AttachMode, CloseCause, Confinement, EndCause, ExitStatus, Front, Gap, GapCause, Stdio,
};
use crate::acp::Meta;
use crate::attention::Attention;
use crate::id::{Label, Offset, TerminalId};
use crate::tag::Tags;

/// Who asked for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Through which front.
    pub front: Front,
    /// The peer's user id (`SO_PEERCRED`).
    pub uid: u32,
    /// The peer's process id (`SO_PEERCRED`).
    pub pid: i32,
    /// The peer's executable, where it could be read.
    pub exe: Option<String>,
    /// The ACP `sessionId`.
    pub session: Option<String>,
    /// The client's name, as it introduced itself.
    pub client: Option<String>,
    /// The agent that the process belongs to. Absent: it is a person's, as far as can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<Agent>>,
    /// The terminal that the process worked in when it connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalId>,
}

/// An agent, by the process from which all of its processes descend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The front that the agent uses.
    pub front: Front,
    /// The name of its client, as the client introduced itself.
    pub client: Option<String>,
    /// The process id.
    pub pid: i32,
    /// The start of the process, in clock ticks since boot (`proc_pid_stat(5)`, field 22). The pid
    /// alone may come to mean another process.
    pub started: u64,
    /// The other fronts and names by which its processes come. Rules for any of them hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
}

/// A front that an agent uses, and the name of the client there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The front.
    pub front: Front,
    /// The name, as the client introduced itself.
    pub client: Option<String>,
}

impl Agent {
    /// Most aliases of an agent.
    pub const MAX_ALIASES: usize = 8;

    /// Whether both are the same process.
    pub fn is_same_process(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    /// Adds a front and a name. False: the agent has them, or has too many.
    pub fn add_alias(&mut self, front: Front, client: Option<&str>) -> bool {
        let is_known = self.names().any(|name| name == (front, client));
        let is_new = !is_known && self.aliases.len() < Self::MAX_ALIASES;
        if is_new {
            let client = client.map(str::to_owned);
            self.aliases.push(Alias { front, client });
        }
        is_new
    }

    /// Adds the fronts and names of another agent, to which the same processes belong.
    pub fn add_aliases_of(&mut self, other: &Self) -> bool {
        let names = other.names();
        names.fold(false, |added, (front, client)| {
            self.add_alias(front, client) || added
        })
    }

    /// Its fronts, each with the name of the client there.
    pub fn names(&self) -> impl Iterator<Item = (Front, Option<&str>)> {
        let aliases = self.aliases.iter();
        let aliases = aliases.map(|alias| (alias.front, alias.client.as_deref()));
        std::iter::once((self.front, self.client.as_deref())).chain(aliases)
    }
}

impl Owner {
    /// The agent that the process belongs to. A record of an older server names only the front.
    pub fn agent(&self) -> Option<Agent> {
        let is_agents_front = self.front.is_agents();
        self.agent.as_deref().cloned().or_else(|| {
            is_agents_front.then(|| Agent {
                front: self.front,
                client: self.client.clone(),
                pid: self.pid,
                started: 0,
                aliases: Vec::new(),
            })
        })
    }

    /// The fronts and names that policies judge by, and rules for any of them hold: those of the
    /// agent, through whatever front its process comes. What a front of an agent's says of itself is
    /// the first.
    pub fn names(&self) -> impl Iterator<Item = (Front, Option<&str>)> {
        let is_agents_front = self.front.is_agents();
        let own = (self.front, self.client.as_deref());
        let says = (is_agents_front || self.agent.is_none()).then_some(own);
        let known = self.agent.iter().flat_map(|agent| agent.names());
        says.into_iter()
            .chain(known.filter(move |name| says != Some(*name)))
    }

    /// The first of its [`names`](Self::names).
    pub fn judged_as(&self) -> (Front, Option<&str>) {
        let mut names = self.names();
        names.next().unwrap_or((self.front, self.client.as_deref()))
    }
}

/// Where a terminal is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalState {
    /// Its command runs, or its output is not all read yet.
    Running,
    /// Its command was reaped and its output drained.
    Exited,
    /// It was closed or released: only its record is left.
    Closed,
}

impl TerminalState {
    /// The word for it in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited => "exited",
            Self::Closed => "closed",
        }
    }
}

/// All that is known of one terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TerminalInfo {
    /// Its id.
    pub id: TerminalId,
    /// Its label, if it was given one.
    pub label: Option<Label>,
    /// The words that group it with others.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// The program and its arguments, as run.
    pub argv: Vec<String>,
    /// The line that an agent asked its shell to run, without what the agent writes around it; absent:
    /// the argv is what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_line: Option<String>,
    /// The directory it was started in.
    pub cwd: String,
    /// The command's process id; of no use once it has exited.
    pub pid: i32,
    /// Where it is in its life.
    pub state: TerminalState,
    /// What it wants of a person; absent once it is closed, and for a moment after its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention: Option<Attention>,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Who asked for it.
    pub owner: Owner,
    /// When it was started.
    pub created_at_ms: i64,
    /// When its exit was known and its output drained.
    pub exited_at_ms: Option<i64>,
    /// When it was imported from a recording that was made elsewhere; absent: it ran in this daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at_ms: Option<i64>,
    /// When it was closed. The exit of a command that ran then is later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at_ms: Option<i64>,
    /// Output before this offset is gone (retention).
    pub start: Offset,
    /// The offset after the last byte of output so far.
    pub end: Offset,
    /// Output after `start` that is not kept, in order. Of terminals that have ended only
    /// `session.show` tells it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many bytes of output `terminal/output` keeps.
    pub output_byte_limit: u64,
    /// What its command has for standard input, output and error.
    #[serde(default)]
    pub stdio: Stdio,
    /// When something was last printed, typed, read or attached to.
    #[serde(default)]
    pub last_activity_ms: i64,
    /// When a person last looked at it; absent: never. Now, while one is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at_ms: Option<i64>,
    /// It is closed after this many milliseconds without activity; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// Why it was closed, where no client asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_cause: Option<CloseCause>,
    /// The limit that ended its command, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<EndCause>,
    /// Who is attached to it, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub viewers: Vec<Viewer>,
    /// What its command is held to; absent: to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// The `_meta` that it was created with.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl TerminalInfo {
    /// All output that is not kept, in order: what went first, before `start`, and the `gaps`.
    pub fn not_kept(&self) -> Vec<Gap> {
        let of_beginning = Gap {
            start: Offset::ZERO,
            end: self.start,
            cause: GapCause::Retention,
        };
        let is_named = |gap: &Gap| gap.start == Offset::ZERO;
        let is_known = self.start == Offset::ZERO || self.gaps.iter().any(is_named);
        let of_beginning = (!is_known).then_some(of_beginning);
        of_beginning.iter().chain(&self.gaps).copied().collect()
    }
}

/// Somebody who is attached to a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    /// Who.
    pub by: Owner,
    /// Whether it types, too.
    pub mode: AttachMode,
    /// The columns of its tty; absent: the terminal does not follow its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cols: Option<u16>,
    /// The rows of its tty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u16>,
}

/// One page of `session.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TerminalPage {
    /// Oldest first.
    pub terminals: Vec<TerminalInfo>,
    /// Give it back to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
}

/// Which terminals `session.list` lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListScope {
    /// Those that are not closed.
    #[default]
    Open,
    /// Those whose command runs.
    Running,
    /// All that the database knows, closed ones too.
    All,
}
