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
use crate::args::{AcpArgs, DisplayArg};

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
    display: Option<DisplayArg>,
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
        options: &AcpArgs,
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
            DisplayArg::Meta
        } else {
            DisplayArg::Text
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
        options: &AcpArgs,
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
    #[allow(dead_code)] // Until the display asks.
    pub(super) fn display(&self) -> DisplayArg {
        self.lock().display.unwrap_or(DisplayArg::Text)
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
fn program(options: &AcpArgs) -> Option<String> {
    let name = Path::new(options.agent.first()?).file_name()?;
    Some(bounded(&name.to_string_lossy()))
}

fn bounded(name: &str) -> String {
    name.chars().take(MAX_PARTY_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn options(arguments: &[&str]) -> AcpArgs {
        use clap::Parser;

        #[derive(Parser)]
        struct Whole {
            #[command(flatten)]
            acp: AcpArgs,
        }
        let words = [&["acp"], arguments, &["--", "/opt/bin/some-agent", "serve"]].concat();
        Whole::parse_from(words.iter().map(OsString::from)).acp
    }

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    /// Says `initialize` with these params; what went on to the agent.
    fn asked(agreed: &Agreed, options: &AcpArgs, params: &str) -> String {
        let line = format!("{{\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n");
        let changed = agreed.asked(options, &RequestId::of(raw("0")), &line, Some(raw(params)));
        let line = changed.unwrap_or(line);
        let params = Members::of(&line).unwrap().get("params").map(RawValue::get);
        params.unwrap().to_owned()
    }

    #[test]
    fn a_client_of_version_1_without_terminals_has_ours() {
        // What the client says; what the agent hears, if it is another thing; whether they are ours.
        let table = [
            (
                r#"{"protocolVersion":1}"#,
                r#"{"clientCapabilities":{"terminal":true},"protocolVersion":1}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{}}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":null}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":[1]}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                true,
            ),
            (
                r#"{"clientCapabilities":{"terminal": false ,"fs":{"x":1.0}},"protocolVersion":1}"#,
                r#"{"clientCapabilities":{"terminal": true ,"fs":{"x":1.0}},"protocolVersion":1}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":"true"}}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":null}}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":false}}}"#,
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true,"auth":{"terminal":false}}}"#,
                true,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
                "",
                false,
            ),
            (
                r#"{"protocolVersion":1,"clientCapabilities":{"terminal":false,"terminal":true}}"#,
                "",
                false,
            ),
            (r#"{"protocolVersion":2,"capabilities":{}}"#, "", false),
            (
                r#"{"protocolVersion":0,"clientCapabilities":{}}"#,
                "",
                false,
            ),
            (
                r#"{"protocolVersion":"1","clientCapabilities":{}}"#,
                "",
                false,
            ),
            (
                r#"{"protocolVersion":1.5,"clientCapabilities":{}}"#,
                "",
                false,
            ),
            (r#"{"protocolVersion":null}"#, "", false),
            ("{}", "", false),
            ("[1]", "", false),
        ];
        for (params, want, is_ours) in table {
            let agreed = Agreed::default();
            let want = if want.is_empty() { params } else { want };
            assert_eq!(asked(&agreed, &options(&[]), params), want);
            assert_eq!(agreed.answers_terminals(), is_ours, "{params}");
        }
    }

    #[test]
    fn taking_over_changes_nothing_in_the_line() {
        let agreed = Agreed::default();
        let params = r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#;
        assert_eq!(asked(&agreed, &options(&["--take-over"]), params), params);
        assert!(agreed.answers_terminals());
        let params = r#"{"protocolVersion":2}"#;
        assert_eq!(asked(&agreed, &options(&["--take-over"]), params), params);
        assert!(!agreed.answers_terminals());
    }

    #[test]
    fn the_agents_answer_decides() {
        let table = [
            (Some(r#"{"protocolVersion":1}"#), true),
            (Some("{}"), true),
            (Some(r#"{"protocolVersion":2}"#), false),
            (Some(r#"{"protocolVersion":0}"#), false),
            (None, false),
        ];
        for (result, is_ours) in table {
            let (agreed, options) = (Agreed::default(), options(&[]));
            asked(&agreed, &options, r#"{"protocolVersion":1}"#);
            // Another request's answer is none.
            agreed.settle(&options, &RequestId::of(raw("1")), None);
            assert!(agreed.answers_terminals());
            agreed.settle(&options, &RequestId::of(raw("0")), result.map(raw));
            assert_eq!(agreed.answers_terminals(), is_ours, "{result:?}");
            // The last initialize counts.
            asked(&agreed, &options, r#"{"protocolVersion":1}"#);
            assert!(agreed.answers_terminals());
        }
    }

    #[test]
    fn the_client_is_shown_terminals_as_it_understands_them() {
        let table: [(&[&str], &str, DisplayArg); 6] = [
            (&[], "{}", DisplayArg::Text),
            (
                &[],
                r#"{"_meta":{"terminal_output":true}}"#,
                DisplayArg::Meta,
            ),
            (
                &[],
                r#"{"_meta":{"terminal_output":"true"}}"#,
                DisplayArg::Text,
            ),
            (&[], r#"{"_meta":null}"#, DisplayArg::Text),
            (
                &["--display", "off"],
                r#"{"_meta":{"terminal_output":true}}"#,
                DisplayArg::Off,
            ),
            (&["--display", "meta"], "{}", DisplayArg::Meta),
        ];
        for (arguments, capabilities, want) in table {
            let agreed = Agreed::default();
            let params = format!(r#"{{"protocolVersion":1,"clientCapabilities":{capabilities}}}"#);
            asked(&agreed, &options(arguments), &params);
            assert_eq!(agreed.display(), want, "{arguments:?} {capabilities}");
        }
    }

    #[test]
    fn both_are_called_by_their_names() {
        let long = "n".repeat(200);
        let long_info = format!(r#"{{"name":"{long}","version":"1"}}"#);
        let cut = "n".repeat(MAX_PARTY_CHARS);
        let both_cut = format!("{cut} for {cut}");
        let table = [
            (
                r#"{"name":"c","version":"1"}"#,
                r#"{"name":"a","title":"A","version":"2"}"#,
                "a 2 for c 1",
            ),
            (r#"{"name":"c"}"#, "null", "some-agent for c"),
            ("null", r#"{"name":" ","version":"2"}"#, "some-agent"),
            ("7", r#"{"name":"a","version":null}"#, "a"),
            (long_info.as_str(), long_info.as_str(), both_cut.as_str()),
        ];
        for (client, agent, want) in table {
            let (agreed, options) = (Agreed::default(), options(&[]));
            asked(
                &agreed,
                &options,
                &format!(r#"{{"protocolVersion":1,"clientInfo":{client}}}"#),
            );
            let result = format!(r#"{{"protocolVersion":1,"agentInfo":{agent}}}"#);
            let name = agreed.settle(&options, &RequestId::of(raw("0")), Some(raw(&result)));
            assert_eq!(name.as_deref(), Some(want));
            assert!(want.chars().count() <= 100);
        }
    }
}
