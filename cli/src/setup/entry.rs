//! What stands in a client's settings for one server: the members, client by client. Pure.

use super::clients::Format;

/// The file name of this program: an entry whose command has it is ours.
const PROGRAM: &str = "termctl";

/// The server as every client knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// What the client calls it.
    pub(crate) name: String,
    /// The absolute path of the program.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Variables that the client sets for it; none of the environment otherwise.
    pub(crate) env: Vec<(String, String)>,
}

/// What a member holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    List(Vec<String>),
    Flag(bool),
    /// Set one by one: others in the same map are the user's.
    Map(Vec<(String, String)>),
}

/// Whose a member is once it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upkeep {
    /// Ours: a differing one is set again.
    Held,
    /// The user's: written with a new entry only.
    Initial,
}

/// One member of the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) content: Content,
    pub(super) upkeep: Upkeep,
}

/// The members, in the order in which clients' own documentation has them.
pub(super) fn fields(format: Format, server: &Server) -> Vec<Field> {
    let held = |key, content| Field {
        key,
        content,
        upkeep: Upkeep::Held,
    };
    let initial = |key, content| Field {
        key,
        content,
        upkeep: Upkeep::Initial,
    };
    let command = || held("command", Content::Text(server.command.clone()));
    let args = || held("args", Content::List(server.args.clone()));
    let env = |key| {
        let map = Content::Map(server.env.clone());
        (!server.env.is_empty()).then(|| held(key, map))
    };
    let text = |value: &str| Content::Text(value.to_owned());
    let (members, env) = match format {
        Format::McpServers | Format::ZedContextServers | Format::CodexToml => {
            (vec![command(), args()], env("env"))
        }
        Format::TypedMcpServers | Format::VsCodeServers => (
            vec![held("type", text("stdio")), command(), args()],
            env("env"),
        ),
        Format::CopilotMcpServers => (
            vec![
                held("type", text("local")),
                command(),
                args(),
                initial("tools", Content::List(vec!["*".to_owned()])),
            ],
            env("env"),
        ),
        Format::OpenCodeMcp => {
            let mut argv = vec![server.command.clone()];
            argv.extend(server.args.iter().cloned());
            (
                vec![
                    held("type", text("local")),
                    held("command", Content::List(argv)),
                    initial("enabled", Content::Flag(true)),
                ],
                env("environment"),
            )
        }
        Format::GooseYaml => (
            vec![
                held("name", Content::Text(server.name.clone())),
                held("type", text("stdio")),
                held("cmd", Content::Text(server.command.clone())),
                args(),
                initial("enabled", Content::Flag(true)),
            ],
            env("envs"),
        ),
    };
    members.into_iter().chain(env).collect()
}

/// Whether a command that stands in an entry is a termctl, wherever it was installed.
pub(super) fn is_ours(command: &str) -> bool {
    command.rsplit('/').next() == Some(PROGRAM)
}

/// Why an entry of our name is left alone.
pub(super) fn taken(name: &str) -> String {
    format!("\"{name}\" is another server's entry; --name gives ours another name")
}
