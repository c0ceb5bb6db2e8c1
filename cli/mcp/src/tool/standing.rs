//! Where things stand in a terminal, in one word, and how that is known. Pure. Both sets derive the
//! fields of the servers that they stand in for from it, so that no two of them contradict each other.

use serde::Serialize;
use termd_proto::interact::{Activity, DoneBy, WaitEnd, WaitForResult};
use termd_proto::screen::CommandState;
use termd_proto::terminal::TerminalState;

use super::schema::Field;

/// The least confidence of a prompt by its look.
const LIKELY: f32 = 0.5;

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
        } else {
            match activity.command_state {
                CommandState::Prompt | CommandState::Input => (State::Done, KnownBy::Marks),
                CommandState::Running => Self::within_command(activity, done_by),
                CommandState::Unknown => Self::without_marks(activity, ended_by, done_by),
            }
        };
        Self { state, known_by }
    }

    /// A mark will show the end of the command.
    fn within_command(activity: &Activity, done_by: Option<DoneBy>) -> (State, KnownBy) {
        match done_by {
            Some(DoneBy::Foreground) => (State::AwaitingInput, KnownBy::Kernel),
            Some(DoneBy::Prompt) => (State::AwaitingInput, KnownBy::Prompt),
            _ if has_prompt(activity) => (State::AwaitingInput, KnownBy::Prompt),
            _ => (State::Running, KnownBy::Marks),
        }
    }

    fn without_marks(
        activity: &Activity,
        ended_by: Option<WaitEnd>,
        done_by: Option<DoneBy>,
    ) -> (State, KnownBy) {
        let is_at_home = (activity.foreground.as_ref()).is_none_or(|program| program.is_root);
        let waits = if is_at_home {
            State::Done
        } else {
            State::AwaitingInput
        };
        match (done_by, ended_by) {
            (Some(DoneBy::Marks), _) => (waits, KnownBy::Marks),
            (Some(DoneBy::Foreground), _) => (waits, KnownBy::Kernel),
            (Some(DoneBy::Prompt), _) => (waits, KnownBy::Prompt),
            _ if has_prompt(activity) => (waits, KnownBy::Prompt),
            (None, Some(WaitEnd::Settled)) => (State::Running, KnownBy::Quiet),
            _ => (State::Running, KnownBy::Kernel),
        }
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

fn has_prompt(activity: &Activity) -> bool {
    activity
        .prompt
        .is_some_and(|hint| hint.confidence >= LIKELY)
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
        let root = json!({ "pid": 1, "program": "python3", "is_root": true });
        let child = json!({ "pid": 2, "program": "ssh", "is_root": false });
        let guess = json!({ "by": "prompt", "confidence": 0.9 });
        let (done, settled) = (Some(WaitEnd::Done), Some(WaitEnd::Settled));
        let (marks, prompt) = (Some(DoneBy::Marks), Some(DoneBy::Prompt));
        for (change, ended_by, done_by, state, known_by) in [
            (
                json!({ "state": "exited" }),
                None,
                None,
                State::Exited,
                KnownBy::Exit,
            ),
            (
                json!({ "awaiting_secret": true, "command_state": "running" }),
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
                json!({ "command_state": "input" }),
                done,
                marks,
                State::Done,
                KnownBy::Marks,
            ),
            (
                json!({ "command_state": "running" }),
                settled,
                None,
                State::Running,
                KnownBy::Marks,
            ),
            (
                json!({ "command_state": "running", "prompt": guess }),
                None,
                None,
                State::AwaitingInput,
                KnownBy::Prompt,
            ),
            (
                json!({ "foreground": root }),
                done,
                Some(DoneBy::Foreground),
                State::Done,
                KnownBy::Kernel,
            ),
            (
                json!({ "foreground": root }),
                done,
                prompt,
                State::Done,
                KnownBy::Prompt,
            ),
            (
                json!({ "foreground": child }),
                done,
                prompt,
                State::AwaitingInput,
                KnownBy::Prompt,
            ),
            (
                json!({ "foreground": root }),
                settled,
                None,
                State::Running,
                KnownBy::Quiet,
            ),
            (json!({}), None, None, State::Running, KnownBy::Kernel),
        ] {
            let standing = Standing::after(&activity(&change), ended_by, done_by);
            assert_eq!(standing, Standing { state, known_by }, "{change}");
        }
    }
}
