//! What the tests of the overview share.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_proto::approval::ApprovalList;
use termd_proto::terminal::TerminalInfo;

use super::effect::Effect;
use super::model::Model;
use super::news::News;
use super::surroundings::{Now, Surroundings, Typist};
use crate::input::{Input, Key};

/// Now, in milliseconds since the Unix epoch.
pub(super) const NOW_MS: i64 = 1_795_000_000_000;

/// A terminal with a label in a state; `-exited` behind it: its command has ended.
pub(super) fn info(label: &str, state: &str, cwd: &str) -> TerminalInfo {
    let mut hasher = DefaultHasher::new();
    label.hash(&mut hasher);
    let number = hasher.finish();
    let letters =
        (0..12).map(|at| char::from(b'a' + u8::try_from((number >> (5 * at)) % 26).unwrap()));
    let (state, has_exited) = match state.strip_suffix("-exited") {
        Some(state) => (state, true),
        None => (state, matches!(state, "failed" | "done")),
    };
    let info = json!({
        "id": format!("term_{}", letters.collect::<String>()),
        "label": label,
        "argv": ["cargo", "build"],
        "cwd": cwd,
        "pid": 7,
        "state": if has_exited { "exited" } else { "running" },
        "exit_status": has_exited.then(|| json!({
            "exitCode": i32::from(state == "failed"), "signal": null,
            "exit_code": i32::from(state == "failed"),
        })),
        "attention": { "state": state, "why": "why it is so", "since_ms": NOW_MS - 125_000 },
        "cols": 20, "rows": 5,
        "owner": { "front": "mcp", "uid": 1000, "pid": 1, "exe": null, "session": null,
            "client": "claude" },
        "created_at_ms": NOW_MS - 3_700_000,
        "exited_at_ms": has_exited.then_some(NOW_MS),
        "start": 0, "end": 10,
        "output_byte_limit": 1,
    });
    serde_json::from_value(info).unwrap()
}

/// A question of the gate about a command of the terminal's.
pub(super) fn question(id: &str, terminal: &TerminalInfo, command: &str) -> Value {
    json!({
        "id": id, "state": "pending", "cwd": "/home/me/src", "verdict": "dangerous",
        "command": command,
        "reason": "`rm -rf` removes whole trees",
        "terminal": null, "program": null, "answered_by": null, "answered_at_ms": null,
        "asked_by": { "front": "mcp", "uid": 1000, "pid": 1, "exe": null, "session": null,
            "client": "claude", "agent": null, "terminal": terminal.id },
        "asked_at_ms": 0, "expires_at_ms": 0,
    })
}

/// A model, and the time in it.
pub(super) struct Stage {
    pub(super) model: Model,
    now: Now,
}

impl Stage {
    /// Of a tty of this size, with these terminals.
    pub(super) fn new(size: (u16, u16), terminals: Vec<TerminalInfo>) -> Self {
        let now = Now {
            at: Instant::now(),
            ms: NOW_MS,
        };
        let surroundings = Surroundings {
            home: Some("/home/me".to_owned()),
            ..Surroundings::default()
        };
        let mut stage = Self {
            model: Model::new(surroundings, size, now),
            now,
        };
        stage.hear(News::Connected {
            terminals,
            typist: Typist::Person,
        });
        stage
    }

    pub(super) fn hear(&mut self, news: News) -> Vec<Effect> {
        self.model.hear(news, self.now)
    }

    pub(super) fn ask(&mut self, questions: &[Value]) {
        let list = json!({ "seq": 1, "approvals": questions });
        let list: ApprovalList = serde_json::from_value(list).unwrap();
        self.hear(News::Questions(list));
    }

    pub(super) fn wait(&mut self, ms: u64) -> Vec<Effect> {
        self.pass(ms);
        self.model.tick(self.now)
    }

    /// Says a line when nothing has happened for a while.
    pub(super) fn say_after(&mut self, ms: u64, text: &str) {
        self.pass(ms);
        self.model.say_at(text, self.now);
    }

    fn pass(&mut self, ms: u64) {
        self.now.at += Duration::from_millis(ms);
        self.now.ms += i64::try_from(ms).unwrap();
    }

    pub(super) fn press(&mut self, key: Key) -> Vec<Effect> {
        self.model.take_input(Input::Key(key), self.now)
    }

    pub(super) fn input(&mut self, input: Input) -> Vec<Effect> {
        self.model.take_input(input, self.now)
    }

    pub(super) fn type_text(&mut self, text: &str) -> Vec<Effect> {
        text.chars()
            .flat_map(|c| self.press(Key::Char(c)))
            .collect()
    }
}
