//! Where things stand in a terminal, in one word, and how that is known. Pure. Both sets derive the
//! fields of the servers that they stand in for from it, so that no two of them contradict each other.

use serde::Serialize;
use termd_proto::interact::{Activity, DoneBy, InputKind, InputKnownBy, WaitEnd, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::TerminalState;

use super::schema::Field;

/// Where things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// The command that was typed is over, and the shell, or the program, takes the next one.
    Done,
    /// It runs.
    Running,
    /// It runs, and reads a line.
    AwaitingInput,
    /// It runs, and reads a line that the tty does not show.
    AwaitingSecret,
    /// A full-screen program is on.
    FullScreen,
    /// The terminal's own program has ended.
    Exited,
}

/// How it is known where things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KnownBy {
    /// The shell's marks: certain.
    Marks,
    /// The program's exit status: certain.
    Exit,
    /// The kernel's: the tty's modes and foreground process group, and what that sleeps in.
    Kernel,
    /// The modes of the screen that the program has set.
    Screen,
    /// The look of the last line: a guess.
    Prompt,
    /// Nothing more was printed: a guess.
    Quiet,
}

/// Where things stand, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) known_by: KnownBy,
}

impl Standing {
    /// The fields in an output schema.
    pub(crate) fn fields() -> [Field; 2] {
        [
            Field::string(
                "state",
                "done, running, awaiting_input, awaiting_secret, full_screen or exited",
            ),
            Field::string(
                "known_by",
                "marks, exit, kernel and screen are certain; prompt and quiet are guesses",
            ),
        ]
    }

    /// Of a program that has ended.
    pub(crate) const EXITED: Self = Self {
        state: State::Exited,
        known_by: KnownBy::Exit,
    };

    /// Of a terminal that nobody has waited for.
    pub(crate) fn of(activity: &Activity) -> Self {
        Self::after(activity, None, None)
    }

    /// At the end of a wait.
    pub(crate) fn of_wait(wait: &WaitForResult) -> Self {
        Self::after(&wait.activity, Some(wait.ended_by), wait.done_by)
    }

    fn after(activity: &Activity, ended_by: Option<WaitEnd>, done_by: Option<DoneBy>) -> Self {
        let (state, known_by) = if activity.state != TerminalState::Running {
            (State::Exited, KnownBy::Exit)
        } else if activity.awaiting_secret {
            (State::AwaitingSecret, KnownBy::Kernel)
        } else if activity.full_screen {
            (State::FullScreen, KnownBy::Screen)
        } else if let Some(awaited) = activity.awaited_input {
            let known_by = match awaited.known_by {
                InputKnownBy::Marks => KnownBy::Marks,
                InputKnownBy::Kernel => KnownBy::Kernel,
                InputKnownBy::Prompt => KnownBy::Prompt,
            };
            let state = match awaited.kind {
                InputKind::Command => State::Done,
                InputKind::Continuation | InputKind::Line => State::AwaitingInput,
                InputKind::Secret => State::AwaitingSecret,
            };
            (state, known_by)
        } else {
            match (done_by, ended_by, activity.command_state) {
                (Some(DoneBy::Marks), _, _) => (State::Done, KnownBy::Marks),
                (Some(DoneBy::Foreground), _, _) => (State::Done, KnownBy::Kernel),
                (Some(DoneBy::Prompt), _, _) => (State::Done, KnownBy::Prompt),
                (None, Some(WaitEnd::Settled), CommandState::Unknown) => {
                    (State::Running, KnownBy::Quiet)
                }
                (None, _, CommandState::Unknown) => (State::Running, KnownBy::Kernel),
                (None, _, _) => (State::Running, KnownBy::Marks),
            }
        };
        Self { state, known_by }
    }

    /// The same, where the marks have shown the end of the command meanwhile.
    pub(crate) fn over(self) -> Self {
        match self.state {
            State::Exited => self,
            _ => Self {
                state: State::Done,
                known_by: KnownBy::Marks,
            },
        }
    }

    /// Whether it is certain that a person or a model has to do something before anything goes on.
    pub(crate) fn awaits_somebody(self) -> bool {
        let awaits = matches!(
            self.state,
            State::AwaitingInput | State::AwaitingSecret | State::FullScreen
        );
        awaits && self.known_by != KnownBy::Prompt
    }

    /// Whether the command is over, or the program.
    pub(crate) fn is_over(self) -> bool {
        matches!(self.state, State::Done | State::Exited)
    }

    /// Whether a line is read.
    pub(crate) fn takes_a_line(self) -> bool {
        matches!(
            self.state,
            State::Done | State::AwaitingInput | State::AwaitingSecret
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn activity(change: &Value) -> Activity {
        let mut activity = json!({
            "end": 0, "state": "running", "exit_status": null, "quiet_ms": 0, "full_screen": false,
            "command_state": "unknown", "last_command": null, "cwd": null, "foreground": null,
            "prompt": null, "awaiting_secret": false, "bracketed_paste": false
        });
        for (name, value) in change.as_object().unwrap() {
            activity[name] = value.clone();
        }
        serde_json::from_value(activity).unwrap()
    }

    #[test]
    fn one_word_says_where_things_stand() {
        let awaits =
            |kind: &str, by: &str| json!({ "awaited_input": { "kind": kind, "known_by": by } });
        let with = |mut change: Value, name: &str, value: Value| {
            change[name] = value;
            change
        };
        let (done, settled) = (Some(WaitEnd::Done), Some(WaitEnd::Settled));
        let marks = Some(DoneBy::Marks);
        for (change, ended_by, done_by, state, known_by) in [
            (
                json!({ "state": "exited" }),
                None,
                None,
                State::Exited,
                KnownBy::Exit,
            ),
            (
                with(awaits("secret", "kernel"), "awaiting_secret", true.into()),
                None,
                None,
                State::AwaitingSecret,
                KnownBy::Kernel,
            ),
            (
                json!({ "full_screen": true, "command_state": "running" }),
                settled,
                None,
                State::FullScreen,
                KnownBy::Screen,
            ),
            (
                awaits("command", "marks"),
                done,
                marks,
                State::Done,
                KnownBy::Marks,
            ),
            (
                awaits("command", "prompt"),
                None,
                None,
                State::Done,
                KnownBy::Prompt,
            ),
            (
                awaits("line", "kernel"),
                None,
                None,
                State::AwaitingInput,
                KnownBy::Kernel,
            ),
            (
                with(
                    awaits("continuation", "kernel"),
                    "command_state",
                    "input".into(),
                ),
                done,
                Some(DoneBy::Foreground),
                State::AwaitingInput,
                KnownBy::Kernel,
            ),
            (
                json!({ "command_state": "running" }),
                settled,
                None,
                State::Running,
                KnownBy::Marks,
            ),
            (json!({}), settled, None, State::Running, KnownBy::Quiet),
            (json!({}), None, None, State::Running, KnownBy::Kernel),
            // The shell has printed its mark and not its prompt.
            (
                json!({ "command_state": "unknown" }),
                done,
                marks,
                State::Done,
                KnownBy::Marks,
            ),
        ] {
            let standing = Standing::after(&activity(&change), ended_by, done_by);
            assert_eq!(standing, Standing { state, known_by }, "{change}");
        }
    }
}
