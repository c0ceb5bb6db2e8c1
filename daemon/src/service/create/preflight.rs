//! What is found out about a command before it is recorded or started: what is to be executed, what
//! the gate says, and what the command is held to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use serde_json::{Map, Value};
use termd_proto::TerminalId;

use super::request::CreateRequest;
use super::variables::Variables;
use crate::service::gate::{Asker, Gate, NewCommand, Ruling};
use crate::service::sandbox::{SandboxLease, Sandboxes};
use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::launch::{Launch, LaunchError};
use termd_policy::Profile;

/// Checks commands. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Preflight {
    gate: Arc<Gate>,
    sandboxes: Sandboxes,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Finding {
    /// There is nothing that could be executed.
    NotFound(LaunchError),
    /// The command may not run. With what its audit record says.
    Refused(Box<Ruling>, Map<String, Value>),
    /// The command may run.
    Allowed(Box<AllowedCommand>),
}

/// A command that may run.
#[derive(Debug)]
pub(super) struct AllowedCommand {
    pub(super) launch: Launch,
    /// The line that an agent asks its shell to run.
    pub(super) agent_line: Option<String>,
    /// What its environment is made of.
    pub(super) base_env: BTreeMap<OsString, OsString>,
    pub(super) profile: Profile,
    /// What the keeper is to hold the command to, or why that cannot be done.
    pub(super) lease: Result<SandboxLease, TerminalError>,
    /// What the audit record says of the command.
    pub(super) detail: Map<String, Value>,
}

impl Preflight {
    pub(crate) fn new(gate: Arc<Gate>, sandboxes: Sandboxes) -> Self {
        Self { gate, sandboxes }
    }

    /// Checks a request, and gives it back. The check runs on a thread of its own: it reads
    /// directories on file systems that may not answer, and judges texts of any length.
    pub(super) async fn check(
        &self,
        id: &TerminalId,
        mut request: CreateRequest,
    ) -> Result<(CreateRequest, Finding), TerminalError> {
        let (this, id) = (self.clone(), id.clone());
        let checked = tokio::task::spawn_blocking(move || {
            let finding = this.check_now(&id, &request);
            drop(request.turn.take());
            (request, finding)
        });
        let (request, finding) = checked.await.map_err(|_| TerminalError::Stopping)?;
        Ok((request, finding?))
    }

    fn check_now(
        &self,
        id: &TerminalId,
        request: &CreateRequest,
    ) -> Result<Finding, TerminalError> {
        let mut launch_request = request.launch_request();
        // Once: what is judged, asked about and recorded is where the command starts. A link may lead
        // elsewhere by then. What cannot be resolved, or is relative, is found by `resolve`.
        let cwd = &launch_request.cwd;
        if cwd.is_absolute()
            && let Ok(real) = fs::canonicalize(cwd)
        {
            launch_request.cwd = real;
        }
        let base_env = launch_request.base_env.clone();
        let launch = match launch_request.resolve() {
            Ok(launch) => launch,
            Err(error) => return Ok(Finding::NotFound(error)),
        };
        let line_with_stdin = request.line_with_stdin(&launch);
        let given_line = request.shell_line(&launch);
        let agent_line = request.agent_line(&launch);
        let variables = Variables::of(&request.options, &request.owner);
        let (ruling, profile) = self.gate.judge_creation(&NewCommand {
            asker: Asker {
                owner: &request.owner,
                confirmed: request.options.confirmed,
                asks: request.asks,
            },
            line: line_with_stdin.as_deref().or(given_line),
            argv: &launch.argv,
            // A person reads the whole of a command whose script comes by its input.
            agent_line: agent_line.as_deref().filter(|_| line_with_stdin.is_none()),
            cwd: &launch.cwd,
            env: &variables.judged,
            all_env: &variables.all,
            gate: &request.gate,
        })?;
        let mut detail = Map::new();
        let cwd = launch.cwd.to_string_lossy().into_owned();
        detail.insert("cwd".to_owned(), cwd.into());
        if let Some(program) = launch.argv.first() {
            let name = program.rsplit('/').next().unwrap_or(program);
            detail.insert("program".to_owned(), name.into());
        }
        if let Some(line) = &agent_line {
            detail.insert("agent_line".to_owned(), line.as_str().into());
        }
        detail.extend(ruling.detail());
        if !ruling.allows() {
            return Ok(Finding::Refused(Box::new(ruling), detail));
        }
        let lease = self.sandboxes.lease(id, &profile, &launch.cwd);
        Ok(Finding::Allowed(Box::new(AllowedCommand {
            launch,
            agent_line,
            base_env,
            profile,
            lease,
            detail,
        })))
    }
}
