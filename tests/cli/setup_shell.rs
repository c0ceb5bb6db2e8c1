//! `termctl setup --shell`: the links, the clients' entries, and how all of it goes away again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use termd_test_support::Home;

use crate::termctl::TermctlOutput;

/// A home with a `termctl` of its own, and a `termd-shell` beside it that names itself.
struct Installed {
    home: Home,
    termctl: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let home = Home::create();
        let termctl = home.path("bin/termctl");
        symlink(env!("CARGO_BIN_EXE_termctl"), &termctl).unwrap();
        home.install("termd-shell", "#!/bin/sh\necho \"$0 $*\"\n");
        Self { home, termctl }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&self.termctl);
        command.args(args).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> TermctlOutput {
        TermctlOutput::of(&self.command(args).output().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home.path(path)).unwrap()
    }

    fn shells(&self) -> PathBuf {
        self.home.user_home().join(".local/share/termd/shells")
    }

    fn program(&self) -> PathBuf {
        self.home.path("bin/termd-shell")
    }
}

/// Each file, its text before, and a part of its text with the entry in it.
const FILES: [(&str, &str, &str); 4] = [
    (
        "home/.claude/settings.json",
        "{\n  \"env\": {},\n  \"model\": \"opus\" }",
        "\"CLAUDE_CODE_SHELL\": \"",
    ),
    (
        "config/opencode/opencode.jsonc",
        "// mine\n{\n\t\"share\": \"disabled\", // no\n}\n",
        "\"shell\": \"",
    ),
    (
        "config/Code/User/settings.json",
        "{\r\n    \"editor.tabSize\": 2\r\n}",
        "\"terminal.integrated.agentHostProfile.linux\": {",
    ),
    (
        "home/.codex/environments.toml",
        "# mine\n[[environments]]\nid = 'lab'\nurl = 'ws://lab'",
        "[[environments]]\nid = \"termd\"\n",
    ),
];

#[test]
fn every_client_gets_its_shell_and_every_byte_back() {
    let installed = Installed::new();
    for (path, before, _) in FILES {
        installed.write(path, before);
    }
    fs::create_dir_all(installed.home.path("home/.gemini")).unwrap();

    let output = installed.run(&["setup", "--shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.out.matches(": set up (").count(), 6, "{output:?}");
    for (path, before, entered) in FILES {
        let text = installed.read(path);
        assert!(text.contains(entered), "{text}");
        assert_ne!(text, before);
    }
    for name in ["bash", "zsh", "sh"] {
        let link = installed.shells().join(name);
        assert_eq!(fs::read_link(&link).unwrap(), installed.program());
    }
    let claude: Value =
        serde_json::from_str(&installed.read("home/.claude/settings.json")).unwrap();
    let bash = installed.shells().join("bash");
    assert_eq!(claude["env"]["CLAUDE_CODE_SHELL"], bash.to_str().unwrap());
    let codex = installed.read("home/.codex/environments.toml");
    assert!(
        codex.contains(installed.termctl.to_str().unwrap()),
        "{codex}"
    );

    let again = installed.run(&["setup", "--shell"]);
    assert_eq!(
        again.out.matches(": already set up (").count(),
        6,
        "{again:?}"
    );

    let gone = installed.run(&["setup", "--shell", "--remove"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert_eq!(gone.out.matches(": removed (").count(), 6, "{gone:?}");
    for (path, before, _) in FILES {
        assert_eq!(installed.read(path), before, "{path}");
    }
    let data = installed.home.user_home().join(".local/share/termd");
    assert!(!data.exists(), "nothing of ours is left");
    let again = installed.run(&["setup", "--shell", "--remove"]);
    assert_eq!(
        (again.code, again.out.matches(": not set up (").count()),
        (Some(0), 6)
    );
    assert!(
        installed.home.processes().is_empty(),
        "no daemon was started"
    );
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let installed = Installed::new();
    let clients = "claude-code,codex,opencode,vscode,gemini";
    let run = |args: &[&str]| {
        let output = installed.run(&[&["setup", "--shell", "--client", clients], args].concat());
        assert_eq!(output.code, Some(0), "{output:?}");
    };
    run(&[]);
    for path in [
        "home/.claude/settings.json",
        "home/.codex/environments.toml",
    ] {
        assert!(installed.home.path(path).exists(), "{path}");
    }
    run(&["--remove"]);
    for path in [
        "home/.claude/settings.json",
        "home/.codex/environments.toml",
    ] {
        assert!(!installed.home.path(path).exists(), "{path}");
    }
    assert!(
        installed.shells().join("bash").exists(),
        "other clients may need them"
    );
}

#[test]
fn what_a_person_has_set_is_left_alone_and_the_others_are_done() {
    let installed = Installed::new();
    let theirs = "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/zsh\"}}\n";
    installed.write("home/.claude/settings.json", theirs);
    fs::create_dir_all(installed.home.path("config/opencode")).unwrap();
    let output = installed.run(&["setup", "--shell"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(
        output
            .err
            .contains("settings.json:1:31: env.CLAUDE_CODE_SHELL is set to something else"),
        "{output:?}"
    );
    assert!(output.out.contains("opencode: set up"), "{output:?}");
    assert_eq!(installed.read("home/.claude/settings.json"), theirs);
    let output = installed.run(&["setup", "--shell", "--remove"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(installed.read("home/.claude/settings.json"), theirs);
}

#[test]
fn without_the_shell_s_program_nothing_is_written() {
    let installed = Installed::new();
    fs::remove_file(installed.program()).unwrap();
    // The build's own folder may have one.
    let alone = installed.home.path("alone");
    fs::create_dir(&alone).unwrap();
    let termctl = alone.join("termctl");
    fs::copy(env!("CARGO_BIN_EXE_termctl"), &termctl).unwrap();
    let mut setup = installed.home.command(&termctl);
    setup.args(["setup", "--shell", "--client", "claude-code"]);
    let output = TermctlOutput::of(&setup.output().unwrap());
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(
        output.err.contains("there is no termd-shell beside"),
        "{output:?}"
    );
    assert!(!installed.home.path("home/.claude").exists());
    assert!(!installed.shells().exists());
}

#[test]
fn links_of_an_older_termctl_are_mended_and_another_file_stays() {
    let installed = Installed::new();
    fs::create_dir_all(installed.shells()).unwrap();
    symlink("/old/termd-shell", installed.shells().join("bash")).unwrap();
    let run = || installed.run(&["setup", "--shell", "--client", "opencode"]);
    let output = run();
    assert!(output.out.contains("shells: set up anew ("), "{output:?}");
    let bash = installed.shells().join("bash");
    assert_eq!(fs::read_link(&bash).unwrap(), installed.program());
    let sh = installed.shells().join("sh");
    fs::remove_file(&sh).unwrap();
    symlink("/bin/dash", &sh).unwrap();
    let output = run();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.err.contains("shells/sh: is not termctl's"),
        "{output:?}"
    );
    assert_eq!(fs::read_link(&sh).unwrap(), Path::new("/bin/dash"));
}

#[test]
fn gemini_s_launcher_puts_our_shells_first_and_starts_the_real_one() {
    let installed = Installed::new();
    let setup = installed.run(&["setup", "--shell", "--client", "gemini"]);
    assert_eq!(setup.code, Some(0), "{setup:?}");
    assert!(
        setup.err.contains("termd/launchers first on PATH"),
        "{setup:?}"
    );
    installed.home.install(
        "gemini",
        "#!/bin/sh\nIFS='|'; echo \"$*\"; echo \"$PATH\"; bash -c 1\n",
    );
    let launchers = installed
        .home
        .user_home()
        .join(".local/share/termd/launchers");
    let path = format!(
        "{}:{}:/usr/bin:/bin",
        launchers.display(),
        installed.home.path("bin").display()
    );
    let mut gemini = installed.home.command(launchers.join("gemini"));
    gemini.args(["-p", "a b", "*"]).env("PATH", path);
    let output = TermctlOutput::of(&gemini.output().unwrap());
    let shells = installed.shells();
    let want = format!(
        "-p|a b|*\n{shells}:{bin}:/usr/bin:/bin\n{shells}/bash -c 1\n",
        shells = shells.display(),
        bin = installed.home.path("bin").display()
    );
    assert_eq!(
        (output.out.as_str(), output.code),
        (want.as_str(), Some(0)),
        "{output:?}"
    );
}

#[test]
fn printing_writes_nothing_and_the_data_may_be_elsewhere() {
    let installed = Installed::new();
    let data = installed.home.path("data");
    let mut print = installed.command(&["setup", "--shell", "--client", "claude-code", "--print"]);
    let output = TermctlOutput::of(&print.env("XDG_DATA_HOME", &data).output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    let bash = data.join("termd/shells/bash");
    assert_eq!(
        output.json()["env"]["CLAUDE_CODE_SHELL"],
        bash.to_str().unwrap()
    );
    assert!(output.err.contains(".claude/settings.json"), "{output:?}");
    assert!(!data.exists() && !installed.home.path("home/.claude").exists());

    let none = installed.run(&["setup", "--shell"]);
    assert_eq!(none.code, Some(2), "no client is there: {none:?}");
    let windsurf = installed.run(&["setup", "--shell", "--client", "windsurf"]);
    assert_eq!(windsurf.code, Some(1), "{windsurf:?}");
    assert!(
        windsurf.err.contains("claude-code, codex, gemini"),
        "{windsurf:?}"
    );
    let both = installed.run(&["setup", "--shell", "--project"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn a_file_is_there_afterwards_where_it_was_there_before() {
    let installed = Installed::new();
    let (linked, empty) = (
        "home/.claude/settings.json",
        "config/opencode/opencode.json",
    );
    let target = installed.home.path("home/elsewhere.json");
    fs::create_dir_all(installed.home.path("home/.claude")).unwrap();
    symlink(&target, installed.home.path(linked)).unwrap();
    installed.write(empty, "");
    for args in [
        ["setup", "--shell"].as_slice(),
        &["setup", "--shell", "--remove"],
    ] {
        let output = installed.run(args);
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    assert!(!target.exists());
    assert!(installed.home.path(linked).is_symlink());
    assert_eq!(installed.read(empty), "");
}

#[test]
fn links_that_stay_are_named() {
    let installed = Installed::new();
    installed.write("home/.claude/settings.json", "{}");
    let clients = ["--client", "claude-code"];
    installed.run(&[["setup", "--shell"].as_slice(), &clients].concat());
    let removed = installed.run(&[["setup", "--shell", "--remove"].as_slice(), &clients].concat());
    assert!(
        removed.err.contains("stay, for other clients"),
        "{removed:?}"
    );
    assert!(installed.shells().join("bash").is_symlink());
}
