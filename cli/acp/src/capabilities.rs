//! What client and agent agreed in `initialize`, and the one change that is made to it.
//!
//! A client of version 1 without terminals is presented to the agent as one that has them, because
//! the proxy answers the agent's `terminal/*`. The rest of an `initialize` stays as it came, and one
//! of another version is not changed at all. The last `initialize` counts.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::options::{DisplayMode, Options};
use crate::wire::edit;
use crate::wire::message::{Members, RequestId};

/// The version that has `terminal/*`. Version 2 has none.
const VERSION_WITH_TERMINALS: u64 = 1;
/// Most characters of one side's name. Both together fit a name in audit records
/// (`pool::MAX_NAME_CHARS`).
const MAX_PARTY_CHARS: usize = 47;

/// The agreed capabilities.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The client's `initialize` without an answer yet.
    pending: Option<RequestId>,
    /// The client's version until the agent has answered.
    version: Option<u64>,
    /// The proxy answers the agent's `terminal/*`.
    answers_terminals: bool,
    display: Option<DisplayMode>,
    /// The client's name.
    client: Option<String>,
    /// The agent announced that it starts MCP servers.
    takes_stdio_mcp: bool,
}

impl Capabilities {
    /// Takes the client's `initialize`. Returns the line that replaces it, if it is changed.
    pub(crate) fn requested(
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
        let answers_terminals =
            version == Some(VERSION_WITH_TERMINALS) && (!has_terminals || options.take_over);
        let understands_meta = capabilities
            .object("_meta")
            .is_some_and(|meta| is_true(meta.get("terminal_output")));
        let announced = if understands_meta {
            DisplayMode::Meta
        } else {
            DisplayMode::Text
        };
        *self.lock() = State {
            pending: Some(id.clone()),
            version,
            answers_terminals,
            display: Some(options.display.unwrap_or(announced)),
            client: party(&params, &["clientInfo", "info"]),
            takes_stdio_mcp: false,
        };
        if !answers_terminals || has_terminals {
            return None;
        }
        let path = ["params", "clientCapabilities", "terminal"];
        let edit = edit::set(line, &path, &Value::Bool(true))?;
        Some(edit::apply(line, vec![edit]))
    }

    /// Takes an answer of the agent. If it answers `initialize`, returns both sides' names.
    pub(crate) fn answered(
        &self,
        options: &Options,
        id: &RequestId,
        result: Option<&RawValue>,
    ) -> Option<Parties> {
        let mut state = self.lock();
        if state.pending.as_ref() != Some(id) {
            return None;
        }
        state.pending = None;
        let Some(result) = result.and_then(|result| Members::of(result.get())) else {
            // After an error nothing is agreed.
            state.version = None;
            state.answers_terminals = false;
            return None;
        };
        state.version = version(&result).or(state.version);
        if state.version != Some(VERSION_WITH_TERMINALS) {
            state.answers_terminals = false;
        }
        state.takes_stdio_mcp = stdio_mcp(&result).is_some();
        let agent = party(&result, &["agentInfo", "info"]).or_else(|| program(options));
        let client = state.client.clone();
        Some(Parties { agent, client })
    }

    /// Whether the proxy answers the agent's `terminal/*`.
    pub(crate) fn answers_terminals(&self) -> bool {
        self.lock().answers_terminals
    }

    /// The display mode: the option, else [`DisplayMode::Meta`] if the client announced
    /// `clientCapabilities._meta.terminal_output`, else [`DisplayMode::Text`].
    pub(crate) fn display(&self) -> DisplayMode {
        self.lock().display.unwrap_or(DisplayMode::Text)
    }

    /// The protocol version that the agent answered.
    pub(crate) fn version(&self) -> Option<u64> {
        self.lock().version
    }

    /// Whether an agent of version 2 announced that it starts MCP servers. In version 1 all agents do.
    pub(crate) fn takes_stdio_mcp(&self) -> bool {
        self.lock().takes_stdio_mcp
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of agent and client, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parties {
    pub(crate) agent: Option<String>,
    client: Option<String>,
}

impl Parties {
    /// A name for the connection.
    pub(crate) fn name(&self) -> String {
        match (&self.agent, &self.client) {
            (Some(agent), Some(client)) => format!("{agent} for {client}"),
            (Some(agent), None) => agent.clone(),
            (None, Some(client)) => format!("an agent for {client}"),
            (None, None) => "acp".to_owned(),
        }
    }
}

/// Reads `protocolVersion`, if it is a whole number.
fn version(members: &Members<'_>) -> Option<u64> {
    members.get("protocolVersion")?.get().parse().ok()
}

fn is_true(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// Reads `capabilities.session.mcp.stdio` (ACP v2's `McpStdioCapabilities`), an object if present.
fn stdio_mcp<'a>(result: &Members<'a>) -> Option<Members<'a>> {
    let capabilities = result.object("capabilities")?;
    capabilities
        .object("session")?
        .object("mcp")?
        .object("stdio")
}

/// One side's name. A version would make every update another client to rules.
fn party(members: &Members<'_>, places: &[&str]) -> Option<String> {
    let info = places.iter().find_map(|place| members.object(place))?;
    let name = info.string("name")?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some(truncated(name))
}

/// The name of the agent's program, for an agent without `agentInfo`.
fn program(options: &Options) -> Option<String> {
    let name = Path::new(options.agent.first()?).file_name()?;
    Some(truncated(&name.to_string_lossy()))
}

fn truncated(name: &str) -> String {
    name.chars().take(MAX_PARTY_CHARS).collect()
}

#[cfg(test)]
mod tests;
