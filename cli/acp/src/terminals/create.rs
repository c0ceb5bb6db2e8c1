//! `terminal/create`: the agent's request with what this side adds to it, the gate's question, and
//! the terminal's place here.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use termd_client::escape::{command_line, escaped};
use termd_client::refusal::approval_of;
use termd_client::{BadAnswer, ClientError};
use termd_proto::acp::CreateTerminalResponse;
use termd_proto::{TerminalId, code};
use tokio::sync::oneshot;

use super::super::permission::{self, Allowed, Question, Verdict};
use super::super::{Shared, proxy};
use super::calls::{in_object, naming, release};
use super::daemon::{self, How, Params, Refused};
use super::table::Reservation;
use super::tracked::Entry;
use super::{Answer, Method, errors, watch};
use crate::options::Options;
use crate::wire::message::Members;

/// What the method knows.
const PARAMS: [&str; 7] = [
    "sessionId",
    "command",
    "args",
    "env",
    "cwd",
    "outputByteLimit",
    "_meta",
];

/// A create as the agent has asked for it.
#[derive(Debug)]
pub(super) struct Asked {
    session: String,
    /// The params, the limits and the directory put into them.
    params: Map<String, Value>,
    /// The agent's own `_meta`, as it came.
    meta: Option<Box<RawValue>>,
    timeout: Option<Duration>,
    /// Its place; `None` where it has no session, and the daemon says so.
    reservation: Option<Reservation>,
}

/// The answer, with the agent's own `_meta`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created<'a> {
    terminal_id: &'a TerminalId,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

impl Asked {
    /// Reads the params, and takes a place for the terminal.
    pub(super) fn read(shared: &Shared, params: &str) -> Result<Self, Refused> {
        let members = Members::of(params).unwrap_or_default();
        let known = Params::known(&members, &PARAMS)?;
        let params: Map<String, Value> = serde_json::from_str(known.text())
            .map_err(|error| errors::invalid_params("params", &error.to_string()))?;
        let session = members.string("sessionId").unwrap_or_default();
        let meta = members
            .get("_meta")
            .filter(|meta| meta.get().starts_with('{'));
        let mut asked = Self {
            timeout: timeout(&shared.options, &params)?,
            meta: meta.and_then(|meta| RawValue::from_string(meta.get().to_owned()).ok()),
            session,
            params,
            reservation: None,
        };
        asked.limit_output(shared.options.output_limit);
        asked.place(shared);
        if !asked.session.is_empty() {
            let table = &shared.terminals.table;
            let max = shared.options.max_terminals;
            asked.reservation = Some(table.reserve(&asked.session, max)?);
        }
        Ok(asked)
    }

    /// The session that it is of, as the agent has named it.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    fn limit_output(&mut self, limit: Option<u64>) {
        let Some(limit) = limit else { return };
        let given = self.params.get("outputByteLimit");
        let kept = match given {
            None | Some(Value::Null) => limit,
            // What is no limit is the daemon's to refuse.
            Some(given) => match given.as_u64() {
                Some(given) => given.min(limit),
                None => return,
            },
        };
        self.params
            .insert("outputByteLimit".to_owned(), json!(kept));
    }

    fn place(&mut self, shared: &Shared) {
        if self.params.get("cwd").is_none_or(Value::is_null)
            && let Some(cwd) = shared.sessions.cwd(&self.session)
        {
            self.params.insert("cwd".to_owned(), json!(cwd));
        }
    }

    /// As the daemon is asked. That somebody has agreed is not the agent's to say.
    fn to_daemon(&self, confirmed: bool) -> Result<Params, Refused> {
        let mut params = self.params.clone();
        in_object(&mut params, "_meta", |meta| {
            in_object(meta, "termd", |termd| {
                termd.insert("confirmed".to_owned(), json!(confirmed));
                termd.insert("close_on_disconnect".to_owned(), json!(true));
            });
        });
        let text = serde_json::to_string(&params)
            .map_err(|error| errors::invalid_params("params", &error.to_string()))?;
        Params::of(text)
    }

    /// The command as a person would type it.
    fn line(&self) -> String {
        let command = self.params.get("command").and_then(Value::as_str);
        let command = command.unwrap_or_default();
        let args = self.params.get("args").and_then(Value::as_array);
        match args.filter(|args| !args.is_empty()) {
            None => escaped(command),
            Some(args) => {
                let args = args.iter().map(|arg| arg.as_str().unwrap_or_default());
                let argv: Vec<String> = std::iter::once(command)
                    .chain(args)
                    .map(str::to_owned)
                    .collect();
                command_line(&argv)
            }
        }
    }

    fn cwd(&self) -> Option<String> {
        match self.params.get("cwd").and_then(Value::as_str) {
            Some(cwd) => Some(cwd.to_owned()),
            // The daemon was told of it in the hello.
            None => std::env::current_dir()
                .ok()?
                .into_os_string()
                .into_string()
                .ok(),
        }
    }

    fn those(&self, names: &[&str]) -> Value {
        let member = |name: &&str| Some(((*name).to_owned(), self.params.get(*name)?.clone()));
        Value::Object(names.iter().filter_map(member).collect())
    }

    /// All of it that decides what runs.
    fn exactly(&self) -> Allowed {
        Allowed {
            session: self.session.clone(),
            what: self.those(&["command", "args", "env", "cwd"]),
        }
    }

    fn question(&self, refusal: &Refused) -> Question {
        Question {
            session: self.session.clone(),
            line: self.line(),
            raw_input: self.those(&["command", "args", "cwd"]),
            reason: reason(refusal),
            approval: approval_of(refusal),
        }
    }

    /// Creates it, where need be after asking; what the agent is answered.
    pub(super) async fn answer(mut self, shared: &Arc<Shared>) -> Answer {
        let remembered = &shared.terminals.remembered;
        if remembered.allows(&self.exactly()) {
            return self.created(shared, true).await?;
        }
        let refusal = match self.created(shared, false).await {
            Ok(created) => return created,
            Err(refusal) if refusal.code() == code::CONFIRMATION_REQUIRED => refusal,
            Err(refusal) => return Err(refusal),
        };
        let (line, reason) = (self.line(), reason(&refusal));
        match permission::ask(shared, self.question(&refusal)).await {
            Verdict::AllowedOnce => {}
            Verdict::Approved => return self.created(shared, false).await?,
            Verdict::AllowedAlways => remembered.remember(self.exactly()),
            Verdict::Rejected => {
                return Err(errors::rejected(&line, &reason, "the person rejected it"));
            }
            Verdict::Cancelled => {
                let how = "the question to the person was cancelled";
                return Err(errors::rejected(&line, &reason, how));
            }
            Verdict::CannotAsk => return Err(errors::nobody_to_ask(&refusal)),
        }
        self.created(shared, true).await?
    }

    /// Asks the daemon for it. `Err`: it was not created, and may be asked for again.
    async fn created(&mut self, shared: &Arc<Shared>, confirmed: bool) -> Result<Answer, Refused> {
        let params = self.to_daemon(confirmed)?;
        let start = Start {
            session: self.session.clone(),
            line: self.line(),
            cwd: self.cwd(),
            timeout: self.timeout,
            reservation: self.reservation.take(),
        };
        let (tell, told) = oneshot::channel();
        let (of_task, work) = (Arc::clone(shared), shared.terminals.underway());
        // Begun, it comes to its end: a call that is cancelled meanwhile leaves no terminal.
        tokio::spawn(async move {
            // Whom nobody waits for is dropped, and so released.
            let _ = tell.send(start.run(&of_task, &params).await);
            drop(work);
        });
        match told.await {
            Ok(Ok(unclaimed)) => {
                let entry = unclaimed.claimed();
                let created = Created {
                    terminal_id: &entry.tracked.id,
                    meta: self.meta.as_deref(),
                };
                Ok(to_raw_value(&created)
                    .map_err(|error| errors::invalid_params("_meta", &error.to_string())))
            }
            Ok(Err((error, reservation))) => {
                self.reservation = reservation;
                Err(errors::of_daemon(error))
            }
            Err(_) => Err(errors::ending()),
        }
    }
}

/// One attempt.
struct Start {
    session: String,
    line: String,
    cwd: Option<String>,
    timeout: Option<Duration>,
    reservation: Option<Reservation>,
}

impl Start {
    async fn run(
        self,
        shared: &Arc<Shared>,
        params: &Params,
    ) -> Result<Unclaimed, (ClientError, Option<Reservation>)> {
        let created = self.create(shared, params).await;
        match created {
            Err(error) => Err((error, self.reservation)),
            Ok(id) => {
                let entry = Entry::new(id, self.session, self.line, self.cwd, self.timeout);
                let entry = Arc::new(entry);
                if let Some(reservation) = self.reservation {
                    reservation.fill(&entry);
                }
                // It was created by this connection a moment ago.
                let _ = shared.pool.keep_holding(&entry.tracked.id).await;
                watch::start(shared, &entry);
                shared.terminals.stay(shared);
                Ok(Unclaimed {
                    shared: Arc::clone(shared),
                    entry,
                    claim: Claim::None,
                })
            }
        }
    }

    async fn create(&self, shared: &Shared, params: &Params) -> Result<TerminalId, ClientError> {
        let method = Method::Create.name();
        let answer = daemon::call(&shared.pool, How::Once, method, params).await?;
        let created: CreateTerminalResponse =
            serde_json::from_str(answer.get()).map_err(BadAnswer::from)?;
        let id = created.terminal_id.parse::<TerminalId>();
        Ok(id.map_err(BadAnswer::from)?)
    }
}

/// Whose a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    None,
    Agents,
}

/// A terminal that the agent does not know of yet. Dropped before it is claimed, it is released.
struct Unclaimed {
    shared: Arc<Shared>,
    entry: Arc<Entry>,
    claim: Claim,
}

impl Unclaimed {
    /// It is the agent's.
    fn claimed(mut self) -> Arc<Entry> {
        self.claim = Claim::Agents;
        Arc::clone(&self.entry)
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if self.claim == Claim::Agents {
            return;
        }
        let (shared, entry) = (Arc::clone(&self.shared), Arc::clone(&self.entry));
        let work = shared.terminals.underway();
        tokio::spawn(async move {
            release_logged(&shared, &entry).await;
            drop(work);
        });
    }
}

/// Releases a terminal of which the agent does not hear.
pub(super) async fn release_logged(shared: &Arc<Shared>, entry: &Entry) {
    let released = match naming(entry) {
        Ok(params) => release(shared, entry, &params).await.map(drop),
        Err(refused) => Err(refused),
    };
    if let Err(refused) = released
        && refused.code() != code::RESOURCE_NOT_FOUND
    {
        let id = &entry.tracked.id;
        proxy::log(&format!(
            "cannot release {id}: {}",
            escaped(refused.message())
        ));
    }
}

fn reason(refusal: &Refused) -> String {
    let data = errors::data_of(refusal);
    let reason = data.get("reason").and_then(Value::as_str);
    reason.unwrap_or(refusal.message()).to_owned()
}

/// How long the command may run: `--default-timeout`, or less where the agent says so in
/// `_meta.termd.timeout_ms`.
fn timeout(options: &Options, params: &Map<String, Value>) -> Result<Option<Duration>, Refused> {
    let termd = params.get("_meta").and_then(|meta| meta.get("termd"));
    let wanted = match termd.and_then(|termd| termd.get("timeout_ms")) {
        None | Some(Value::Null) => return Ok(options.default_timeout),
        Some(wanted) => wanted.as_u64().filter(|wanted| *wanted > 0),
    };
    let Some(wanted) = wanted.map(Duration::from_millis) else {
        let field = "_meta.termd.timeout_ms";
        return Err(errors::invalid_params(
            field,
            "must be a number of milliseconds, 1 or more",
        ));
    };
    let longest = options.default_timeout.unwrap_or(Duration::MAX);
    Ok(Some(wanted.min(longest)))
}
