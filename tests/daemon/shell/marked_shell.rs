//! A shell with termd's integration, on a real PTY, and the marks that it prints.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use termd_test_support::{DEADLINE, Deadline, Home, RawClient, TestDaemon, wait_until};

/// A shell with termd's integration in a terminal.
pub(crate) struct MarkedShell<'a> {
    pub(crate) client: RawClient,
    pub(crate) id: String,
    daemon: &'a TestDaemon,
}

impl<'a> MarkedShell<'a> {
    /// Starts a shell with these arguments.
    pub(crate) fn start(daemon: &'a TestDaemon, argv: &[&str]) -> Self {
        Self::start_with(daemon, &json!({ "command": argv[0], "args": argv[1..] }))
    }

    pub(crate) fn start_with(daemon: &'a TestDaemon, create: &Value) -> Self {
        let mut client = daemon.client();
        let id = client.create_terminal(create);
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

    /// The number of prompts so far. Each prints its directory by OSC 7 behind mark A.
    pub(crate) fn prompts(&mut self) -> usize {
        self.text().matches("\u{1b}]7;").count()
    }

    /// Waits until the newest marks are these. Mark B is printed with the prompt, behind all
    /// others.
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

    /// Waits until the marks are exactly these.
    #[track_caller]
    pub(crate) fn expect(&mut self, expected: &[String]) {
        self.expect_newest(expected);
        assert_eq!(self.marks(), expected);
    }

    /// Types a line and waits for the next prompt.
    pub(crate) fn run(&mut self, line: &str) -> &mut Self {
        let before = self.wait_for_prompts(1);
        self.type_in(&format!("{line}\r"));
        self.wait_for_prompts(before + 1);
        self
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.client.send_text(&self.id, text);
    }

    pub(crate) fn wait_for_prompts(&mut self, count: usize) -> usize {
        let mut prompts = 0;
        wait_until(&format!("{count} prompts"), || {
            prompts = self.prompts();
            prompts >= count
        });
        prompts
    }

    /// The output of the newest command, between its marks C and D.
    pub(crate) fn newest_output(&mut self) -> String {
        let text = self.text();
        let mark = "\u{1b}]133;C\u{1b}\\";
        let from = text.rfind(mark).unwrap() + mark.len();
        let to = from + text[from..].find("\u{1b}]133;D").unwrap();
        text[from..to].replace('\r', "")
    }

    /// All marks so far except OSC 7, with `NONCE` in place of the nonce.
    pub(crate) fn marks(&mut self) -> Vec<String> {
        let marks = osc(&self.text());
        let marks = marks.into_iter().filter(|mark| !mark.starts_with("7;"));
        marks.map(|mark| without_nonce(&mark)).collect()
    }

    /// The newest directory reported by OSC 7.
    pub(crate) fn directory(&mut self) -> String {
        let marks = osc(&self.text());
        let newest = marks.iter().rev().find_map(|mark| mark.strip_prefix("7;"));
        let url = newest.unwrap().strip_prefix("file://").unwrap();
        url[url.find('/').unwrap()..].to_owned()
    }

    pub(crate) fn home(&self) -> &Home {
        self.daemon
    }
}

/// The bodies of the OSC sequences that are marks.
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

/// Replaces the 32 digits of the nonce in `633;E;text;0123…`.
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

/// A daemon with this file in its home.
pub(crate) fn daemon_with(file: &str, text: &str) -> TestDaemon {
    let home = Home::create();
    let path = home.user_home().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    TestDaemon::start_in(home)
}

/// The expected marks: `A B`, and `E C D;code A B` for each command.
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
