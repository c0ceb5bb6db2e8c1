//! Creating a terminal: check, record, start.

mod environment;
mod preflight;
mod request;
mod spawn_request;
mod starter;
mod stdin_file;
mod variables;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use termd_keeper::protocol::message::{SpawnFailure, SpawnStep};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{Owner, Stdio};
use termd_proto::{Label, Offset, TerminalId};
use tokio::sync::broadcast;

use self::environment::{secrets_of, with_policy, with_temporary};
use self::preflight::{AllowedCommand, Finding};
use self::request::Bounds;
use self::spawn_request::spawn_request;
use self::starter::StartError;
use super::audit_log::AuditLog;
use super::disk::Disk;
use super::random::random_bits;
use super::registry::{Registry, Reservation};
use super::sandbox::{SandboxLease, recorded, requested, with_enforced};
use super::tasks::{NewTask, TerminalTasks};
use crate::askpass::Askpass;
use crate::clock::{boottime_ms, monotonic_ms, now_ms};
use crate::config::{AgentsConfig, SpoolConfig};
use crate::keeper_client::KeeperError;
use crate::shell::{self, ShellFiles};
use crate::store::{AuditAction, AuditOutcome, BlockPermit, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::idle_timeout::IdleTimeout;
use crate::terminal::lifecycle::launch::{Launch, LaunchError};
use crate::terminal::lifecycle::progress::{Progress, ScreenState};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::arrival_log::ArrivalLog;
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::shell_commands::{ShellCommands, Trust};
use crate::terminal::output::source::Opened;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::{Screen, new_model};
use termd_keeper::protocol::message::Spawned;
use termd_policy::Profile;

pub(crate) use self::preflight::Preflight;
pub(crate) use self::request::{CreateRequest, checked_size};
pub(crate) use self::starter::Starter;

/// Closes the terminal that has the label of a new one.
pub(crate) type VacateLabel = Pin<Box<dyn Future<Output = Result<(), TerminalError>> + Send>>;

/// What a creator works with.
#[derive(Debug)]
pub(crate) struct Creator {
    pub(crate) registry: Arc<Registry>,
    pub(crate) disk: Arc<Disk>,
    pub(crate) preflight: Preflight,
    pub(crate) starter: Starter,
    pub(crate) tasks: Arc<TerminalTasks>,
    pub(crate) audit: AuditLog,
    pub(crate) store: Store,
    pub(crate) events: broadcast::Sender<TerminalEvent>,
    pub(crate) spool: SpoolConfig,
    pub(crate) agents: AgentsConfig,
    /// The scripts of shell integration; `None` where it is switched off.
    pub(crate) shell: Option<ShellFiles>,
    /// What asks for passwords; `None` where it is switched off.
    pub(crate) askpass: Option<Askpass>,
}

impl Creator {
    /// Starts a command in a new terminal. With `vacate` its label may be another one's, which is closed
    /// right before the start. Must not be dropped half-way: run it in a task.
    pub(crate) async fn create(
        &self,
        mut request: CreateRequest,
        vacate: Option<VacateLabel>,
    ) -> Result<Arc<Terminal>, TerminalError> {
        if let (Some(askpass), Some(env)) = (&self.askpass, &mut request.options.base_env) {
            askpass.take_from(env);
        }
        let bounds = Bounds::checked(&request)?;
        self.starter.check_stdio(&request.options)?;
        let id = TerminalId::from_random(random_bits()?);
        let (options, owner) = (&request.options, &request.owner);
        let mut reservation = self
            .registry
            .reserve(&id, owner, options, request.max_running)?;
        if let (None, Some(label)) = (&vacate, &options.label) {
            reservation.take_label(label)?;
        }
        let mut detail = request.audit_detail();
        if let Err(error) = self.disk.check_room() {
            return Err(self.not_started(&request.owner, detail, error).await);
        }
        let (request, finding) = self.preflight.check(&id, request).await?;
        let owner = &request.owner;
        let allowed = match finding {
            Finding::Allowed(allowed) => *allowed,
            Finding::Refused(ruling, more) => {
                detail.extend(more);
                self.record_create(ruling.outcome(), owner, None, detail)
                    .await?;
                return Err(ruling.into_error());
            }
            Finding::NotFound(error @ LaunchError::Invalid { .. }) => return Err(error.into()),
            Finding::NotFound(error) => {
                return Err(self.not_started(owner, detail, error.into()).await);
            }
        };
        let AllowedCommand {
            launch,
            agent_line,
            base_env,
            profile,
            lease,
            detail: more,
        } = allowed;
        detail.extend(more);
        let launch = with_policy(launch, &profile, &request, base_env, &mut detail);
        if let Some(requested) = requested(&profile) {
            detail.insert("confinement".to_owned(), recorded(&requested));
        }
        let lease = match self.check_lease(lease, &profile) {
            Ok(lease) => lease,
            Err(error) => return Err(self.not_started(owner, detail, error).await),
        };
        let launch = with_temporary(launch, &lease.confinement, &request);
        // What is recorded is what was asked for, without shell integration.
        let record = Record {
            agent_line,
            made: lease.paths.clone(),
            workspace: lease.workspace.clone(),
            ..self.terminal_record(&id, &request, &launch, bounds, &profile)
        };
        let (mut launch, record) = self.with_shell_integration(launch, record)?;
        if let Some(askpass) = self
            .askpass
            .as_ref()
            .filter(|_| request.creator().is_agents())
        {
            askpass.add_to(&mut launch.env);
        }
        let row = match self.disk.reserve_row().await {
            Ok(row) => row,
            Err(error) => return Err(self.not_started(owner, detail, error).await),
        };
        if let (Some(vacate), Some(label)) = (vacate, &record.label)
            && let Err(error) = take_label(&mut reservation, label, vacate).await
        {
            return Err(self.not_started(owner, detail, error).await);
        }
        let program = launch.program.clone();
        let spawn = spawn_request(launch, &record, &request, lease.confinement.clone());
        let recorded = self.record_create(AuditOutcome::Ok, owner, Some(&id), detail);
        let on_fork = |pid| reservation.set_pid(pid);
        let started = self.starter.start(recorded, spawn, &profile, on_fork).await;
        let (spawned, scope) = match started {
            Ok(started) => started,
            Err(error) => return Err(self.not_executed(&record, program, error).await),
        };
        let record = Record {
            pid: spawned.process.pid,
            held_to: scope.added_to(with_enforced(record.held_to, &spawned.enforced)),
            ..record
        };
        self.record_missing(&record).await;
        let terminal = self.begin(record, spawned, row)?;
        lease.keep_until_exit(&terminal);
        reservation.keep();
        Ok(terminal)
    }

    async fn record_create(
        &self,
        outcome: AuditOutcome,
        owner: &Owner,
        id: Option<&TerminalId>,
        detail: Map<String, Value>,
    ) -> Result<(), TerminalError> {
        let action = AuditAction::TerminalCreate;
        self.audit.record(action, outcome, owner, id, detail).await
    }

    /// Records that a command is not started. Returns the error for the caller.
    async fn not_started(
        &self,
        owner: &Owner,
        detail: Map<String, Value>,
        error: TerminalError,
    ) -> TerminalError {
        let outcome = AuditOutcome::NotStarted(error.to_string());
        let recorded = self.record_create(outcome, owner, None, detail).await;
        recorded.err().unwrap_or(error)
    }

    /// Records that a recorded start did not come about. Returns the error for the caller.
    async fn not_executed(
        &self,
        record: &Record,
        command: PathBuf,
        error: StartError,
    ) -> TerminalError {
        let outcome = AuditOutcome::NotStarted(error.to_string());
        let error = match error {
            StartError::NotRecorded(error) => return error,
            StartError::Keeper(KeeperError::Spawn(SpawnFailure {
                step: SpawnStep::Chdir,
                errno,
            })) => LaunchError::Directory {
                command: command.display().to_string(),
                cwd: record.cwd.clone(),
                errno,
            }
            .into(),
            StartError::Keeper(KeeperError::Spawn(failure)) => {
                TerminalError::Spawn { command, failure }
            }
            StartError::Keeper(other) => other.into(),
            StartError::Scope { wall, problem } => {
                let held_to = record.held_to.as_ref();
                let profiles = held_to.map(|held_to| held_to.profiles.join(", "));
                TerminalError::NoScope {
                    profiles: profiles.unwrap_or_default(),
                    wall,
                    problem,
                }
            }
        };
        let (action, id) = (AuditAction::TerminalExit, Some(&record.id));
        let recorded = self
            .audit
            .record(action, outcome, &record.owner, id, Map::new());
        if let Err(error) = recorded.await {
            tracing::error!(%error, "cannot record that a command did not start");
        }
        error
    }

    fn check_lease(
        &self,
        lease: Result<SandboxLease, TerminalError>,
        profile: &Profile,
    ) -> Result<SandboxLease, TerminalError> {
        let lease = lease?;
        self.starter
            .check_confinement(&lease.confinement, profile)?;
        Ok(lease)
    }

    /// Records what does not hold although it was asked for. The record of the start has what was asked
    /// for: where that did not hold, there would be no start.
    async fn record_missing(&self, record: &Record) {
        let held_to = record.held_to.as_ref();
        let Some(held_to) = held_to.filter(|held_to| !held_to.missing.is_empty()) else {
            return;
        };
        let detail = Map::from_iter([("confinement".to_owned(), json!(held_to))]);
        let (action, outcome) = (AuditAction::TerminalConfined, AuditOutcome::InPart);
        let (owner, id) = (&record.owner, Some(&record.id));
        if let Err(error) = self.audit.record(action, outcome, owner, id, detail).await {
            tracing::error!(terminal = %record.id, %error, "cannot record what does not hold");
        }
    }

    /// Makes an interactive shell tell of its commands.
    fn with_shell_integration(
        &self,
        mut launch: Launch,
        mut record: Record,
    ) -> Result<(Launch, Record), TerminalError> {
        if let Some(files) = &self.shell
            && record.stdio == Stdio::Pty
            && shell::is_wanted(record.meta.as_ref())
        {
            record.shell_nonce = shell::integrate(files, &mut launch.argv, &mut launch.env)?;
        }
        Ok((launch, record))
    }

    /// Starts the task of a terminal whose command runs.
    fn begin(
        &self,
        record: Record,
        spawned: Spawned,
        row: BlockPermit,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let id = record.id.clone();
        let size = record.first_size();
        let Opened {
            source,
            writer,
            spool,
            streams,
        } = Opened::adopt(spawned.fds)?;
        let window = self.spool.window(record.output_byte_limit);
        let zero = Offset::ZERO;
        let flow = Flow::resume(zero, zero, zero, window, Instant::now());
        let progress = Progress {
            end: zero,
            size,
            screen: ScreenState::still(0),
            exit: None,
            released_at_ms: None,
            closed_at_ms: None,
            close_cause: None,
            end_cause: None,
        };
        let screen = Screen::new(new_model(size, record.scrollback, record.stdio));
        let transcript = Transcript::live(
            id.clone(),
            spool,
            streams,
            ArrivalLog::default(),
            self.store.clone(),
        );
        let (terminal, ends) = Terminal::new(record, transcript, screen, progress);
        let commands = ShellCommands::new(Trust::new(terminal.record.shell_nonce.as_ref()));
        let pump = OutputPump::new(writer, Arc::clone(&terminal), commands, Vec::new());
        row.send_terminal(terminal.row());
        self.tasks.start(NewTask {
            terminal: Arc::clone(&terminal),
            ends,
            source,
            pump,
            flow,
            lost: None,
        });
        let _ = self.events.send(TerminalEvent::Created { id });
        Ok(terminal)
    }

    fn terminal_record(
        &self,
        id: &TerminalId,
        request: &CreateRequest,
        launch: &Launch,
        bounds: Bounds,
        profile: &Profile,
    ) -> Record {
        let limit = request.options.output_byte_limit;
        let limit = limit.unwrap_or(self.spool.default_window_bytes);
        Record {
            id: id.clone(),
            label: request.options.label.clone(),
            tags: request.options.tags.clone(),
            argv: launch.argv.clone(),
            agent_line: None,
            cwd: launch.cwd.to_string_lossy().into_owned(),
            pid: 0,
            owner: request.owner.clone(),
            created_at_ms: now_ms(),
            created_at_boottime_ms: Some(boottime_ms()),
            imported_at_ms: None,
            cols: bounds.size.cols,
            rows: bounds.size.rows,
            output_byte_limit: limit.min(self.spool.max_window_bytes),
            close_on_disconnect: request.options.close_on_disconnect,
            one_shot: request.options.one_shot,
            idle_timeout: shorter(bounds.idle_timeout, profile),
            held_to: requested(profile),
            made: Vec::new(),
            workspace: None,
            deadline_ms: profile.timeout.map(|timeout| monotonic_ms() + timeout.ms()),
            scrollback: bounds.scrollback,
            stdio: request.options.stdio,
            stdin: request.options.stdin,
            children: request.children(&self.agents),
            agent_process: request.agent_process,
            meta: request.options.meta.clone(),
            secrets: secrets_of(&launch.env),
            shell_nonce: None,
        }
    }
}

/// Takes a label, from its holder where there is one.
async fn take_label(
    reservation: &mut Reservation,
    label: &Label,
    vacate: VacateLabel,
) -> Result<(), TerminalError> {
    if reservation.take_label(label).is_err() {
        vacate.await?;
        reservation.take_label(label)?;
    }
    Ok(())
}

/// The idle timeout of the request or that of its profile, whichever is shorter.
fn shorter(requested: Option<IdleTimeout>, profile: &Profile) -> Option<IdleTimeout> {
    let of_profile = profile.idle_timeout;
    let of_profile = of_profile.map(|length| IdleTimeout::stored(length.ms()));
    let both = requested.into_iter().chain(of_profile);
    both.min_by_key(|timeout| timeout.ms())
}
