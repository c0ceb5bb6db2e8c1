//! The entry of one server in a client's settings: its members, client by client. Pure.

use super::clients::Format;

/// The file name of this program. An entry with such a command is termctl's.
const PROGRAM: &str = "termctl";
/// The first argument of an entry.
const VERB: &str = "mcp";

/// The server, for any client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    /// The client's name for the server.
    pub(crate) name: String,
    /// The absolute path of the program.
    pub(crate) command: String,
    pub(crate) args: Arguments,
    /// Variables that the client sets for the server.
    pub(crate) env: Vec<(String, String)>,
}

/// The arguments of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// Of any entry.
    Set(Vec<String>),
    /// Of a new entry. One that is there keeps its own.
    Initial(Vec<String>),
}

impl Arguments {
    /// The arguments where an entry with these is there, if one is.
    pub(super) fn over(&self, there: Option<Vec<String>>) -> Vec<String> {
        match (self, there) {
            (Self::Initial(_), Some(there)) if there.first().is_some_and(|it| it == VERB) => there,
            (Self::Set(words) | Self::Initial(words), _) => words.clone(),
        }
    }
}

/// A member's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    List(Vec<String>),
    Flag(bool),
    /// Set one by one, because other entries of the map are the user's.
    Map(Vec<(String, String)>),
}

/// The owner of a member after it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upkeep {
    /// termctl, which sets a different value again.
    Held,
    /// The user: written with a new entry only.
    Initial,
}

/// One member of the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) content: Content,
    pub(super) upkeep: Upkeep,
}

/// The members, in the order of the clients' documentation. `there`: the arguments of the entry that is
/// there.
pub(super) fn fields(format: Format, server: &Server, there: Option<Vec<String>>) -> Vec<Field> {
    let arguments = server.args.over(there);
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
    let args = || held("args", Content::List(arguments.clone()));
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
            argv.extend(arguments.iter().cloned());
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

/// Whether an entry's command is a termctl, wherever it is installed.
pub(super) fn is_ours(command: &str) -> bool {
    command.rsplit('/').next() == Some(PROGRAM)
}

/// Why an entry of our name is left alone.
pub(super) fn taken(name: &str) -> String {
    format!("\"{name}\" is another server's entry; --name gives ours another name")
}
