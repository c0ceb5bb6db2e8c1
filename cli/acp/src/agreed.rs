//! What client and agent have agreed in `initialize`, and the one thing that is changed in it.
//!
//! A client of version 1 that has no terminals is presented to the agent as one that has: the
//! agent's `terminal/*` are answered here. Whatever else an `initialize` says goes on as it came, and
//! one of another version is not touched at all. The last `initialize` counts.
//!
//! It must not know what a terminal is, nor when the daemon is asked for one.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;

use super::Shared;
use super::wire::edit;
use super::wire::message::{Members, RequestId};
use crate::options::{DisplayMode, Options};

/// The version of which `terminal/*` are a part. Version 2 has none.
const VERSION_WITH_TERMINALS: u64 = 1;
/// Most characters of one side's name and version: both together are within what a name in audit
/// records may have (`pool::MAX_NAME_CHARS`).
const MAX_PARTY_CHARS: usize = 47;

/// What was agreed.
#[derive(Debug, Default)]
pub(super) struct Agreed {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The client's `initialize` that has no answer yet.
    asked: Option<RequestId>,
    /// The protocol's version: the client's until the agent has answered.
    version: Option<u64>,
    terminals: Whose,
    /// How the client is shown terminals.
    display: Option<DisplayMode>,
    /// The client's name and version.
    client: Option<String>,
    /// The agent has said that it takes MCP servers to start.
    takes_stdio_mcp: bool,
}

/// Who answers the agent's `terminal/*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Whose {
    /// The client, or nobody.
    #[default]
    Theirs,
    /// We do.
    Ours,
}

impl Agreed {
    /// The client's `initialize`; the line in its place, where it is changed.
    pub(super) fn asked(
        &self,
        options: &Options,
        id: &RequestId,
        line: &str,
        params: Option<&RawValue>,
    ) -> Option<String> {
        let params = params.and_then(|params| Members::of(params.get()));
        let params = params.unwrap_or_default();
        let capabilities = params.object("clientCapabilities").unwrap_or_default();
        let version = version(&params);
        let has_terminals = is_true(capabilities.get("terminal"));
        let is_ours =
            version == Some(VERSION_WITH_TERMINALS) && (!has_terminals || options.take_over);
        let understands_meta = capabilities
            .object("_meta")
            .is_some_and(|meta| is_true(meta.get("terminal_output")));
        let by_itself = if understands_meta {
            DisplayMode::Meta
        } else {
            DisplayMode::Text
        };
        *self.lock() = State {
            asked: Some(id.clone()),
            version,
            terminals: if is_ours { Whose::Ours } else { Whose::Theirs },
            display: Some(options.display.unwrap_or(by_itself)),
            client: party(&params, &["clientInfo", "info"]),
            takes_stdio_mcp: false,
        };
        if !is_ours || has_terminals {
            return None;
        }
        let path = ["params", "clientCapabilities", "terminal"];
        let edit = edit::set(line, &path, &Value::Bool(true))?;
        Some(edit::apply(line, vec![edit]))
    }

    /// An answer of the agent's, which may be the one to `initialize`.
    pub(super) fn answered(&self, shared: &Arc<Shared>, id: &RequestId, result: Option<&RawValue>) {
        let Some(name) = self.settle(&shared.options, id, result) else {
            return;
        };
        shared.pool.introduce_as(&name);
        if self.answers_terminals() {
            // The first terminal/create is not to wait for a daemon that must be started.
            let shared = Arc::clone(shared);
            tokio::spawn(async move { shared.pool.connect().await });
        }
    }

    /// Takes the agent's word; what the two are called, if this was the answer to `initialize`.
    fn settle(
        &self,
        options: &Options,
        id: &RequestId,
        result: Option<&RawValue>,
    ) -> Option<String> {
        let mut state = self.lock();
        if state.asked.as_ref() != Some(id) {
            return None;
        }
        state.asked = None;
        let Some(result) = result.and_then(|result| Members::of(result.get())) else {
            // An error: nothing is agreed.
            state.version = None;
            state.terminals = Whose::Theirs;
            return None;
        };
        state.version = version(&result).or(state.version);
        if state.version != Some(VERSION_WITH_TERMINALS) {
            state.terminals = Whose::Theirs;
        }
        state.takes_stdio_mcp = stdio_mcp(&result).is_some();
        let agent = party(&result, &["agentInfo", "info"]).or_else(|| program(options));
        Some(match (agent, &state.client) {
            (Some(agent), Some(client)) => format!("{agent} for {client}"),
            (Some(agent), None) => agent,
            (None, Some(client)) => format!("an agent for {client}"),
            (None, None) => "acp".to_owned(),
        })
    }

    /// Whether the agent's `terminal/*` are ours to answer.
    pub(super) fn answers_terminals(&self) -> bool {
        self.lock().terminals == Whose::Ours
    }

    /// How the client is shown terminals: as the command line has it, else by `_meta` where the
    /// client says `clientCapabilities._meta.terminal_output`, else as text.
    pub(super) fn display(&self) -> DisplayMode {
        self.lock().display.unwrap_or(DisplayMode::Text)
    }

    /// The protocol's version, as the agent has answered it.
    pub(super) fn version(&self) -> Option<u64> {
        self.lock().version
    }

    /// Whether the agent has said that it starts MCP servers itself, as one of version 2 does. In
    /// version 1 all do.
    pub(super) fn takes_stdio_mcp(&self) -> bool {
        self.lock().takes_stdio_mcp
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `protocolVersion`, where it is a whole number.
fn version(members: &Members<'_>) -> Option<u64> {
    members.get("protocolVersion")?.get().parse().ok()
}

fn is_true(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// `capabilities.session.mcp.stdio` (ACP v2's `McpStdioCapabilities`): an object where it is there.
fn stdio_mcp<'a>(result: &Members<'a>) -> Option<Members<'a>> {
    let capabilities = result.object("capabilities")?;
    capabilities
        .object("session")?
        .object("mcp")?
        .object("stdio")
}

/// One side as it calls itself: its name and version.
fn party(members: &Members<'_>, places: &[&str]) -> Option<String> {
    let info = places.iter().find_map(|place| members.object(place))?;
    let name = info.string("name")?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let version = info.string("version").unwrap_or_default();
    Some(bounded(format!("{name} {version}").trim_end()))
}

/// The agent's program, for one that does not say its name.
fn program(options: &Options) -> Option<String> {
    let name = Path::new(options.agent.first()?).file_name()?;
    Some(bounded(&name.to_string_lossy()))
}

fn bounded(name: &str) -> String {
    name.chars().take(MAX_PARTY_CHARS).collect()
}

#[cfg(test)]
mod tests;
