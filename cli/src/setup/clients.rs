//! The clients that termctl can set up: the place and format of each one's settings on Linux, and the
//! signs that it is installed. Pure, except that it checks whether paths exist.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The format of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `mcpServers` → `{command, args, env}`.
    McpServers,
    /// The same with `type: stdio`.
    TypedMcpServers,
    /// The same with `type: local` and the tools that may be used.
    CopilotMcpServers,
    /// `servers` → `{type: stdio, command, args, env}`.
    VsCodeServers,
    /// `context_servers` → `{command, args, env}`, in JSON with comments and trailing commas.
    ZedContextServers,
    /// `mcp` → `{type: local, command: [...], enabled, environment}`.
    OpenCodeMcp,
    /// `[mcp_servers.NAME]` with `command`, `args`, `env`.
    CodexToml,
    /// `extensions:` → `{name, type: stdio, cmd, args, enabled, envs}`; printed only.
    GooseYaml,
}

impl Format {
    /// The member that holds all servers.
    pub(crate) const fn container(self) -> &'static str {
        match self {
            Self::McpServers | Self::TypedMcpServers | Self::CopilotMcpServers => "mcpServers",
            Self::VsCodeServers => "servers",
            Self::ZedContextServers => "context_servers",
            Self::OpenCodeMcp => "mcp",
            Self::CodexToml => "mcp_servers",
            Self::GooseYaml => "extensions",
        }
    }
}

/// The scope of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The user's.
    User,
    /// The project's in the current directory. Others read this file too.
    Project,
}

/// The directories of the user and the project.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// `$HOME`.
    pub(crate) home: PathBuf,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub(crate) config: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, if set.
    pub(crate) claude: Option<PathBuf>,
    /// `$CODEX_HOME`, else `~/.codex`.
    pub(crate) codex: PathBuf,
    /// `$XDG_DATA_HOME`, else `~/.local/share`.
    pub(crate) data: PathBuf,
    /// The current directory.
    pub(crate) project: PathBuf,
}

impl Places {
    /// From the environment; `None` without a home.
    pub(crate) fn of_environment(
        variable: impl Fn(&str) -> Option<PathBuf>,
        project: PathBuf,
    ) -> Option<Self> {
        // By the XDG Base Directory Specification a relative path is ignored.
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let home = absolute("HOME")?;
        Some(Self {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            claude: absolute("CLAUDE_CONFIG_DIR"),
            codex: absolute("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            data: absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
            home,
            project,
        })
    }
}

/// The directory above a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    Home,
    Config,
    Codex,
    Data,
    /// Claude Code's own rule: `~/.claude.json`, or the same name in `$CLAUDE_CONFIG_DIR`.
    Claude,
    /// `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    ClaudeFolder,
}

impl Base {
    /// The first of these paths that exists, else the first.
    pub(super) fn file(self, places: &Places, files: &[&str]) -> Option<PathBuf> {
        let paths = || files.iter().map(|file| self.below(places, file));
        paths()
            .find(|path| path.exists())
            .or_else(|| paths().next())
    }

    fn below(self, places: &Places, path: &str) -> PathBuf {
        let claude = places.claude.as_deref();
        let base: &Path = match self {
            Self::Home => &places.home,
            Self::Config => &places.config,
            Self::Codex => &places.codex,
            Self::Data => &places.data,
            Self::Claude => claude.unwrap_or(&places.home),
            Self::ClaudeFolder => {
                return claude
                    .map_or_else(|| places.home.join(".claude"), Path::to_owned)
                    .join(path);
            }
        };
        base.join(path)
    }
}

/// One client.
#[derive(Debug)]
pub(crate) struct Client {
    /// The name for `--client`.
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    base: Base,
    /// The user's settings: the first path that exists, else the first.
    user: &'static [&'static str],
    /// A project's, below its root.
    project: Option<&'static str>,
    /// Paths below `base` that exist if the client is installed.
    signs: &'static [&'static str],
}

/// All clients. Paths and formats are from each client's documentation.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        format: Format::TypedMcpServers,
        base: Base::Claude,
        user: &[".claude.json"],
        project: Some(".mcp.json"),
        signs: &[".claude.json", ".claude"],
    },
    Client {
        name: "claude-desktop",
        format: Format::McpServers,
        base: Base::Config,
        user: &["Claude/claude_desktop_config.json"],
        project: None,
        signs: &["Claude"],
    },
    Client {
        name: "vscode",
        format: Format::VsCodeServers,
        base: Base::Config,
        user: &["Code/User/mcp.json"],
        project: Some(".vscode/mcp.json"),
        signs: &["Code/User"],
    },
    Client {
        name: "vscode-insiders",
        format: Format::VsCodeServers,
        base: Base::Config,
        user: &["Code - Insiders/User/mcp.json"],
        project: Some(".vscode/mcp.json"),
        signs: &["Code - Insiders/User"],
    },
    Client {
        name: "cursor",
        format: Format::McpServers,
        base: Base::Home,
        user: &[".cursor/mcp.json"],
        project: Some(".cursor/mcp.json"),
        signs: &[".cursor"],
    },
    Client {
        name: "windsurf",
        format: Format::McpServers,
        base: Base::Home,
        user: &[".codeium/windsurf/mcp_config.json"],
        project: None,
        signs: &[".codeium/windsurf"],
    },
    Client {
        name: "codex",
        format: Format::CodexToml,
        base: Base::Codex,
        user: &["config.toml"],
        project: Some(".codex/config.toml"),
        signs: &[""],
    },
    Client {
        name: "zed",
        format: Format::ZedContextServers,
        base: Base::Config,
        user: &["zed/settings.json"],
        project: Some(".zed/settings.json"),
        signs: &["zed"],
    },
    Client {
        name: "gemini",
        format: Format::McpServers,
        base: Base::Home,
        user: &[".gemini/settings.json"],
        project: Some(".gemini/settings.json"),
        signs: &[".gemini"],
    },
    Client {
        name: "copilot",
        format: Format::CopilotMcpServers,
        base: Base::Home,
        user: &[".copilot/mcp-config.json"],
        project: None,
        signs: &[".copilot"],
    },
    Client {
        name: "opencode",
        format: Format::OpenCodeMcp,
        base: Base::Config,
        user: &["opencode/opencode.json", "opencode/opencode.jsonc"],
        project: Some("opencode.json"),
        signs: &["opencode"],
    },
    Client {
        name: "cline",
        format: Format::McpServers,
        base: Base::Config,
        user: &["Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"],
        project: None,
        signs: &["Code/User/globalStorage/saoudrizwan.claude-dev"],
    },
    Client {
        name: "roo",
        format: Format::McpServers,
        base: Base::Config,
        user: &["Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"],
        project: Some(".roo/mcp.json"),
        signs: &["Code/User/globalStorage/rooveterinaryinc.roo-cline"],
    },
    Client {
        name: "amazon-q",
        format: Format::McpServers,
        base: Base::Home,
        user: &[".aws/amazonq/mcp.json"],
        project: Some(".amazonq/mcp.json"),
        signs: &[".aws/amazonq"],
    },
    Client {
        name: "goose",
        format: Format::GooseYaml,
        base: Base::Config,
        user: &["goose/config.yaml"],
        project: None,
        signs: &["goose"],
    },
];

impl Client {
    /// The settings file; `None` if the client has no such scope.
    pub(crate) fn file(&self, places: &Places, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Project => self.project.map(|file| places.project.join(file)),
            Scope::User => self.base.file(places, self.user),
        }
    }

    /// Whether this user seems to use the client.
    pub(crate) fn is_there(&self, places: &Places) -> bool {
        self.signs
            .iter()
            .any(|sign| self.base.below(places, sign).exists())
    }

    /// The client of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }
}

/// A client by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientName(pub(crate) &'static Client);

impl FromStr for ClientName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Client::named(text)
            .map(Self)
            .ok_or_else(|| format!("the clients are {}", names()))
    }
}

/// The names of all clients, for a person.
pub(crate) fn names() -> String {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    names.join(", ")
}
