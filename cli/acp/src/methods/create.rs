//! `terminal/create`: adds limits and the directory to the request, asks the person where the gate
//! says so, and puts the terminal into the table.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use termd_client::approval::{Resolution, approve};
use termd_client::escape::{command_line, escaped};
use termd_client::refusal::approval_of;
use termd_client::{BadAnswer, ClientError};
use termd_proto::acp::CreateTerminalResponse;
use termd_proto::approval::AnswerWay;
use termd_proto::{Tags, TerminalId, code};
use tokio::sync::oneshot;

use super::answer_meta::in_object;
use super::daemon::{self, CallKind, Params};
use super::method::{Answer, Method};
use super::release::release_in_background;
use super::watch;
use crate::options::Options;
use crate::permission::{self, Question, Verdict};
use crate::rpc_errors::{self, ErrorObjectOwned};
use crate::shared::Shared;
use crate::terminals::allowed_commands::AllowedCommand;
use crate::terminals::table::Reservation;
use crate::terminals::terminal::Terminal;
use crate::wire::message::Members;

/// Most questions of the gate about one create.
const MAX_QUESTIONS: usize = 4;

/// The params that the method has.
const PARAMS: [&str; 7] = [
    "sessionId",
    "command",
    "args",
    "env",
    "cwd",
    "outputByteLimit",
    "_meta",
];

/// A create that the agent requested.
#[derive(Debug)]
pub(super) struct CreateCall {
    session: String,
    /// The params with limits and directory.
    params: Map<String, Value>,
    /// The directory of the session.
    directory: Option<PathBuf>,
    /// The agent's own `_meta`.
    meta: Option<Box<RawValue>>,
    timeout: Option<Duration>,
    /// Absent if the request has no session, an error that the daemon describes.
    reservation: Option<Reservation>,
}

/// The answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created<'a> {
    terminal_id: &'a TerminalId,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

impl CreateCall {
    /// Reads the params, and reserves a place for the terminal.
    pub(super) fn read(shared: &Shared, params: &str) -> Result<Self, ErrorObjectOwned> {
        let members = Members::of(params).unwrap_or_default();
        let known = Params::known(&members, &PARAMS)?;
        let params: Map<String, Value> = serde_json::from_str(known.text())
            .map_err(|error| rpc_errors::invalid_params("params", &error.to_string()))?;
        let session = members.string("sessionId").unwrap_or_default();
        let meta = members
            .get("_meta")
            .filter(|meta| meta.get().starts_with('{'));
        let mut create = Self {
            timeout: timeout(&shared.options, &params)?,
            meta: meta.and_then(|meta| RawValue::from_string(meta.get().to_owned()).ok()),
            directory: directory_of(shared, &session),
            session,
            params,
            reservation: None,
        };
        create.limit_output(shared.options.output_limit);
        create.set_cwd(shared);
        if !create.session.is_empty() {
            let table = &shared.terminals.table;
            let max = shared.options.max_terminals;
            create.reservation = Some(table.reserve(&create.session, max)?);
        }
        Ok(create)
    }

    pub(super) fn session(&self) -> &str {
        &self.session
    }

    fn limit_output(&mut self, limit: Option<u64>) {
        let Some(limit) = limit else { return };
        let given = self.params.get("outputByteLimit");
        let kept = match given {
            None | Some(Value::Null) => limit,
            // The daemon refuses a limit that is no number.
            Some(given) => match given.as_u64() {
                Some(given) => given.min(limit),
                None => return,
            },
        };
        self.params
            .insert("outputByteLimit".to_owned(), json!(kept));
    }

    fn set_cwd(&mut self, shared: &Shared) {
        if self.params.get("cwd").is_none_or(Value::is_null)
            && let Some(cwd) = shared.sessions.cwd(&self.session)
        {
            self.params.insert("cwd".to_owned(), json!(cwd));
        }
    }

    /// The params for the daemon. `confirmed` is never taken from the agent.
    fn to_daemon(&self) -> Result<Params, ErrorObjectOwned> {
        let mut params = self.params.clone();
        in_object(&mut params, "_meta", |meta| {
            in_object(meta, "termd", |termd| {
                termd.insert("confirmed".to_owned(), json!(false));
                termd.insert("close_on_disconnect".to_owned(), json!(true));
                let tags = Tags::of_agent(None, self.directory.as_deref());
                // The agent may have given others.
                termd.entry("tags").or_insert(json!(tags));
            });
        });
        let text = serde_json::to_string(&params)
            .map_err(|error| rpc_errors::invalid_params("params", &error.to_string()))?;
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
            // The daemon knows this directory from the hello.
            None => std::env::current_dir()
                .ok()?
                .into_os_string()
                .into_string()
                .ok(),
        }
    }

    fn members(&self, names: &[&str]) -> Value {
        let member = |name: &&str| Some(((*name).to_owned(), self.params.get(*name)?.clone()));
        Value::Object(names.iter().filter_map(member).collect())
    }

    /// Everything that decides what runs.
    fn command(&self) -> AllowedCommand {
        AllowedCommand {
            session: self.session.clone(),
            params: self.members(&["command", "args", "env", "cwd"]),
        }
    }

    fn question(&self, refusal: &ErrorObjectOwned) -> Question {
        Question {
            session: self.session.clone(),
            line: self.line(),
            raw_input: self.members(&["command", "args", "cwd"]),
            reason: reason(refusal),
            approval: approval_of(refusal),
        }
    }

    /// Creates the terminal, after asking the person where the gate says confirm.
    pub(super) async fn answer(mut self, shared: &Arc<Shared>) -> Answer {
        let mut refusal = match self.created(shared).await {
            Ok(created) => return created,
            Err(refusal) => refusal,
        };
        for _ in 0..MAX_QUESTIONS {
            if refusal.code() != code::CONFIRMATION_REQUIRED {
                return Err(refusal);
            }
            self.agree(shared, &refusal).await?;
            refusal = match self.created(shared).await {
                Ok(created) => return created,
                Err(refusal) => refusal,
            };
        }
        Err(refusal)
    }

    /// Has the person agree to what the gate asks. An answer of the client's person is the daemon's
    /// answer too, unless another one came first.
    async fn agree(
        &self,
        shared: &Arc<Shared>,
        refusal: &ErrorObjectOwned,
    ) -> Result<(), ErrorObjectOwned> {
        let allowed = &shared.terminals.allowed;
        let (line, reason) = (self.line(), reason(refusal));
        let rejected = |how: &str| Err(rpc_errors::rejected(&line, &reason, how));
        let Some(id) = approval_of(refusal) else {
            return Err(rpc_errors::cannot_ask(refusal));
        };
        if !allowed.contains(&self.command()) {
            match permission::ask(shared, self.question(refusal)).await {
                Verdict::AllowedOnce => {}
                Verdict::Approved => return Ok(()),
                Verdict::AllowedAlways => allowed.add(self.command()),
                Verdict::Rejected => return rejected("the person rejected it"),
                Verdict::Cancelled => return rejected("the question to the person was cancelled"),
                Verdict::CannotAsk => return Err(rpc_errors::cannot_ask(refusal)),
            }
        }
        match approve(&shared.pool, &id, AnswerWay::Permission).await {
            Ok(Resolution::Approved) => Ok(()),
            Ok(Resolution::Denied) => rejected("it was rejected through termd"),
            Err(error) => Err(rpc_errors::of_daemon(error)),
        }
    }

    /// Calls the daemon once. After an outer `Err` the call may be made again.
    async fn created(&mut self, shared: &Arc<Shared>) -> Result<Answer, ErrorObjectOwned> {
        let params = self.to_daemon()?;
        let attempt = Attempt {
            session: self.session.clone(),
            line: self.line(),
            cwd: self.cwd(),
            timeout: self.timeout,
            reservation: self.reservation.take(),
        };
        let (sender, receiver) = oneshot::channel();
        let (task_shared, task) = (Arc::clone(shared), shared.terminals.background.begin());
        // A task of its own: a create that has begun is finished, so a cancelled call leaves no terminal.
        tokio::spawn(async move {
            // Without a receiver the terminal is dropped, and so released.
            let _ = sender.send(attempt.run(&task_shared, &params).await);
            drop(task);
        });
        match receiver.await {
            Ok(Ok(unclaimed)) => {
                let terminal = unclaimed.claim().ok_or_else(rpc_errors::ending)?;
                let created = Created {
                    terminal_id: &terminal.id,
                    meta: self.meta.as_deref(),
                };
                Ok(to_raw_value(&created)
                    .map_err(|error| rpc_errors::invalid_params("_meta", &error.to_string())))
            }
            Ok(Err((error, reservation))) => {
                self.reservation = reservation;
                Err(rpc_errors::of_daemon(error))
            }
            Err(_) => Err(rpc_errors::ending()),
        }
    }
}

/// One attempt to create the terminal.
struct Attempt {
    session: String,
    line: String,
    cwd: Option<String>,
    timeout: Option<Duration>,
    reservation: Option<Reservation>,
}

impl Attempt {
    async fn run(
        self,
        shared: &Arc<Shared>,
        params: &Params,
    ) -> Result<Unclaimed, (ClientError, Option<Reservation>)> {
        let created = self.create(shared, params).await;
        match created {
            Err(error) => Err((error, self.reservation)),
            Ok(id) => {
                let terminal = Terminal::new(id, self.session, self.line, self.cwd, self.timeout);
                let terminal = Arc::new(terminal);
                if let Some(reservation) = self.reservation {
                    reservation.fill(&terminal);
                }
                // This connection created the terminal a moment ago.
                let _ = shared.pool.keep_holding(&terminal.id);
                watch::start(shared, &terminal);
                keep_connection(shared);
                Ok(Unclaimed {
                    shared: Arc::clone(shared),
                    terminal: Some(terminal),
                })
            }
        }
    }

    async fn create(&self, shared: &Shared, params: &Params) -> Result<TerminalId, ClientError> {
        let method = Method::Create.name();
        let answer = daemon::call(&shared.pool, CallKind::Once, method, params).await?;
        let created: CreateTerminalResponse =
            serde_json::from_str(answer.get()).map_err(BadAnswer::from)?;
        let id = created.terminal_id.parse::<TerminalId>();
        Ok(id.map_err(BadAnswer::from)?)
    }
}

/// A terminal that the agent does not know of yet. Dropped before it is claimed, it is released.
struct Unclaimed {
    shared: Arc<Shared>,
    terminal: Option<Arc<Terminal>>,
}

impl Unclaimed {
    fn claim(mut self) -> Option<Arc<Terminal>> {
        self.terminal.take()
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(terminal) = self.terminal.take() {
            tokio::spawn(release_in_background(&self.shared, terminal));
        }
    }
}

/// Keeps the connection that the terminals are bound to: the next server of the daemon ends unbound
/// terminals after a while.
fn keep_connection(shared: &Arc<Shared>) {
    let keeps_connection = &shared.terminals.keeps_connection;
    if keeps_connection.swap(true, Ordering::AcqRel) {
        return;
    }
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        // Ends if the daemon stays away.
        let _ = shared.pool.stay().await;
        let keeps_connection = &shared.terminals.keeps_connection;
        keeps_connection.store(false, Ordering::Release);
    });
}

fn reason(refusal: &ErrorObjectOwned) -> String {
    let data = rpc_errors::data_of(refusal);
    let reason = data.get("reason").and_then(Value::as_str);
    reason.unwrap_or(refusal.message()).to_owned()
}

/// The directory of a session; where the client has named none, that of this process.
fn directory_of(shared: &Shared, session: &str) -> Option<PathBuf> {
    let named = shared.sessions.cwd(session).map(PathBuf::from);
    named.or_else(|| std::env::current_dir().ok())
}

/// The longest run of the command: `--default-timeout`, or less if the agent sets
/// `_meta.termd.timeout_ms`.
fn timeout(
    options: &Options,
    params: &Map<String, Value>,
) -> Result<Option<Duration>, ErrorObjectOwned> {
    let termd = params.get("_meta").and_then(|meta| meta.get("termd"));
    let wanted = match termd.and_then(|termd| termd.get("timeout_ms")) {
        None | Some(Value::Null) => return Ok(options.default_timeout),
        Some(wanted) => wanted.as_u64().filter(|wanted| *wanted > 0),
    };
    let Some(wanted) = wanted.map(Duration::from_millis) else {
        let field = "_meta.termd.timeout_ms";
        return Err(rpc_errors::invalid_params(
            field,
            "must be a number of milliseconds, 1 or more",
        ));
    };
    let longest = options.default_timeout.unwrap_or(Duration::MAX);
    Ok(Some(wanted.min(longest)))
}
