//! What programs run of a workspace although nobody has asked for it.

use std::fs;

use super::{inside, outside, sandboxed};

/// A file or directory of a workspace, by the program that reads it unasked: because somebody opens
/// the directory in an editor, changes into it, has a prompt there, or starts an agent or git in it.
/// `Held`: it cannot be written where it is, and where `Absent` not be made either.
enum Verdict {
    Held,
    HeldAndNotMade,
    /// It stays writable, for this reason.
    Open(&'static str),
}

use Verdict::{Held, HeldAndNotMade, Open};

const RUN_UNASKED: &[(&str, &str, Verdict)] = &[
    // On changing into the directory, and at each prompt.
    (".envrc", "direnv", Held),
    ("deep/er/.envrc", "direnv", Held),
    (
        "mise.toml",
        "mise, where the file is trusted by its path",
        Held,
    ),
    (".mise.toml", "mise", Held),
    ("mise.local.toml", "mise", Held),
    (".mise.local.toml", "mise", Held),
    ("deep/mise.toml", "mise", Held),
    (".config/mise/config.toml", "mise", Held),
    (".config/mise.toml", "mise", Held),
    (".mise/config.toml", "mise", Held),
    ("mise/config.toml", "mise", Held),
    (
        "rust-toolchain.toml",
        "rustup, for a prompt that shows versions",
        Held,
    ),
    ("rust-toolchain", "rustup", Held),
    (
        ".tool-versions",
        "asdf",
        Open("only chooses among what is installed"),
    ),
    (
        ".nvmrc",
        "nvm",
        Open("only chooses among what is installed"),
    ),
    (
        ".env",
        "dotenv",
        Open("asks by itself, and agents write it"),
    ),
    (
        "flake.nix",
        "direnv",
        Open("run where an .envrc that was allowed says so"),
    ),
    // On opening the directory in an editor.
    (".vscode/tasks.json", "VS Code", HeldAndNotMade),
    (".idea/workspace.xml", "IntelliJ", HeldAndNotMade),
    (".zed/tasks.json", "Zed", HeldAndNotMade),
    (".helix/languages.toml", "Helix", Held),
    (".devcontainer/devcontainer.json", "VS Code", Held),
    (".devcontainer.json", "VS Code", Held),
    (".nvim.lua", "Neovim with exrc", Held),
    (".nvimrc", "Neovim with exrc", Held),
    (".exrc", "Vim with exrc", Held),
    (".vimrc", "Vim with exrc", Held),
    (".lvimrc", "Vim with localvimrc", Held),
    (".dir-locals.el", "Emacs", Held),
    (".dir-locals-2.el", "Emacs", Held),
    (
        "node_modules/.bin/eslint",
        "editors",
        Open("a build has to write it"),
    ),
    ("build.rs", "rust-analyzer", Open("the project's code")),
    // On starting an agent.
    (".claude/settings.json", "Claude Code", HeldAndNotMade),
    (".codex/config.toml", "Codex", HeldAndNotMade),
    (".cursor/mcp.json", "Cursor", HeldAndNotMade),
    (".gemini/settings.json", "Gemini", HeldAndNotMade),
    (".opencode/plugin/x.js", "opencode", HeldAndNotMade),
    ("opencode.json", "opencode", Held),
    ("opencode.jsonc", "opencode", Held),
    (".continue/config.yaml", "Continue", Held),
    (".windsurf/hooks.json", "Windsurf", Held),
    (".roo/mcp.json", "Roo Code", Held),
    (".kiro/hooks/x.json", "Kiro", Held),
    (".qwen/settings.json", "Qwen Code", Held),
    (".amazonq/default.json", "Amazon Q", Held),
    (".factory/settings.json", "Factory", Held),
    (".github/hooks/x.json", "Copilot", Held),
    (".mcp.json", "agents", Held),
    (".aider.conf.yml", "aider", Held),
    ("AGENTS.md", "agents", Open("text, which a diff shows")),
    // On a commit, by a hook that is there.
    (".husky/pre-commit", "git", HeldAndNotMade),
    (".pre-commit-config.yaml", "pre-commit", Held),
    ("lefthook.yml", "lefthook", Held),
    (".lefthook.yml", "lefthook", Held),
    (".lefthook/pre-commit/x", "lefthook", Held),
    (
        ".gitattributes",
        "git",
        Open("names filters, which only a config gives a program"),
    ),
    (".gitmodules", "git", Open("git refuses a command in it")),
    // On request.
    ("Makefile", "make", Open("asked for")),
    ("package.json", "npm", Open("asked for")),
    (".npmrc", "npm", Open("asked for")),
    (
        ".cargo/config.toml",
        "cargo",
        Open("asked for, as is build.rs"),
    ),
    (
        ".gdbinit",
        "gdb",
        Open("gdb refuses it outside of its safe path"),
    ),
    (
        ".venv/bin/activate",
        "python",
        Open("asked for; packages are installed there"),
    ),
];

pub(super) fn are_not_written() {
    let Some(daemon) = sandboxed("") else { return };
    outside(
        &daemon,
        "make_repository full; make_repository bare; cp -r bare linked.main; \
        git -C linked.main worktree add -q $HOME/linked",
    );
    for (path, _, _) in RUN_UNASKED {
        let path = daemon.user_home().join("full").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "before\n").unwrap();
    }
    let write = |(path, _, _): &(&str, &str, Verdict)| {
        format!("mkdir -p $(dirname {path}); echo after > {path}")
    };
    let script = RUN_UNASKED.iter().map(write).collect::<Vec<_>>().join(";");
    for directory in ["full", "bare", "linked"] {
        inside(&daemon, directory, &format!("({script}) 2>/dev/null"));
    }
    let mut wrong = Vec::new();
    for (path, reader, verdict) in RUN_UNASKED {
        let (kept, not_made, why) = match verdict {
            Held => (true, false, "run unasked"),
            HeldAndNotMade => (true, true, "run unasked"),
            Open(why) => (false, false, *why),
        };
        let at = |directory: &str| daemon.user_home().join(directory).join(path);
        let is_kept = fs::read_to_string(at("full")).unwrap() == "before\n";
        if is_kept != kept {
            wrong.push(format!("{path} of {reader}, {why}: kept {is_kept}"));
        }
        for directory in ["bare", "linked"] {
            if at(directory).exists() == not_made {
                wrong.push(format!(
                    "{path} of {reader}: made in {directory} {}",
                    !not_made
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
