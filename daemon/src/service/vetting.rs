//! What is found out about a command before it is recorded or started: what is to be executed, what
//! the gate says, and what it is to be held to.
//!
//! All of it at once, on a thread of its own: it reads directories that may be on a file system which does not
//! answer, and judges texts of any length. It must not know what becomes of the command.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Map, Value};
use termd_proto::TerminalId;

use super::asked::launch_request;
use super::gate::Judged;
use super::making::Held;
use super::{CreateRequest, Terminals};
use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::launch::{Launch, LaunchError};
use termd_policy::Profile;

/// What was found.
#[derive(Debug)]
pub(super) enum Vetted {
    /// There is nothing that could be executed.
    NotThere(LaunchError),
    /// It may not run. With what the record says of it.
    Refused(Box<Judged>, Map<String, Value>),
    /// It may.
    Allowed(Box<Allowed>),
}

/// A command that may run.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) launch: Launch,
    /// What its environment is made of.
    pub(super) base_env: BTreeMap<OsString, OsString>,
    pub(super) profile: Profile,
    /// What the keeper is to hold it to, or why nobody can.
    pub(super) held: Result<Held, TerminalError>,
    /// What the record says of it.
    pub(super) detail: Map<String, Value>,
}

impl Terminals {
    /// Finds it out, and gives the request back.
    pub(super) async fn vet(
        &self,
        id: &TerminalId,
        request: CreateRequest,
    ) -> Result<(CreateRequest, Vetted), TerminalError> {
        let (terminals, id) = (self.clone(), id.clone());
        let vetted = tokio::task::spawn_blocking(move || {
            let vetted = terminals.vet_now(&id, &request);
            (request, vetted)
        });
        let (request, vetted) = vetted.await.map_err(|_| TerminalError::Stopping)?;
        Ok((request, vetted?))
    }

    fn vet_now(&self, id: &TerminalId, request: &CreateRequest) -> Result<Vetted, TerminalError> {
        let asked = launch_request(request);
        let base_env = asked.base_env.clone();
        let launch = match asked.resolve() {
            Ok(launch) => launch,
            Err(error) => return Ok(Vetted::NotThere(error)),
        };
        let (judged, profile) = self.judge_creation(request, &launch)?;
        let mut detail = Map::new();
        if let Some(program) = launch.argv.first() {
            let name = program.rsplit('/').next().unwrap_or(program);
            detail.insert("program".to_owned(), name.into());
        }
        detail.extend(judged.detail());
        if !judged.allows() {
            return Ok(Vetted::Refused(Box::new(judged), detail));
        }
        let held = self.find_confinement(id, &profile, &launch.cwd);
        Ok(Vetted::Allowed(Box::new(Allowed {
            launch,
            base_env,
            profile,
            held,
            detail,
        })))
    }
}
