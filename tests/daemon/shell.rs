//! Shell integration: the real shells on a real PTY, and exactly which marks they print.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::support::{DEADLINE, Deadline, Home, RawClient, TestDaemon, skip, wait_until};

/// A shell with termd's integration in a terminal.
pub(crate) struct Shell<'a> {
    pub(crate) client: RawClient,
    pub(crate) id: String,
    daemon: &'a TestDaemon,
}

impl<'a> Shell<'a> {
    /// Starts it with these arguments.
    pub(crate) fn start(daemon: &'a TestDaemon, argv: &[&str]) -> Self {
        Self::start_with(daemon, &json!({ "command": argv[0], "args": argv[1..] }))
    }

    pub(crate) fn start_with(daemon: &'a TestDaemon, create: &Value) -> Self {
        let mut client = daemon.client();
        let info = client.ok("session.create", create);
        let id = info["id"].as_str().unwrap().to_owned();
        Self { client, id, daemon }
    }

    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let page = self.client.ok(
            "session.read",
            &json!({ "id": self.id, "encoding": "base64", "max_bytes": 1 << 20 }),
        );
        BASE64.decode(page["data"].as_str().unwrap()).unwrap()
    }

    pub(crate) fn text(&mut self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// How many prompts there were so far, each with the directory that is told after A.
    pub(crate) fn prompts(&mut self) -> usize {
        self.text().matches("\u{1b}]7;").count()
    }

    /// Waits until the newest marks are these; B is printed with the prompt, after all others.
    #[track_caller]
    pub(crate) fn expect_newest(&mut self, expected: &[String]) {
        let deadline = Deadline::after(DEADLINE);
        loop {
            let marks = self.marks();
            if marks.ends_with(expected) {
                return;
            }
            assert!(
                !deadline.passed(),
                "{marks:#?} do not end with {expected:#?}"
            );
            std::thread::yield_now();
        }
    }

    /// Waits until all marks are these.
    #[track_caller]
    pub(crate) fn expect(&mut self, expected: &[String]) {
        self.expect_newest(expected);
        assert_eq!(self.marks(), expected);
    }

    /// Types, and waits for the next prompt.
    pub(crate) fn run(&mut self, line: &str) -> &mut Self {
        let before = self.wait_for_prompts(1);
        self.type_in(&format!("{line}\r"));
        self.wait_for_prompts(before + 1);
        self
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.client
            .ok("session.send", &json!({ "id": self.id, "text": text }));
    }

    pub(crate) fn wait_for_prompts(&mut self, count: usize) -> usize {
        let mut prompts = 0;
        wait_until(&format!("{count} prompts"), || {
            prompts = self.prompts();
            prompts >= count
        });
        prompts
    }

    /// What the terminal showed after the mark C of the newest command, up to its D.
    pub(crate) fn newest_output(&mut self) -> String {
        let text = self.text();
        let mark = "\u{1b}]133;C\u{1b}\\";
        let from = text.rfind(mark).unwrap() + mark.len();
        let to = from + text[from..].find("\u{1b}]133;D").unwrap();
        text[from..to].replace('\r', "")
    }

    /// All marks so far without OSC 7, with the nonce as `NONCE`.
    pub(crate) fn marks(&mut self) -> Vec<String> {
        let marks = osc(&self.text());
        let marks = marks.into_iter().filter(|mark| !mark.starts_with("7;"));
        marks.map(|mark| without_nonce(&mark)).collect()
    }

    /// The newest directory told by OSC 7.
    pub(crate) fn directory(&mut self) -> String {
        let marks = osc(&self.text());
        let told = marks.iter().rev().find_map(|mark| mark.strip_prefix("7;"));
        let url = told.unwrap().strip_prefix("file://").unwrap();
        url[url.find('/').unwrap()..].to_owned()
    }

    pub(crate) fn home(&self) -> &Home {
        self.daemon
    }
}

/// The bodies of the operating system commands that are marks.
fn osc(text: &str) -> Vec<String> {
    text.split("\u{1b}]")
        .skip(1)
        .filter_map(|rest| rest.split(['\u{7}', '\u{1b}']).next())
        .filter(|body| {
            ["133;", "633;", "7;"]
                .iter()
                .any(|kind| body.starts_with(kind))
        })
        .map(str::to_owned)
        .collect()
}

/// `633;E;text;0123…` with the 32 digits of the nonce replaced.
fn without_nonce(mark: &str) -> String {
    match mark.rsplit_once(';') {
        Some((rest, nonce))
            if mark.starts_with("633;")
                && nonce.len() == 32
                && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            format!("{rest};NONCE")
        }
        _ => mark.to_owned(),
    }
}

/// A daemon, and in its home this file.
pub(crate) fn daemon_with(file: &str, text: &str) -> TestDaemon {
    let home = Home::new();
    let path = home.user_home().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    TestDaemon::start_in(home)
}

pub(crate) fn is_installed(shell: &str, test: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|directory| directory.join(shell).is_file());
    if !found {
        skip(test, &format!("{shell} is not installed"));
    }
    found
}

/// `A B`, and for a command `E C D;code A B` after it.
pub(crate) fn expected(commands: &[(&str, i32)]) -> Vec<String> {
    let mut marks = vec!["133;A".to_owned(), "133;B".to_owned()];
    for (text, code) in commands {
        if !text.is_empty() {
            marks.push(format!("633;E;{text};NONCE"));
        }
        marks.push("133;C".to_owned());
        marks.push(format!("133;D;{code}"));
        marks.extend(["133;A".to_owned(), "133;B".to_owned()]);
    }
    marks
}

/// What a shell does when a line that is being typed is cancelled.
#[derive(Clone, Copy, PartialEq)]
enum Cancelled {
    NewPrompt,
    /// fish empties the line and goes on.
    SamePrompt,
}

/// What each shell must do alike: uses it, and gives the marks that are to be there.
fn ordinary_use(
    shell: &mut Shell<'_>,
    multi_line: (&str, &str),
    cancelled: Cancelled,
) -> Vec<String> {
    shell
        .run("echo hi")
        .run("false")
        .run("false")
        .run(" echo hidden");
    shell.run("");
    if cancelled == Cancelled::NewPrompt {
        let before = shell.prompts();
        shell.type_in("never run\u{3}");
        shell.wait_for_prompts(before + 1);
    }
    shell.run(multi_line.0);
    shell.run(r"echo 'a;b\ü'");
    let spaced = shell.home().user_home().join("ä b;c");
    fs::create_dir(&spaced).unwrap();
    shell.run("cd 'ä b;c'");
    let directory = shell.directory();
    assert!(directory.ends_with("/home/%C3%A4%20b%3Bc"), "{directory}");
    shell.run("env | grep TERMD_SHELL");
    let mut marks = expected(&[("echo hi", 0), ("false", 1), ("false", 1), ("", 0)]);
    // An empty line and a cancelled one: prompts and nothing else.
    marks.extend(["133;A", "133;B"].map(str::to_owned));
    if cancelled == Cancelled::NewPrompt {
        marks.extend(["133;A", "133;B"].map(str::to_owned));
    }
    let more = expected(&[
        (multi_line.1, 0),
        (r"echo 'a\x3bb\\ü'", 0),
        (r"cd 'ä b\x3bc'", 0),
        ("env | grep TERMD_SHELL", 1),
    ]);
    marks.extend(more.into_iter().skip(2));
    marks
}

#[test]
fn bash_marks_each_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nrc_was_read=yes\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x3b do echo $i\x3b done";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $?");
    assert_eq!(shell.newest_output(), "yes 1\n");
    shell.run("(exit 3)").run("true | (exit 4)");
    shell.expect_newest(&expected(&[("(exit 3)", 3), ("true | (exit 4)", 4)])[2..]);
}

#[test]
fn zsh_marks_each_command() {
    if !is_installed("zsh", "zsh_marks_each_command") {
        return;
    }
    let daemon = daemon_with(".zshrc", "PS1='%% '\nrc_was_read=yes\n");
    let mut shell = Shell::start(&daemon, &["zsh"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x0ado echo $i\x0adone";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $? ${ZDOTDIR-unset} \"[$PS1]\"");
    assert_eq!(
        shell.newest_output().lines().next(),
        Some("yes 1 unset [%% ]")
    );
}

#[test]
fn fish_marks_each_command_but_not_where_the_prompt_ends() {
    if !is_installed(
        "fish",
        "fish_marks_each_command_but_not_where_the_prompt_ends",
    ) {
        return;
    }
    let daemon = daemon_with(
        ".config/fish/config.fish",
        "set -g rc_was_read yes\nfunction fish_prompt\n  echo '> '\nend\n",
    );
    let config = daemon.user_home().join(".config");
    let mut shell = Shell::start_with(
        &daemon,
        &json!({ "command": "fish", "env": { "XDG_CONFIG_HOME": config } }),
    );
    let multi_line = "for i in 1 2\recho $i\rend";
    let joined = r"for i in 1 2\x0aecho $i\x0aend";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::SamePrompt);
    let marks: Vec<String> = marks.into_iter().filter(|mark| mark != "133;B").collect();
    shell.expect(&marks);
    shell.run("echo $rc_was_read $status; set -q XDG_DATA_DIRS; or echo unset");
    let said = shell.newest_output();
    assert!(said.contains("yes 1\nunset\n"), "{said:?}");
    shell.run("functions fish_prompt | string match -e termd; or echo untouched");
    assert!(shell.newest_output().contains("untouched\n"));
}

#[test]
fn what_is_run_in_a_shell_is_a_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nHISTCONTROL=ignorespace\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    shell.run("echo one").run("(exit 3)").run(" echo hidden");
    let commands = |shell: &mut Shell<'_>, filter: Value| {
        let page = shell
            .client
            .ok("command.list", &json!({ "filter": filter }));
        let all = page["commands"].as_array().unwrap().clone();
        let told = |it: &Value| {
            (
                it["number"].clone(),
                it["text"].clone(),
                it["exit_code"].clone(),
            )
        };
        all.iter().map(told).collect::<Vec<_>>()
    };
    let id = shell.id.clone();
    wait_until("three commands have ended", || {
        let all = commands(&mut shell, json!({ "terminal": id, "failed": false }));
        all.iter().any(|command| command.0 == 3)
    });
    let all = commands(&mut shell, json!({ "terminal": id }));
    let row = |number: i64, text: &str, code: Value| (json!(number), json!(text), code);
    assert_eq!(
        all,
        [
            row(3, "", json!(0)),
            row(2, "(exit 3)", json!(3)),
            row(1, "echo one", json!(0)),
            row(0, "bash", Value::Null),
        ]
    );
    let found = commands(&mut shell, json!({ "query": "ECHO" }));
    assert_eq!(found, [row(1, "echo one", json!(0))]);
    let shown = shell
        .client
        .ok("command.show", &json!({ "id": id, "number": 1 }));
    let page = shell
        .client
        .ok("command.read", &json!({ "id": id, "number": 1 }));
    assert_eq!(page["text"], "one\n");
    assert!(shown["cwd"].as_str().unwrap().ends_with("/home"));
}
