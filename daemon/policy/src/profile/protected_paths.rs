//! Paths that a sandbox protects by itself, each with the reason.

/// What is done about a protected path that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingPath {
    /// Nothing.
    Ignore,
    /// An empty directory is created where one of these is in the home: its reader is in use.
    CreateDirectoryFor(&'static [&'static str]),
    /// An empty directory is created.
    CreateDirectory,
    /// An empty file is created.
    CreateFile,
}

const IGNORE: MissingPath = MissingPath::Ignore;

const fn create_for(traces: &'static [&'static str]) -> MissingPath {
    MissingPath::CreateDirectoryFor(traces)
}

/// Files at the root of a repository, and of a workspace, that run later, outside the sandbox, without a
/// person's asking: when somebody opens the directory in an editor, changes into it, or starts an agent or
/// git in it. What git itself obeys is found by [`super::sandbox_access::GitAccess`].
///
/// Files that are only read are not here (`AGENTS.md`, `CLAUDE.md`, `.github/workflows`): agents are
/// asked to write them, and a diff shows their text. A single file is never created, because an empty
/// `.mcp.json` breaks its reader. A directory is created where its reader has left a trace in the home:
/// nobody else runs what is in it, and each costs every start a mount.
pub(super) const REPOSITORY_SETTINGS: &[(&str, MissingPath, &str)] = &[
    (
        ".husky",
        IGNORE,
        "hooks; absent, it is where core.hooksPath names it",
    ),
    (".huskyrc*", IGNORE, "the same"),
    ("husky.config.*", IGNORE, "the same"),
    (".pre-commit-config.yaml", IGNORE, "run by a hook of git"),
    ("prek.toml", IGNORE, "the same"),
    (".overcommit.yml", IGNORE, "the same"),
    (".git-hooks", IGNORE, "run by Overcommit"),
    (".githooks", IGNORE, "where core.hooksPath often leads"),
    (".simple-git-hooks*", IGNORE, "run by a hook of git"),
    ("simple-git-hooks*", IGNORE, "the same"),
    ("hk.pkl", IGNORE, "the same"),
    ("grumphp.*", IGNORE, "the same"),
    ("captainhook.json", IGNORE, "the same"),
    (".lintstagedrc*", IGNORE, "run by a hook of git"),
    ("lint-staged.config.*", IGNORE, "the same"),
    (".commitlintrc*", IGNORE, "the same"),
    ("commitlint.config.*", IGNORE, "the same"),
    ("lefthook.*", IGNORE, "the same"),
    ("lefthook-local.*", IGNORE, "the same"),
    (".lefthook*", IGNORE, "the same"),
    (".config/lefthook.yml", IGNORE, "the same"),
    (".config/mise", IGNORE, "run by mise, also at a prompt"),
    (".config/mise.toml", IGNORE, "the same"),
    (".mise", IGNORE, "the same"),
    ("mise.*.toml", IGNORE, "the same"),
    (".mise.*.toml", IGNORE, "the same"),
    (".miserc.toml", IGNORE, "the same"),
    (".shadowenv.d", IGNORE, "run by shadowenv at a prompt"),
    (".lazygit.yml", IGNORE, "names programs that lazygit runs"),
    ("mise/config.toml", IGNORE, "the same"),
    (
        "rust-toolchain.toml",
        IGNORE,
        "names a directory of programs, also for a prompt",
    ),
    ("rust-toolchain", IGNORE, "the same"),
    (
        ".vscode",
        create_for(&[
            ".vscode",
            ".vscode-server",
            ".vscode-oss",
            ".config/Code",
            ".config/VSCodium",
            ".cursor",
            ".codeium",
            ".kiro",
            ".trae",
        ]),
        "tasks that run when the folder is opened",
    ),
    ("*.code-workspace", IGNORE, "the same"),
    (
        ".devcontainer",
        IGNORE,
        "commands of a container that an editor starts",
    ),
    (".devcontainer.json", IGNORE, "the same"),
    (
        ".idea",
        create_for(&[".config/JetBrains", ".local/share/JetBrains"]),
        "run configurations",
    ),
    (
        ".zed",
        create_for(&[".config/zed", ".local/share/zed"]),
        "tasks, and settings of agents",
    ),
    (
        ".helix",
        create_for(&[".config/helix"]),
        "names language servers",
    ),
    (".nvim.lua", IGNORE, "run by Neovim with exrc"),
    (".nvimrc", IGNORE, "the same"),
    (".nvim", IGNORE, "the same"),
    (".local.vimrc", IGNORE, "run by Vim with local_vimrc"),
    (".kakrc.local", IGNORE, "run by Kakoune"),
    (".lazy.lua", IGNORE, "run by Neovim with lazy.nvim"),
    (".vim", IGNORE, "names language servers for coc.nvim"),
    (".exrc", IGNORE, "run by Vim with exrc"),
    (".vimrc", IGNORE, "the same"),
    (".dir-locals.el", IGNORE, "run by Emacs"),
    (".dir-locals-2.el", IGNORE, "the same"),
    (
        ".claude",
        create_for(&[".claude", ".claude.json"]),
        "hooks and permissions of an agent",
    ),
    (".codex", create_for(&[".codex"]), "the same"),
    (".cursor", create_for(&[".cursor"]), "the same"),
    (".gemini", create_for(&[".gemini"]), "the same"),
    (
        ".opencode",
        create_for(&[".config/opencode", ".local/share/opencode"]),
        "the same",
    ),
    ("opencode.json", IGNORE, "the same"),
    ("opencode.jsonc", IGNORE, "the same"),
    (".agents", IGNORE, "the same"),
    (".augment", create_for(&[".augment"]), "the same"),
    (".continue", create_for(&[".continue"]), "the same"),
    (".junie", create_for(&[".junie"]), "the same"),
    (".openhands", create_for(&[".openhands"]), "the same"),
    (".trae", create_for(&[".trae"]), "the same"),
    (".windsurf", create_for(&[".codeium"]), "the same"),
    (".roo", create_for(&[".roo"]), "the same"),
    (".kilocode", create_for(&[".kilocode"]), "the same"),
    (".kiro", create_for(&[".kiro"]), "the same"),
    (".qwen", create_for(&[".qwen"]), "the same"),
    (".amazonq", create_for(&[".aws/amazonq"]), "the same"),
    (".factory", create_for(&[".factory"]), "the same"),
    (".github/hooks", IGNORE, "the same"),
    (".aider.conf.yml", IGNORE, "the same"),
    (".crush.json", IGNORE, "the same"),
    ("crush.json", IGNORE, "the same"),
    (".mcp.json", IGNORE, "programs that agents start"),
    (
        ".amp",
        create_for(&[".config/amp", ".local/share/amp"]),
        "the same",
    ),
    (".goose", create_for(&[".config/goose"]), "the same"),
];

/// Names that are protected in every directory of a workspace: what a shell or an editor runs by itself
/// when somebody changes into the directory, and repositories of other programs than git, whose settings
/// run commands, too.
pub(super) const PROTECTED_EVERYWHERE: &[(&str, &str)] = &[
    (".envrc", "run by direnv"),
    ("mise.toml", "run by mise"),
    (".mise.toml", "the same"),
    ("mise.local.toml", "the same"),
    (".mise.local.toml", "the same"),
    (".autoenv", "run by autoenv"),
    (".autoenv.zsh", "the same"),
    (".autoenv_leave.zsh", "the same"),
    (".rvmrc", "run by rvm"),
    (".lvimrc", "run by localvimrc"),
    (".hg", "Mercurial"),
    (".jj", "Jujutsu"),
    (".sl", "Sapling"),
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
    (".vim", "runs programs"),
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
    (".bash_completion", "run by every shell"),
    (".config/bash_completion", "the same"),
    (".local/share/bash-completion", "the same"),
    (".cargo/env", "the same"),
    (".nvm/nvm.sh", "the same"),
    (".fzf.bash", "the same"),
    (".fzf.zsh", "the same"),
    (".p10k.zsh", "the same"),
    (".config/alacritty", "runs programs"),
    (".config/ghostty", "runs programs"),
];
