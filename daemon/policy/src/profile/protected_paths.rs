//! Paths that a sandbox protects by itself, each with the reason.

/// What is done about a protected path that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingPath {
    /// Nothing.
    Ignore,
    /// An empty directory is created.
    CreateDirectory,
    /// An empty file is created.
    CreateFile,
}

const IGNORE: MissingPath = MissingPath::Ignore;
const CREATE: MissingPath = MissingPath::CreateDirectory;

/// Files of a workspace that run later, outside the sandbox, without a person's asking: when somebody
/// opens the workspace in an editor, changes into it, or starts an agent or git in it. What git itself
/// obeys is found by [`super::sandbox_access::GitAccess`].
///
/// Files that are only read are not here (`AGENTS.md`, `CLAUDE.md`, `.github/workflows`): agents are
/// asked to write them, and a diff shows their text. A single file is never created, because an empty
/// `.mcp.json` breaks its reader. A directory is where many have the program that reads it: each one
/// that is created costs every start a mount.
pub(super) const PROTECTED_IN_WORKSPACE: &[(&str, MissingPath, &str)] = &[
    (".husky", CREATE, "hooks, where core.hooksPath names them"),
    (".pre-commit-config.yaml", IGNORE, "run by a hook of git"),
    ("lefthook.yml", IGNORE, "run by a hook of git"),
    ("lefthook.yaml", IGNORE, "the same"),
    ("lefthook.toml", IGNORE, "the same"),
    ("lefthook.json", IGNORE, "the same"),
    ("lefthook-local.yml", IGNORE, "the same"),
    (".lefthook.yml", IGNORE, "the same"),
    (".lefthook-local.yml", IGNORE, "the same"),
    (".lefthook", IGNORE, "the same"),
    (".config/mise", IGNORE, "run by mise, also at a prompt"),
    (".config/mise.toml", IGNORE, "the same"),
    (".mise", IGNORE, "the same"),
    ("mise/config.toml", IGNORE, "the same"),
    (
        "rust-toolchain.toml",
        IGNORE,
        "names a directory of programs, also for a prompt",
    ),
    ("rust-toolchain", IGNORE, "the same"),
    (
        ".vscode",
        CREATE,
        "tasks that run when the folder is opened",
    ),
    (
        ".devcontainer",
        IGNORE,
        "commands of a container that an editor starts",
    ),
    (".devcontainer.json", IGNORE, "the same"),
    (".idea", CREATE, "run configurations"),
    (".zed", CREATE, "tasks, and settings of agents"),
    (".helix", IGNORE, "names language servers"),
    (".nvim.lua", IGNORE, "run by Neovim with exrc"),
    (".nvimrc", IGNORE, "the same"),
    (".exrc", IGNORE, "run by Vim with exrc"),
    (".vimrc", IGNORE, "the same"),
    (".lvimrc", IGNORE, "run by localvimrc"),
    (".dir-locals.el", IGNORE, "run by Emacs"),
    (".dir-locals-2.el", IGNORE, "the same"),
    (".claude", CREATE, "hooks and permissions of an agent"),
    (".codex", CREATE, "the same"),
    (".cursor", CREATE, "the same"),
    (".gemini", CREATE, "the same"),
    (".opencode", CREATE, "the same"),
    ("opencode.json", IGNORE, "the same"),
    ("opencode.jsonc", IGNORE, "the same"),
    (".continue", IGNORE, "the same"),
    (".windsurf", IGNORE, "the same"),
    (".roo", IGNORE, "the same"),
    (".kilocode", IGNORE, "the same"),
    (".kiro", IGNORE, "the same"),
    (".qwen", IGNORE, "the same"),
    (".amazonq", IGNORE, "the same"),
    (".factory", IGNORE, "the same"),
    (".github/hooks", IGNORE, "the same"),
    (".aider.conf.yml", IGNORE, "the same"),
    (".crush.json", IGNORE, "the same"),
    ("crush.json", IGNORE, "the same"),
    (".mcp.json", IGNORE, "programs that agents start"),
    (".goose", IGNORE, "the same"),
];

/// Names of files that are protected in every directory of a workspace: what a shell runs by itself
/// when somebody changes into the directory.
pub(super) const PROTECTED_EVERYWHERE: &[(&str, &str)] = &[
    (".envrc", "run by direnv"),
    ("mise.toml", "run by mise"),
    (".mise.toml", "the same"),
    ("mise.local.toml", "the same"),
    (".mise.local.toml", "the same"),
];

/// Files of the home directory that run later, by every shell and program of the person. They matter
/// where a profile lets a directory above them be written.
pub(super) const PROTECTED_IN_HOME: &[(&str, &str)] = &[
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
    (".zlogout", "run at logout"),
    (".config/zsh", "run by every shell"),
    (".oh-my-zsh", "the same"),
    (".bashrc.d", "the same"),
    (".config/starship.toml", "names programs that a prompt runs"),
    (".config/mise", "run at every prompt"),
    (".pam_environment", "variables of everything at login"),
    (".xprofile", "run at login"),
    (".xsessionrc", "run at login"),
    (".xinitrc", "run at login"),
    (
        ".local/share/applications",
        "programs that the desktop starts",
    ),
    (".local/bin", "programs on the path"),
    ("bin", "programs on the path"),
    (".config/tmux", "runs programs"),
    (".config/zellij", "runs programs"),
    (".config/kitty", "runs programs"),
    (".config/wezterm", "runs programs"),
    (".wezterm.lua", "runs programs"),
    (".config/helix", "names language servers"),
    (".emacs", "run by Emacs"),
    (".emacs.d", "the same"),
    (".config/emacs", "the same"),
    (".config/opencode", "hooks and permissions of an agent"),
    (".qwen", "the same"),
];
