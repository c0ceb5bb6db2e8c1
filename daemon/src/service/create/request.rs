//! A request for a terminal, within its bounds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{Uid, User};
use serde_json::{Map, Value};
use termd_proto::terminal::{
    CreateTerminal, DEFAULT_COLS, DEFAULT_ROWS, MAX_DIMENSION, MIN_COLS, Owner, Stdin, Stdio,
};

use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;
use crate::terminal::lifecycle::launch::{Creator, Launch, LaunchRequest, inherited_environment};
use crate::terminal::screen::scrollback::ScrollbackLines;
use crate::terminal::screen::size::Size;
use termd_policy::CompiledGate;

/// Most names of changed variables that an audit record lists.
pub(super) const MAX_AUDITED_NAMES: usize = 256;

/// A request for a terminal: what is asked for, by whom, and within which bounds.
#[derive(Debug, Clone)]
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
        Ok(Self {
            size: checked_size(request.options.cols, request.options.rows)?,
            idle_timeout: idle_timeout.transpose()?,
            scrollback: ScrollbackLines::checked(request.options.scrollback_lines)?,
        })
    }
}

impl CreateRequest {
    pub(super) fn creator(&self) -> Creator {
        match self.owner.agent() {
            Some(_) => Creator::Agent,
            None => Creator::Person,
        }
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
        if self.options.stdin == Stdin::Pipe {
            detail.insert("stdin".to_owned(), "pipe".into());
        }
        if let Some(label) = &self.options.label {
            detail.insert("label".to_owned(), label.as_str().into());
        }
        detail
    }
}

fn login_shell() -> PathBuf {
    let user = User::from_uid(Uid::current()).ok().flatten();
    user.map_or_else(|| PathBuf::from("/bin/sh"), |user| user.shell)
}
