//! A request for a terminal, within its bounds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{Uid, User};
use serde_json::{Map, Value, json};
use termd_proto::terminal::{
    Children, CreateTerminal, DEFAULT_COLS, DEFAULT_ROWS, Front, Inherited, MAX_DIMENSION,
    MAX_INHERITED_FD, MIN_COLS, Owner, Stderr, Stdin, Stdio,
};

use super::stdin_file::{StdinUse, line_with_stdin};
use crate::config::AgentsConfig;
use crate::keeper_client::SharedFds;
use crate::service::namer::{refuse_token, refuse_tokens};
use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;
use crate::terminal::lifecycle::launch::{Creator, Launch, LaunchRequest, inherited_environment};
use crate::terminal::screen::scrollback::ScrollbackLines;
use crate::terminal::screen::size::Size;
use termd_policy::program::is_shell_of_stdin;
use termd_policy::{CompiledGate, agent_line, command_text};
use tokio::sync::OwnedSemaphorePermit;

/// Most names of changed variables that an audit record lists.
pub(super) const MAX_AUDITED_NAMES: usize = 256;

/// The last signal number (signal(7)).
const MAX_SIGNAL: i32 = 64;
/// The number of limits that a process has (getrlimit(2)).
const MAX_LIMITS: usize = 16;

/// A request for a terminal: what is asked for, by whom, and within which bounds.
#[derive(Debug)]
pub(crate) struct CreateRequest {
    /// What to start, and how. `cwd` is the connection's default where the call named none.
    pub(crate) options: CreateTerminal,
    /// Who asks.
    pub(crate) owner: Owner,
    /// Most terminals that this client wants to have running at once.
    pub(crate) max_running: Option<u32>,
    /// What the connection has set for the gate.
    pub(crate) gate: Arc<CompiledGate>,
    /// Whether the client can ask its person.
    pub(crate) asks: bool,
    /// The process of the agent that the client serves: the pid, and the start in clock ticks since boot.
    pub(crate) agent_process: Option<(i32, u64)>,
    /// The descriptors that came beside the call.
    pub(crate) fds: SharedFds,
    /// The client's turn to have a command checked, until it is.
    pub(crate) turn: Option<OwnedSemaphorePermit>,
}

/// Checks a requested size. A missing dimension is the default one.
pub(crate) fn checked_size(cols: Option<u16>, rows: Option<u16>) -> Result<Size, TerminalError> {
    let size = Size {
        cols: cols.unwrap_or(DEFAULT_COLS),
        rows: rows.unwrap_or(DEFAULT_ROWS),
    };
    let invalid = |field, min: u16| TerminalError::Invalid {
        field,
        problem: format!("must be {min} to {MAX_DIMENSION}"),
    };
    if !(MIN_COLS..=MAX_DIMENSION).contains(&size.cols) {
        return Err(invalid("cols", MIN_COLS));
    }
    if !(1..=MAX_DIMENSION).contains(&size.rows) {
        return Err(invalid("rows", 1));
    }
    Ok(size)
}

/// The values of a request that have bounds, within them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) size: Size,
    pub(super) idle_timeout: Option<IdleTimeout>,
    pub(super) scrollback: ScrollbackLines,
}

impl Bounds {
    pub(super) fn checked(request: &CreateRequest) -> Result<Self, TerminalError> {
        let idle_timeout = request.options.idle_timeout_ms.map(IdleTimeout::checked);
        check_inherited(request)?;
        if let Some(label) = &request.options.label {
            refuse_token("label", label.as_str())?;
        }
        refuse_tokens("tags", &request.options.tags)?;
        Ok(Self {
            size: checked_size(request.options.cols, request.options.rows)?,
            idle_timeout: idle_timeout.transpose()?,
            scrollback: ScrollbackLines::checked(request.options.scrollback_lines)?,
        })
    }
}

/// Checks what a command is to take over from the process that requests it.
fn check_inherited(request: &CreateRequest) -> Result<(), TerminalError> {
    let options = &request.options;
    let invalid = |field, problem: &str| {
        let problem = problem.to_owned();
        Err(TerminalError::Invalid { field, problem })
    };
    if options.children.is_some() && request.owner.front != Front::Shell {
        return invalid("children", "is only for the front shell");
    }
    if options.stderr == Stderr::Stdout && options.stdio != Stdio::Pipes {
        return invalid("stderr", "can be changed only where `stdio` is \"pipes\"");
    }
    let nothing = Inherited::default();
    let inherited = options.inherited.as_ref().unwrap_or(&nothing);
    if inherited.fds.len() != request.fds.len() {
        return invalid(
            "inherited",
            "numbers other descriptors than those that were sent",
        );
    }
    let mut numbers = inherited.fds.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let is_possible = |&number: &i32| number == 0 || (3..=MAX_INHERITED_FD).contains(&number);
    if numbers.len() != inherited.fds.len() || !numbers.iter().all(is_possible) {
        return invalid(
            "inherited",
            "needs descriptors of numbers 0 and 3 to 199, each once",
        );
    }
    if numbers.contains(&0) != (options.stdin == Stdin::Inherited) {
        return invalid(
            "stdin",
            "is \"inherited\" where descriptor 0 is, and only there",
        );
    }
    let signals = &inherited.ignored_signals;
    let mut signals = signals.iter().chain(&inherited.blocked_signals);
    if !signals.all(|signal| (1..=MAX_SIGNAL).contains(signal)) {
        return invalid("inherited", "names a signal that there is not");
    }
    if inherited.limits.len() > MAX_LIMITS {
        return invalid("inherited", "has more limits than there are");
    }
    Ok(())
}

/// The argv with the program that is executed: `argv[0]` is what the caller says that it is.
fn executed_argv(launch: &Launch) -> Option<Vec<String>> {
    let program = launch.program.to_str()?.to_owned();
    let arguments = launch.argv.iter().skip(1).cloned();
    Some(std::iter::once(program).chain(arguments).collect())
}

impl CreateRequest {
    /// How long what the command starts may outlive it; `None`: as long as the terminal is open.
    pub(super) fn children(&self, agents: &AgentsConfig) -> Option<Children> {
        let is_shell = self.owner.front == Front::Shell;
        let configured = || agents.children_of(self.owner.client.as_deref());
        is_shell.then(|| self.options.children.unwrap_or_else(configured))
    }

    pub(super) fn creator(&self) -> Creator {
        Creator::of(self.owner.front, self.owner.agent().as_ref())
    }

    /// What is to be executed, before the file system is asked.
    pub(super) fn launch_request(&self) -> LaunchRequest {
        let home = || {
            std::env::home_dir()
                .filter(|home| home.is_absolute())
                .unwrap_or_else(|| PathBuf::from("/"))
        };
        let base_env: BTreeMap<OsString, OsString> = match &self.options.base_env {
            Some(given) => given
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            None => inherited_environment(std::env::vars_os()),
        };
        LaunchRequest {
            command: self.options.command.clone(),
            args: self.options.args.clone(),
            base_env,
            env: self.options.env.clone(),
            creator: self.creator(),
            cwd: self.options.cwd.as_ref().map_or_else(home, PathBuf::from),
            login_shell,
        }
    }

    /// The shell line as it was given, where `launch` puts a shell of ours before it.
    pub(super) fn shell_line(&self, launch: &Launch) -> Option<&str> {
        self.options
            .command
            .as_deref()
            .filter(|line| launch.argv.get(1..) == Some(&["-c".to_owned(), (*line).to_owned()]))
            .filter(|_| self.options.args.is_empty())
    }

    /// The line that does what an agent's shell would do that has a file for standard input.
    pub(super) fn line_with_stdin(&self, launch: &Launch) -> Option<String> {
        let numbers = self.options.inherited.iter();
        let mut numbers = numbers.flat_map(|inherited| &inherited.fds);
        let stdin = self.fds.get(numbers.position(|number| *number == 0)?)?;
        let argv = executed_argv(launch)?;
        let used = if is_shell_of_stdin(&argv) {
            StdinUse::Script
        } else {
            StdinUse::Input
        };
        let is_shells = self.owner.front == Front::Shell;
        is_shells.then(|| line_with_stdin(&command_text(&argv), stdin.as_fd(), used))?
    }

    /// The line that an agent asks its shell to run.
    pub(super) fn agent_line(&self, launch: &Launch) -> Option<String> {
        if self.owner.front != Front::Shell {
            return None;
        }
        agent_line(&executed_argv(launch)?)
    }

    /// What the audit record says of the request: names of variables, never their values.
    pub(super) fn audit_detail(&self) -> Map<String, Value> {
        let command = self.options.command.iter();
        let argv: Vec<&str> = command
            .chain(&self.options.args)
            .map(String::as_str)
            .collect();
        let cwd = self.options.cwd.clone();
        let inherited = self.options.base_env.iter().flatten();
        let changed =
            inherited.filter(|(name, value)| std::env::var(name).ok().as_ref() != Some(*value));
        let names = self.options.env.keys().chain(changed.map(|(name, _)| name));
        let mut names: Vec<&str> = names.map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(MAX_AUDITED_NAMES);
        let mut detail = Map::new();
        detail.insert("argv".to_owned(), argv.into());
        detail.insert("cwd".to_owned(), cwd.into());
        detail.insert("env".to_owned(), names.into());
        if self.options.stdio == Stdio::Pipes {
            detail.insert("stdio".to_owned(), "pipes".into());
        }
        match self.options.stdin {
            Stdin::Null => {}
            Stdin::Pipe => _ = detail.insert("stdin".to_owned(), "pipe".into()),
            Stdin::Inherited => _ = detail.insert("stdin".to_owned(), "inherited".into()),
        }
        if let Some(label) = &self.options.label {
            detail.insert("label".to_owned(), label.as_str().into());
        }
        if !self.options.tags.is_empty() {
            detail.insert("tags".to_owned(), json!(self.options.tags));
        }
        detail
    }
}

fn login_shell() -> PathBuf {
    let user = User::from_uid(Uid::current()).ok().flatten();
    user.map_or_else(|| PathBuf::from("/bin/sh"), |user| user.shell)
}
