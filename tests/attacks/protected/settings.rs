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
    (".autoenv.zsh", "autoenv", Held),
    (".rvmrc", "rvm", Held),
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
    // `path:DIRECTORY` names programs (asdf-vm.com, "Configuration").
    (".tool-versions", "asdf", Held),
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
    (".helix/languages.toml", "Helix", HeldAndNotMade),
    (".devcontainer/devcontainer.json", "VS Code", Held),
    (".devcontainer.json", "VS Code", Held),
    (".nvim.lua", "Neovim with exrc", Held),
    (".nvimrc", "Neovim with exrc", Held),
    (".local.vimrc", "Vim with local_vimrc", Held),
    (".kakrc.local", "Kakoune with a plugin", Held),
    (".nvim/x.lua", "Neovim with a plugin", Held),
    (".lazygit.yml", "lazygit", Held),
    (".shadowenv.d/x.lisp", "shadowenv", Held),
    ("mise.production.toml", "mise", Held),
    (".mise.production.toml", "mise", Held),
    (".miserc.toml", "mise", Held),
    (".githooks/pre-commit", "git, once a setting names it", Held),
    ("hk.pkl", "hk", Held),
    ("grumphp.yml", "GrumPHP", Held),
    ("captainhook.json", "CaptainHook", Held),
    (".simple-git-hooks.json", "simple-git-hooks", Held),
    (".exrc", "Vim with exrc", Held),
    (".vimrc", "Vim with exrc", Held),
    (".lvimrc", "Vim with localvimrc", Held),
    ("deep/.lvimrc", "Vim with localvimrc", Held),
    (".lazy.lua", "lazy.nvim", Held),
    (".vim/coc-settings.json", "coc.nvim", Held),
    ("work.code-workspace", "VS Code", Held),
    (".dir-locals.el", "Emacs", Held),
    (".dir-locals-2.el", "Emacs", Held),
    (
        "node_modules/.bin/eslint",
        "editors",
        Open("a build has to write it"),
    ),
    ("build.rs", "rust-analyzer", Open("the project's code")),
    // On starting an interpreter without a script.
    (".Rprofile", "R", Held),
    (".Renviron", "R", Held),
    (".irbrc", "irb", Held),
    (".pryrc", "Pry", Held),
    (".pdbrc", "pdb", Held),
    (".rdbgrc", "rdbg", Held),
    (".byebugrc", "byebug", Held),
    (".pijul/config", "Pijul", Held),
    (".iex.exs", "iex", Held),
    (".ghci", "GHCi", Held),
    (".ocamlinit", "OCaml", Held),
    // On starting an agent.
    (".claude/settings.json", "Claude Code", HeldAndNotMade),
    (".codex/config.toml", "Codex", HeldAndNotMade),
    (".cursor/mcp.json", "Cursor", HeldAndNotMade),
    (".gemini/settings.json", "Gemini", HeldAndNotMade),
    (".opencode/plugin/x.js", "opencode", HeldAndNotMade),
    ("opencode.json", "opencode", Held),
    ("opencode.jsonc", "opencode", Held),
    (".continue/config.yaml", "Continue", HeldAndNotMade),
    (".windsurf/hooks.json", "Windsurf", HeldAndNotMade),
    (".roo/mcp.json", "Roo Code", HeldAndNotMade),
    (".kiro/hooks/x.json", "Kiro", HeldAndNotMade),
    (".qwen/settings.json", "Qwen Code", HeldAndNotMade),
    (".amazonq/default.json", "Amazon Q", HeldAndNotMade),
    (".factory/settings.json", "Factory", HeldAndNotMade),
    (".github/hooks/x.json", "Copilot", Held),
    (".mcp.json", "agents", Held),
    (".aider.conf.yml", "aider", Held),
    (".augment/settings.json", "Augment", HeldAndNotMade),
    (".junie/mcp/mcp.json", "Junie", HeldAndNotMade),
    (".trae/mcp.json", "Trae", HeldAndNotMade),
    (".openhands/setup.sh", "OpenHands", HeldAndNotMade),
    (".agents/hooks.json", "agents", Held),
    (".goose/config.yaml", "Goose", HeldAndNotMade),
    (".amp/settings.json", "Amp", HeldAndNotMade),
    ("AGENTS.md", "agents", Open("text, which a diff shows")),
    // On a commit, by a hook that is there.
    (
        ".husky/pre-commit",
        "git, where core.hooksPath names it",
        Held,
    ),
    (".pre-commit-config.yaml", "pre-commit", Held),
    ("lefthook.yml", "lefthook", Held),
    (".lefthook.yml", "lefthook", Held),
    (".lefthook/pre-commit/x", "lefthook", Held),
    ("prek.toml", "prek", Held),
    (".overcommit.yml", "Overcommit", Held),
    (".lintstagedrc.mjs", "lint-staged", Held),
    ("lint-staged.config.js", "lint-staged", Held),
    (".huskyrc.json", "husky", Held),
    ("commitlint.config.js", "commitlint", Held),
    (".hg/hgrc", "Mercurial", Held),
    ("deep/.hg/hgrc", "Mercurial", Held),
    (".jj/repo/config.toml", "Jujutsu", Held),
    (".sl/config", "Sapling", Held),
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

/// What programs that have been used leave in the home.
const TRACES: &[&str] = &[
    ".aws/amazonq",
    ".augment",
    ".claude",
    ".codeium",
    ".codex",
    ".config/Code",
    ".config/JetBrains",
    ".config/amp",
    ".config/goose",
    ".config/helix",
    ".config/opencode",
    ".config/zed",
    ".continue",
    ".cursor",
    ".factory",
    ".gemini",
    ".junie",
    ".kiro",
    ".openhands",
    ".qwen",
    ".roo",
    ".trae",
];

/// A directory is made in a repository for programs that have been used, and for no others.
pub(super) fn directories_are_made_for_what_is_used() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, "make_repository work; mkdir .codex");
    let names = inside(&daemon, "work", "ls -A1");
    assert_eq!(names, ".codex\r\n.git\r\nfile\r\n");
}

/// The workspace is a directory with repositories in it.
pub(super) fn of_repositories_below_are_not_written() {
    let Some(daemon) = sandboxed("") else { return };
    outside(
        &daemon,
        "mkdir -p src .claude; make_repository src/a; make_repository src/deep/b; \
         for r in src/a src/deep/b; do echo before | tee $r/.pre-commit-config.yaml \
         $r/rust-toolchain.toml $r/.mcp.json $r/x.code-workspace; done >/dev/null",
    );
    let script = "for r in a deep/b; do cd $r; mkdir -p .claude; \
         for f in .pre-commit-config.yaml rust-toolchain.toml .mcp.json x.code-workspace \
         .claude/settings.json file; do (echo after > $f) 2>/dev/null && echo $r/$f; done; \
         cd - >/dev/null; done";
    assert_eq!(inside(&daemon, "src", script), "a/file\r\ndeep/b/file\r\n");
}

pub(super) fn are_not_written() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, &format!("mkdir -p {}", TRACES.join(" ")));
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

/// A tool for dotfiles has put the files into a repository, and links where they were. A command works
/// in that repository.
pub(super) fn links() {
    let Some(daemon) = sandboxed("") else { return };
    outside(
        &daemon,
        "make_repository dot; mkdir -p dot/t .config/fish/conf.d .local/bin .config/systemd/user \
         dot/.vscode dot/.husky plugin; for name in fish tool unit tasks hook open; do \
         echo before > dot/t/$name; done; \
         ln -s $HOME/dot/t/fish .config/fish/conf.d/x.fish; ln -s $HOME/dot/t/tool .local/bin/tool; \
         ln -s ../../../dot/t/unit .config/systemd/user/x.service; \
         ln -s ../t/tasks dot/.vscode/tasks.json; ln -s ../t/hook dot/.husky/pre-commit; \
         ln -s $HOME/dot .local/bin/above; ln -s $HOME/dot/t/absent .local/bin/absent",
    );
    let script = "for file in t/*; do echo after > $file; done 2>/dev/null; \
        rm -f t/fish; mv t gone; mkdir t; (echo after > t/absent) 2>/dev/null; cat t/*";
    let said = inside(&daemon, "dot", script);
    let seen = outside(
        &daemon,
        "cd dot/t; for file in *; do echo $file $(cat $file); done",
    );
    let expected =
        "absent\nfish before\nhook before\nopen after\ntasks before\ntool before\nunit before\n";
    assert_eq!(seen, expected, "{said}");
    // The daemon's own settings.
    let config = daemon.user_home().join("../config/termd/config.toml");
    fs::rename(&config, daemon.user_home().join("dot/termd.toml")).unwrap();
    std::os::unix::fs::symlink(daemon.user_home().join("dot/termd.toml"), &config).unwrap();
    let said = inside(&daemon, "dot", "echo x > termd.toml && echo written");
    assert!(said.contains("Read-only file system"), "{said}");
}
