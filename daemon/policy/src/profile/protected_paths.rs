//! Paths that a sandbox protects or hides by itself, each with the reason.

/// What is done about a protected path that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingPath {
    /// Nothing.
    Ignore,
    /// An empty directory is created, in a repository only: git does not show it.
    CreateDirectory,
}

/// Files of a workspace that run later, outside the sandbox, without a person's asking.
///
/// Files that are only read are not here (`AGENTS.md`, `CLAUDE.md`, `.github/workflows`): agents are
/// asked to write them, and a diff shows their text. A single file is never created, because an empty
/// `.mcp.json` breaks its reader.
pub(super) const PROTECTED_IN_WORKSPACE: [(&str, MissingPath, &str); 14] = [
    (
        ".git/hooks",
        MissingPath::CreateDirectory,
        "run by the person's own git",
    ),
    (
        ".git/config",
        MissingPath::Ignore,
        "names programs that git runs",
    ),
    (
        ".git/modules",
        MissingPath::Ignore,
        "hooks and settings of submodules",
    ),
    (
        ".git/info",
        MissingPath::Ignore,
        "attributes name filters that git runs",
    ),
    (
        ".husky",
        MissingPath::CreateDirectory,
        "hooks, where core.hooksPath names them",
    ),
    (".envrc", MissingPath::Ignore, "run by direnv"),
    (
        ".vscode",
        MissingPath::CreateDirectory,
        "tasks that run when the folder is opened",
    ),
    (".idea", MissingPath::CreateDirectory, "run configurations"),
    (
        ".zed",
        MissingPath::CreateDirectory,
        "tasks, and settings of agents",
    ),
    (
        ".claude",
        MissingPath::CreateDirectory,
        "hooks and permissions of an agent",
    ),
    (".codex", MissingPath::CreateDirectory, "the same"),
    (".cursor", MissingPath::CreateDirectory, "the same"),
    (".gemini", MissingPath::CreateDirectory, "the same"),
    (
        ".mcp.json",
        MissingPath::Ignore,
        "programs that agents start",
    ),
];

/// The same in the home directory, for every shell and program of the person. They matter where a
/// profile lets a directory above them be written.
pub(super) const PROTECTED_IN_HOME: [(&str, &str); 31] = [
    (".bashrc", "run by every shell"),
    (".bash_profile", "run at login"),
    (".bash_login", "run at login"),
    (".bash_logout", "run at logout"),
    (".bash_aliases", "run by every shell on Debian"),
    (".profile", "run at login"),
    (".zshrc", "run by every shell"),
    (".zshenv", "run by every shell"),
    (".zprofile", "run at login"),
    (".zlogin", "run at login"),
    (".config/fish", "run by every shell"),
    (".inputrc", "keys that run lines"),
    (".gitconfig", "names programs that git runs"),
    (".config/git", "the same"),
    (".config/systemd", "units that run at login"),
    (".config/autostart", "programs that run at login"),
    (".config/environment.d", "variables of everything at login"),
    (".config/direnv", "which .envrc may run"),
    (".local/share/direnv", "the same"),
    (".cargo/config.toml", "names programs that cargo runs"),
    (".tmux.conf", "runs programs"),
    (".vimrc", "runs programs"),
    (".config/nvim", "runs programs"),
    (".claude", "hooks and permissions of an agent"),
    (".claude.json", "the same"),
    (".codex", "the same"),
    (".cursor", "the same"),
    (".gemini", "the same"),
    (".vscode", "extensions"),
    (".config/Code/User", "settings that name programs"),
    (".config/zed", "the same"),
];

/// Sockets whose other end may do what the sandbox may not. The user's whole runtime directory is hidden
/// for the same reason: through D-Bus the user's systemd runs anything.
pub(super) const ESCAPE_SOCKETS: [(&str, &str); 3] = [
    ("/run/docker.sock", "containers with any directory in them"),
    ("/run/podman", "the same"),
    ("/tmp/.X11-unix", "types into windows"),
];
