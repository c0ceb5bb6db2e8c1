//! `--session-mcp`: adds `termctl mcp` to the MCP servers of a session, for agents that never ask
//! their client for a terminal.
//!
//! One element is added to `params.mcpServers`, unless it has a server of that name; no other byte
//! changes.

use std::env;
use std::path::Path;

use serde_json::{Value, json};
use termd_client::socket_path;
use termd_proto::paths::SOCKET_VARIABLE;

use crate::capabilities::Capabilities;
use crate::stderr_log::log;
use crate::wire::edit;
use crate::wire::message::Members;

/// The server's name. Agents put it in front of their tools' names.
const NAME: &str = "termd";
/// The first version in which a server has a `type`, and an agent may start no servers.
const VERSION_WITH_TYPES: u64 = 2;
/// The variables that decide which daemon is found or started. Agents pass only a small part of
/// their environment to the servers that they start (decision 0036).
const VARIABLES: [&str; 5] = [
    SOCKET_VARIABLE,
    "TERMD_BIN",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
];

/// The MCP server `termctl mcp`.
#[derive(Debug)]
pub(crate) struct SessionMcp {
    /// The absolute path of this program, taken at the start, since the binary may be replaced.
    command: Option<String>,
    /// Those of [`VARIABLES`] that are set.
    environment: Vec<(&'static str, String)>,
}

impl Default for SessionMcp {
    fn default() -> Self {
        let own = env::current_exe().ok();
        // The default is found without the variable.
        let usual = (
            "XDG_RUNTIME_DIR",
            format!("/run/user/{}", socket_path::own_uid()),
        );
        Self {
            command: own.as_deref().and_then(Path::to_str).map(str::to_owned),
            environment: VARIABLES
                .into_iter()
                .filter_map(|name| Some((name, env::var(name).ok()?)))
                .filter(|variable| !variable.1.is_empty() && *variable != usual)
                .collect(),
        }
    }
}

impl SessionMcp {
    /// Adds the server to a request that sets up a session. `None` if the request stays unchanged.
    pub(crate) fn added(&self, capabilities: &Capabilities, line: &str) -> Option<String> {
        let version = capabilities.version().unwrap_or_default();
        // ACP v2, McpServerStdio: an agent without `session.mcp.stdio` must refuse the session.
        if version >= VERSION_WITH_TYPES && !capabilities.takes_stdio_mcp() {
            log("the agent starts no MCP servers: --session-mcp has no effect");
            return None;
        }
        let Some(command) = &self.command else {
            log("cannot tell where termctl itself is: --session-mcp has no effect");
            return None;
        };
        let server = self.server(command, version);
        let edit = addition(line, &server)?;
        Some(edit::apply(line, vec![edit]))
    }

    fn server(&self, command: &str, version: u64) -> Value {
        let environment: Vec<Value> = self
            .environment
            .iter()
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let mut server = json!({
            "name": NAME,
            "command": command,
            "args": ["mcp"],
            "env": environment,
        });
        if version >= VERSION_WITH_TYPES
            && let Some(members) = server.as_object_mut()
        {
            members.insert("type".to_owned(), "stdio".into());
        }
        server
    }
}

/// Adds a server, unless the list has it already or is no list, which is left to the agent to refuse.
fn addition(line: &str, server: &Value) -> Option<edit::Edit> {
    let params = Members::of(line)?.object("params")?;
    if let Some(servers) = params.get("mcpServers") {
        let servers: Option<Vec<Value>> = serde_json::from_str(servers.get()).ok()?;
        let mut servers = servers.iter().flatten();
        if servers.any(|server| server["name"] == NAME) {
            return None;
        }
    }
    edit::push(line, &["params", "mcpServers"], server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_is_added_and_nothing_else_is_touched() {
        let table = [
            (
                r#"{"params":{"mcpServers":[]}}"#,
                Some(r#"{"params":{"mcpServers":[7]}}"#),
            ),
            (
                r#"{"params": {"cwd":"\u00e9","mcpServers":[ {"name" : "x"} ]}, "id":1.0}"#,
                Some(r#"{"params": {"cwd":"\u00e9","mcpServers":[ {"name" : "x"} ,7]}, "id":1.0}"#),
            ),
            (r#"{"params":{}}"#, Some(r#"{"params":{"mcpServers":[7]}}"#)),
            (
                r#"{"params":{"mcpServers":null}}"#,
                Some(r#"{"params":{"mcpServers":[7]}}"#),
            ),
            (
                r#"{"params":{"mcpServers":[{"name":"a"},{"name":"termd"}]}}"#,
                None,
            ),
            (r#"{"params":{"mcpServers":[{"name":"ter\u006dd"}]}}"#, None),
            (r#"{"params":{"mcpServers":{"a":1}}}"#, None),
            (r#"{"params":{"mcpServers":"all"}}"#, None),
            (r#"{"params":[]}"#, None),
            (r#"{"id":1}"#, None),
        ];
        for (line, want) in table {
            let changed = addition(line, &json!(7)).map(|edit| edit::apply(line, vec![edit]));
            assert_eq!(changed.as_deref(), want, "{line}");
        }
    }

    #[test]
    fn a_server_is_told_of_as_its_version_has_it() {
        let own = SessionMcp {
            command: Some("/bin/termctl".to_owned()),
            environment: vec![("TERMD_SOCKET", "/s".to_owned())],
        };
        let mut want = json!({
            "name": "termd",
            "command": "/bin/termctl",
            "args": ["mcp"],
            "env": [{ "name": "TERMD_SOCKET", "value": "/s" }],
        });
        assert_eq!(own.server("/bin/termctl", 1), want);
        want["type"] = json!("stdio");
        assert_eq!(own.server("/bin/termctl", 2), want);
    }
}
