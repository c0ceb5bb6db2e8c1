//! What is asked for, within its bounds, and what of it goes where: to the program and its
//! environment, to the audit record, to the keeper.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use nix::unistd::{Uid, User};
use serde_json::{Map, Value};
use termd_proto::Label;
use termd_proto::acp::Meta;
use termd_proto::terminal::{DEFAULT_COLS, DEFAULT_ROWS, MAX_DIMENSION, MIN_COLS, Owner, Stdio};

use super::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;
use crate::terminal::lifecycle::launch::{
    Launch, LaunchRequest, environment, inherited_environment,
};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::screen::scrollback::ScrollbackLines;
use crate::terminal::screen::size::Size;
use termd_keeper::protocol::confinement::{Confinement, Temporary};
use termd_keeper::protocol::message::SpawnRequest;
use termd_policy::{CompiledGate, Profile};

/// What programs take the place for temporary files from.
const TEMPORARY_VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];
/// Names of changed variables that an audit record lists at the most.
const MAX_AUDITED_NAMES: usize = 256;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// Who asks.
    pub owner: Owner,
    /// The program, or a shell line where `args` is empty; `None`: the user's shell.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Set on top of everything else.
    pub env: BTreeMap<String, String>,
    /// The environment to start from; `None`: the daemon's own.
    pub base_env: Option<BTreeMap<String, String>>,
    /// Absolute; `None`: the owner's default, else home.
    pub cwd: Option<PathBuf>,
    /// A name for it.
    pub label: Option<Label>,
    /// Columns.
    pub cols: Option<u16>,
    /// Rows.
    pub rows: Option<u16>,
    /// What `terminal/output` keeps, in bytes.
    pub output_byte_limit: Option<u64>,
    /// Whether it ends with the connection that asks.
    pub close_on_disconnect: bool,
    /// What its command has for standard input, output and error.
    pub stdio: Stdio,
    /// After so many milliseconds without activity it is closed.
    pub idle_timeout_ms: Option<u64>,
    /// Lines of scrollback that its screen keeps.
    pub scrollback_lines: Option<u32>,
    /// Most terminals that this client wants to have running at once.
    pub max_running: Option<u32>,
    /// Somebody has agreed to it.
    pub confirmed: bool,
    /// How whoever asks wants the gate to be.
    pub gate: Arc<CompiledGate>,
    /// Kept with it.
    pub meta: Option<Meta>,
}

impl Terminals {
    /// A size within bounds, or which param is not.
    pub fn checked_size(cols: Option<u16>, rows: Option<u16>) -> Result<Size, TerminalError> {
        let size = Size {
            cols: cols.unwrap_or(DEFAULT_COLS),
            rows: rows.unwrap_or(DEFAULT_ROWS),
        };
        let invalid = |field, lowest: u16| TerminalError::Invalid {
            field,
            problem: format!("must be {lowest} to {MAX_DIMENSION}"),
        };
        if !(MIN_COLS..=MAX_DIMENSION).contains(&size.cols) {
            return Err(invalid("cols", MIN_COLS));
        }
        if !(1..=MAX_DIMENSION).contains(&size.rows) {
            return Err(invalid("rows", 1));
        }
        Ok(size)
    }
}

/// What of a request has bounds, within them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) size: Size,
    pub(super) idle_timeout: Option<IdleTimeout>,
    pub(super) scrollback: ScrollbackLines,
}

impl Bounds {
    pub(super) fn checked(request: &CreateRequest) -> Result<Self, TerminalError> {
        let idle_timeout = request.idle_timeout_ms.map(IdleTimeout::checked);
        Ok(Self {
            size: Terminals::checked_size(request.cols, request.rows)?,
            idle_timeout: idle_timeout.transpose()?,
            scrollback: ScrollbackLines::checked(request.scrollback_lines)?,
        })
    }
}

pub(super) fn launch_request(request: &CreateRequest) -> LaunchRequest {
    let home = || {
        std::env::home_dir()
            .filter(|home| home.is_absolute())
            .unwrap_or_else(|| PathBuf::from("/"))
    };
    let base_env: BTreeMap<OsString, OsString> = match &request.base_env {
        Some(given) => given
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        None => inherited_environment(std::env::vars_os()),
    };
    LaunchRequest {
        command: request.command.clone(),
        args: request.args.clone(),
        base_env,
        env: request.env.clone(),
        cwd: request.cwd.clone().unwrap_or_else(home),
        login_shell,
    }
}

fn login_shell() -> PathBuf {
    let user = User::from_uid(Uid::current()).ok().flatten();
    user.map_or_else(|| PathBuf::from("/bin/sh"), |user| user.shell)
}

/// The request's own idle timeout, or that of its profile, whichever is shorter.
pub(super) fn shorter(asked: Option<IdleTimeout>, profile: &Profile) -> Option<IdleTimeout> {
    let profiles = profile
        .idle_timeout
        .map(|length| IdleTimeout::stored(length.ms()));
    asked
        .into_iter()
        .chain(profiles)
        .min_by_key(|timeout| timeout.ms())
}

/// The environment as the policy wants it: what is left of what is inherited, what is set, and the
/// request's own on top. What was dropped is named, and so is what was set.
pub(super) fn with_environment(
    launch: Launch,
    profile: &Profile,
    request: &CreateRequest,
    base_env: BTreeMap<OsString, OsString>,
    mut detail: Map<String, Value>,
) -> (Launch, Map<String, Value>) {
    let filtered = profile.env.apply(base_env);
    let named = |names: Vec<&String>| {
        let absent = |name: &&&String| !request.env.contains_key(**name);
        let names = names.iter().filter(absent).take(MAX_AUDITED_NAMES);
        names
            .map(|name| Value::from(name.as_str()))
            .collect::<Vec<_>>()
    };
    for (key, names) in [
        ("env_dropped", named(filtered.dropped.iter().collect())),
        ("env_set", named(filtered.set.keys().collect())),
    ] {
        if !names.is_empty() {
            detail.insert(key.to_owned(), names.into());
        }
    }
    let env = environment(filtered.env, &filtered.set, &request.env);
    (Launch { env, ..launch }, detail)
}

/// Where temporary files belong, for a command that has its own `/tmp`: what is inherited leads to
/// the host's. The request's own word stands.
pub(super) fn with_temporary(
    mut launch: Launch,
    held_to: &Confinement,
    request: &CreateRequest,
) -> Launch {
    let sandbox = held_to.sandbox.as_ref();
    if sandbox.is_some_and(|sandbox| sandbox.temporary == Temporary::Private) {
        for (name, value) in &mut launch.env {
            let name = name.to_str().unwrap_or_default();
            if TEMPORARY_VARIABLES.contains(&name) && !request.env.contains_key(name) {
                *value = OsString::from("/tmp");
            }
        }
    }
    launch
}

pub(super) fn spawn_request(
    launch: Launch,
    record: &Record,
    confinement: Confinement,
) -> SpawnRequest {
    use std::os::unix::ffi::OsStringExt;
    let variable = |(name, value): (OsString, OsString)| {
        let mut bytes = name.into_vec();
        bytes.push(b'=');
        bytes.extend(value.into_vec());
        bytes
    };
    SpawnRequest {
        id: record.id.clone(),
        program: launch.program.into_os_string().into_vec(),
        argv: launch.argv.into_iter().map(String::into_bytes).collect(),
        env: launch.env.into_iter().map(variable).collect(),
        cwd: launch.cwd.into_os_string().into_vec(),
        cols: record.cols,
        rows: record.rows,
        notes: record.to_notes(),
        stdio: record.stdio,
        confinement,
        pause: None,
    }
}

/// What the audit record says of a start: names of variables, never their values.
pub(super) fn audit_detail(request: &CreateRequest) -> Map<String, Value> {
    let argv: Vec<&str> = request
        .command
        .as_deref()
        .into_iter()
        .chain(request.args.iter().map(String::as_str))
        .collect();
    let mut detail = Map::new();
    detail.insert("argv".to_owned(), argv.into());
    let cwd = request
        .cwd
        .as_ref()
        .map(|cwd| cwd.to_string_lossy().into_owned());
    detail.insert("cwd".to_owned(), cwd.into());
    let inherited = request.base_env.iter().flatten();
    let changed =
        inherited.filter(|(name, value)| std::env::var(name).ok().as_ref() != Some(*value));
    let mut names: Vec<&str> = request
        .env
        .keys()
        .chain(changed.map(|(name, _)| name))
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MAX_AUDITED_NAMES);
    detail.insert("env".to_owned(), names.into());
    if request.stdio == Stdio::Pipes {
        detail.insert("stdio".to_owned(), "pipes".into());
    }
    if let Some(label) = &request.label {
        detail.insert("label".to_owned(), label.as_str().into());
    }
    detail
}
