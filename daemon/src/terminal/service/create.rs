//! Making a terminal: check, record, start, list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use nix::unistd::{Uid, User};
use serde_json::{Map, Value};
use termd_proto::acp::Meta;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{DEFAULT_COLS, DEFAULT_ROWS, MAX_DIMENSION, MIN_COLS, Owner, Stdio};
use termd_proto::{Label, Offset, TerminalId};

use super::super::activity::IdleTimeout;
use super::super::actor::Actor;
use super::super::clock::now_ms;
use super::super::commands::{ShellCommands, texts_of};
use super::super::error::{RunningLimit, TerminalError};
use super::super::flow::Flow;
use super::super::handle::Terminal;
use super::super::intake::Reading;
use super::super::launch::{
    Launch, LaunchError, LaunchRequest, environment, inherited_environment,
};
use super::super::record::{Progress, Record, ScreenState, Size};
use super::super::screen::{Screen, ScrollbackLines, as_fed_by, fresh_model};
use super::super::source::Opened;
use super::super::transcript::Transcript;
use super::confine::{told, told_of};
use super::limits::monotonic_ms;
use super::making::Held;
use super::scope::StartError;
use super::{Accepts, ClientKey, Starting, Terminals};
use crate::control::client::KeeperError;
use crate::control::confinement::{Confinement, Temporary};
use crate::control::message::{Hold, SpawnRequest, Spawned};
use crate::policy::{CompiledGate, Profile};
use crate::shell;

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
    /// Starts a command in a new terminal. Not to be dropped half-way: run it in a task.
    pub async fn create(&self, request: CreateRequest) -> Result<Arc<Terminal>, TerminalError> {
        let bounds = Bounds::checked(&request)?;
        let possible = self.inner.keeper.can_start(request.stdio);
        possible.map_err(|error| TerminalError::Invalid {
            field: "stdio",
            problem: format!("cannot be pipes: {error}"),
        })?;
        let id = random_id()?;
        let reservation = self.reserve(&id, &request)?;
        let detail = audit_detail(&request);
        if let Err(error) = self.may_create() {
            let outcome = format!("not started: {error}");
            self.audit("terminal.create", &outcome, &request.owner, None, detail)
                .await?;
            return Err(error);
        }
        let asked = launch_request(&request);
        let base_env = asked.base_env.clone();
        // It looks at directories that may be on a file system which does not answer.
        let resolved = tokio::task::spawn_blocking(|| asked.resolve());
        let launch = match resolved.await.map_err(|_| TerminalError::Stopping)? {
            Ok(launch) => launch,
            Err(error @ LaunchError::Invalid { .. }) => return Err(error.into()),
            Err(error) => {
                let outcome = format!("not started: {error}");
                self.audit("terminal.create", &outcome, &request.owner, None, detail)
                    .await?;
                return Err(error.into());
            }
        };
        let (detail, profile) = self.judge_creation(&request, &launch, detail).await?;
        let (launch, detail) = with_environment(launch, &profile, &request, base_env, detail);
        let (held, detail) = self
            .confine(&id, &launch, &profile, &request, detail)
            .await?;
        let launch = with_temporary(launch, &held.confinement, &request);
        // What is recorded is what was asked for.
        let record = Record {
            made: held.made.clone(),
            ..self.record(&id, &request, &launch, bounds, &profile)
        };
        let (launch, record) = self.with_shell_integration(launch, record)?;
        let program = launch.program.clone();
        let asked = spawn_request(launch, &record, held.confinement.clone());
        // The record is written while the command is prepared, and it runs once that is on the disk.
        let (prepared, recorded) = tokio::join!(
            self.prepare_command(asked, &profile),
            self.audit("terminal.create", "ok", &request.owner, Some(&id), detail)
        );
        let started = match (prepared, recorded) {
            (Ok(prepared), Ok(())) => self.run_prepared(prepared).await,
            (Ok(prepared), Err(error)) => {
                self.drop_prepared(prepared).await;
                return Err(error);
            }
            (Err(_), Err(error)) => return Err(error),
            (Err(error), Ok(())) => Err(error),
        };
        let (spawned, in_scope) = match started {
            Ok(started) => started,
            Err(error) => return Err(self.not_started(&record, program, error).await),
        };
        let record = Record {
            pid: spawned.process.pid,
            held_to: in_scope.added_to(told_of(record.held_to, &spawned.enforced)),
            ..record
        };
        self.record_confinement(&record).await;
        let terminal = self.begin(record, spawned).await?;
        self.watch_limits(&terminal);
        self.watch_memory(&terminal);
        held.until_the_end_of(&terminal);
        reservation.keep();
        Ok(terminal)
    }

    /// What the keeper is asked to hold it to. What cannot be is recorded and said.
    async fn confine(
        &self,
        id: &TerminalId,
        launch: &Launch,
        profile: &Profile,
        request: &CreateRequest,
        mut detail: Map<String, Value>,
    ) -> Result<(Held, Map<String, Value>), TerminalError> {
        if let Some(told) = told(profile) {
            let told = serde_json::to_value(told).unwrap_or_default();
            detail.insert("confinement".to_owned(), told);
        }
        let found = self.find_confinement(id, profile, &launch.cwd).await;
        let possible = found.and_then(|held| {
            let possible = self.inner.keeper.can_confine(&held.confinement);
            let possible = possible.map_err(|error| TerminalError::Unconfinable {
                profiles: profile.names.join(", "),
                problem: error.to_string(),
            });
            possible.map(|()| held)
        });
        match possible {
            Ok(held) => Ok((held, detail)),
            Err(error) => {
                let outcome = format!("not started: {error}");
                self.audit("terminal.create", &outcome, &request.owner, None, detail)
                    .await?;
                Err(error)
            }
        }
    }

    /// Says in the audit chain what does not hold although it was asked for. What does stands in
    /// the record of the start already: where it did not hold, there would be no start.
    async fn record_confinement(&self, record: &Record) {
        let missing = record
            .held_to
            .as_ref()
            .filter(|held_to| !held_to.missing.is_empty());
        let Some(held_to) = missing else {
            return;
        };
        let mut detail = Map::new();
        let told = serde_json::to_value(held_to).unwrap_or_default();
        detail.insert("confinement".to_owned(), told);
        let (owner, id) = (&record.owner, Some(&record.id));
        let recorded = self.audit("terminal.confined", "in part", owner, id, detail);
        if let Err(error) = recorded.await {
            tracing::error!(terminal = %record.id, %error, "cannot record what does not hold");
        }
    }

    /// Where it is an interactive shell, it is started so that it tells of its commands.
    fn with_shell_integration(
        &self,
        launch: Launch,
        record: Record,
    ) -> Result<(Launch, Record), TerminalError> {
        let (mut launch, mut record) = (launch, record);
        if let Some(files) = &self.inner.options.shell
            && record.stdio == Stdio::Pty
            && shell::is_wanted(record.meta.as_ref())
        {
            record.shell_nonce = shell::integrate(files, &mut launch.argv, &mut launch.env)?;
        }
        Ok((launch, record))
    }

    async fn begin(
        &self,
        record: Record,
        spawned: Spawned,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let id = record.id.clone();
        let size = record.first_size();
        let Opened {
            source,
            intake,
            spool,
            origins,
        } = Opened::adopt(spawned.fds)?;
        let window = self.window(record.output_byte_limit);
        let flow = Flow::resume(
            Offset::ZERO,
            Offset::ZERO,
            Offset::ZERO,
            window,
            Instant::now(),
        );
        let progress = Progress {
            end: Offset::ZERO,
            size,
            screen: ScreenState::still(0),
            exit: None,
            released_at_ms: None,
            closed_at_ms: None,
            close_cause: None,
            end_cause: None,
        };
        let model = fresh_model(size, record.scrollback);
        let screen = Screen::new(as_fed_by(record.stdio, model));
        let store = self.inner.store.clone();
        let transcript = Transcript::live(id.clone(), spool, origins, store);
        let (terminal, ends) = Terminal::new(record, transcript, screen, progress);
        let disk = self.disk_share(&terminal, None);
        let around = self.surroundings();
        let commands = ShellCommands::new(texts_of(&terminal.record));
        let reading = Reading::new(intake, Arc::clone(&terminal), commands, Vec::new());
        let of = Arc::clone(&terminal);
        let actor = Actor::new(of, around, ends, source, reading, flow, disk);
        self.inner.store.put_terminal(terminal.row()).await?;
        self.start(Arc::clone(&terminal), actor);
        let _ = self.inner.events.send(TerminalEvent::Created { id });
        Ok(terminal)
    }

    /// Says in the audit chain that a recorded start did not come about.
    async fn not_started(
        &self,
        record: &Record,
        command: PathBuf,
        error: StartError,
    ) -> TerminalError {
        let outcome = format!("not started: {error}");
        let actor = &record.owner;
        let recorded = self
            .audit(
                "terminal.exit",
                &outcome,
                actor,
                Some(&record.id),
                Map::new(),
            )
            .await;
        if let Err(error) = recorded {
            tracing::error!(%error, "cannot record that a command did not start");
        }
        match error {
            StartError::Keeper(KeeperError::Spawn(failure)) => {
                TerminalError::Spawn { command, failure }
            }
            StartError::Keeper(other) => other.into(),
            StartError::Scope { wall, problem } => {
                let held_to = record.held_to.as_ref();
                TerminalError::NoScope {
                    profiles: held_to.map_or_else(String::new, |told| told.profiles.join(", ")),
                    wall,
                    problem,
                }
            }
        }
    }

    fn record(
        &self,
        id: &TerminalId,
        request: &CreateRequest,
        launch: &Launch,
        bounds: Bounds,
        profile: &Profile,
    ) -> Record {
        let spool = &self.inner.options.spool;
        let limit = request
            .output_byte_limit
            .unwrap_or(spool.default_window_bytes);
        Record {
            id: id.clone(),
            label: request.label.clone(),
            argv: launch.argv.clone(),
            cwd: launch.cwd.to_string_lossy().into_owned(),
            pid: 0,
            owner: request.owner.clone(),
            created_at_ms: now_ms(),
            cols: bounds.size.cols,
            rows: bounds.size.rows,
            output_byte_limit: limit.min(spool.max_window_bytes),
            close_on_disconnect: request.close_on_disconnect,
            idle_timeout: shorter(bounds.idle_timeout, profile),
            held_to: told(profile),
            made: Vec::new(),
            deadline_ms: profile.timeout.map(|timeout| monotonic_ms() + timeout.ms()),
            scrollback: bounds.scrollback,
            stdio: request.stdio,
            meta: request.meta.clone(),
            shell_nonce: None,
        }
    }

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

    fn tell_of_too_many(&self, limit: RunningLimit, pid: i32) {
        let (name, value) = (limit.name(), limit.value());
        tracing::warn!(pid, limit = name, value, "no more terminals are started");
        let _ = self.inner.events.send(TerminalEvent::PeerLimitReached {
            pid: Some(pid),
            limit: name.to_owned(),
            value: u64::try_from(value).unwrap_or(u64::MAX),
        });
    }

    fn reserve<'a>(
        &'a self,
        id: &TerminalId,
        request: &CreateRequest,
    ) -> Result<Reservation<'a>, TerminalError> {
        let (label, client) = (request.label.as_ref(), ClientKey::from(&request.owner));
        let mut index = self.index();
        if index.accepts == Accepts::No {
            return Err(TerminalError::Stopping);
        }
        if let Some(limit) = index.limit_reached_by(&client, self.inner.options.max_running) {
            if !std::mem::replace(&mut index.is_full_told, true) {
                self.tell_of_too_many(limit, client.pid);
            }
            return Err(TerminalError::TooMany(limit));
        }
        index.is_full_told = false;
        if let Some(max_running) = request.max_running
            && index.running_of(|of| *of == client) >= max_running as usize
        {
            return Err(TerminalError::TooManyOfClient { max_running });
        }
        if let Some(label) = label {
            if index.labels.contains_key(label) {
                return Err(TerminalError::LabelTaken(label.clone()));
            }
            index.labels.insert(label.clone(), id.clone());
        }
        index.running += 1;
        let starting = Starting {
            client,
            reaped: None,
        };
        index.starting.insert(id.clone(), starting);
        Ok(Reservation {
            terminals: self,
            id: id.clone(),
            label: label.cloned(),
            kept: false,
        })
    }
}

/// What of a request has bounds, within them.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    size: Size,
    idle_timeout: Option<IdleTimeout>,
    scrollback: ScrollbackLines,
}

impl Bounds {
    fn checked(request: &CreateRequest) -> Result<Self, TerminalError> {
        let idle_timeout = request.idle_timeout_ms.map(IdleTimeout::checked);
        Ok(Self {
            size: Terminals::checked_size(request.cols, request.rows)?,
            idle_timeout: idle_timeout.transpose()?,
            scrollback: ScrollbackLines::checked(request.scrollback_lines)?,
        })
    }
}

/// A place among the running terminals, and a label; both are given back unless kept.
struct Reservation<'a> {
    terminals: &'a Terminals,
    id: TerminalId,
    label: Option<Label>,
    kept: bool,
}

impl Reservation<'_> {
    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut index = self.terminals.index();
        index.starting.remove(&self.id);
        index.running = index.running.saturating_sub(1);
        if let Some(label) = &self.label {
            index.labels.remove(label);
        }
    }
}

fn random_id() -> Result<TerminalId, TerminalError> {
    Ok(TerminalId::from_random(random_bits()?))
}

/// By getrandom(2).
pub(super) fn random_bits() -> Result<u64, TerminalError> {
    let mut bits = [0; 8];
    rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)?;
    Ok(u64::from_ne_bytes(bits))
}

fn launch_request(request: &CreateRequest) -> LaunchRequest {
    let user = User::from_uid(Uid::current()).ok().flatten();
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
        login_shell: user.map_or_else(|| PathBuf::from("/bin/sh"), |user| user.shell),
    }
}

/// The request's own idle timeout, or that of its profile, whichever is shorter.
fn shorter(asked: Option<IdleTimeout>, profile: &Profile) -> Option<IdleTimeout> {
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
fn with_environment(
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
fn with_temporary(mut launch: Launch, held_to: &Confinement, request: &CreateRequest) -> Launch {
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

fn spawn_request(launch: Launch, record: &Record, confinement: Confinement) -> SpawnRequest {
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
        hold: Hold::No,
    }
}

/// What the audit record says of a start: names of variables, never their values.
fn audit_detail(request: &CreateRequest) -> Map<String, Value> {
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
