//! Making a terminal: check, record, start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::Stdio;
use termd_proto::{Offset, TerminalId};

use super::Terminals;
use super::asked::{
    Bounds, CreateRequest, audit_detail, shorter, spawn_request, with_environment, with_temporary,
};
use super::confine::{told, told_of};
use super::limits::monotonic_ms;
use super::making::Held;
use super::starting::StartError;
use super::vetting::{Allowed, Vetted};
use crate::clock::now_ms;
use crate::keeper_client::KeeperError;
use crate::shell;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::actor::Actor;
use crate::terminal::lifecycle::launch::{Launch, LaunchError};
use crate::terminal::lifecycle::progress::{Progress, ScreenState};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::flow::Flow;
use crate::terminal::output::pump::OutputPump;
use crate::terminal::output::shell_commands::{ShellCommands, Trust};
use crate::terminal::output::source::Opened;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::{Screen, new_model};
use termd_keeper::protocol::message::Spawned;
use termd_policy::Profile;

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
        let mut detail = audit_detail(&request);
        if let Err(error) = self.may_create() {
            let outcome = format!("not started: {error}");
            self.audit("terminal.create", &outcome, &request.owner, None, detail)
                .await?;
            return Err(error);
        }
        let (request, vetted) = self.vet(&id, request).await?;
        let allowed = match vetted {
            Vetted::Allowed(allowed) => *allowed,
            Vetted::Refused(judged, more) => {
                detail.extend(more);
                self.audit(
                    "terminal.create",
                    judged.outcome(),
                    &request.owner,
                    None,
                    detail,
                )
                .await?;
                return Err(judged.into_error());
            }
            Vetted::NotThere(error @ LaunchError::Invalid { .. }) => return Err(error.into()),
            Vetted::NotThere(error) => {
                let outcome = format!("not started: {error}");
                self.audit("terminal.create", &outcome, &request.owner, None, detail)
                    .await?;
                return Err(error.into());
            }
        };
        let Allowed {
            launch,
            base_env,
            profile,
            held,
            detail: more,
        } = allowed;
        detail.extend(more);
        let (launch, detail) = with_environment(launch, &profile, &request, base_env, detail);
        let (held, detail) = self.confine(held, &profile, &request, detail).await?;
        let launch = with_temporary(launch, &held.confinement, &request);
        // What is recorded is what was asked for.
        let record = Record {
            made: held.made.clone(),
            ..self.record(&id, &request, &launch, bounds, &profile)
        };
        let (launch, record) = self.with_shell_integration(launch, record)?;
        let program = launch.program.clone();
        let asked = spawn_request(launch, &record, held.confinement.clone());
        let recorded = self.audit("terminal.create", "ok", &request.owner, Some(&id), detail);
        let started = self.start_recorded(recorded, asked, &profile).await;
        let (spawned, in_scope) = match started {
            Ok(started) => started,
            Err(StartError::NotRecorded(error)) => return Err(error),
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
        found: Result<Held, TerminalError>,
        profile: &Profile,
        request: &CreateRequest,
        mut detail: Map<String, Value>,
    ) -> Result<(Held, Map<String, Value>), TerminalError> {
        if let Some(told) = told(profile) {
            let told = serde_json::to_value(told).unwrap_or_default();
            detail.insert("confinement".to_owned(), told);
        }
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
            writer,
            spool,
            streams,
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
        let screen = Screen::new(new_model(size, record.scrollback, record.stdio));
        let store = self.inner.store.clone();
        let transcript = Transcript::live(id.clone(), spool, streams, store);
        let (terminal, ends) = Terminal::new(record, transcript, screen, progress);
        let disk = self.disk_share(&terminal, None);
        let context = self.task_context();
        let commands = ShellCommands::new(Trust::new(terminal.record.shell_nonce.as_ref()));
        let pump = OutputPump::new(writer, Arc::clone(&terminal), commands, Vec::new());
        let of = Arc::clone(&terminal);
        let actor = Actor::new(of, context, ends, source, pump, flow, disk);
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
            StartError::NotRecorded(error) => error,
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
