//! A terminal as text in a tool call: its command and the end of its output in a fenced code block
//! (`CommonMark` 0.31, "Fenced code blocks"), and how it ended. Pure.

use std::fmt::Write as _;
use std::time::Duration;

use termd_client::escape::escaped;

use crate::terminals::{EndCause, Ended};

/// Most output that is shown, in bytes of text: many screens, and little enough to be sent whole
/// ten times a second.
pub(super) const SHOWN_BYTES: usize = 64 << 10;
/// Most of a command that is shown, in bytes: a script in one argument can be any length.
const COMMAND_BYTES: usize = 2 << 10;
/// A code block's shortest fence.
const FENCE: usize = 3;

/// A terminal at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    /// The end of its output, plain text.
    pub(super) text: String,
    /// About how many bytes of output are left out in front of that: of those that were read, the
    /// text is counted, which is without escape sequences.
    pub(super) left_out: u64,
    /// How it ended, once it has and `text` holds all of the end.
    pub(super) life: Life,
}

/// Whether a terminal's command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Life {
    /// It does.
    Running,
    /// It has ended; how, where that is known.
    Over(Option<Ended>),
}

impl View {
    /// Of text that was made of output from `start` on.
    pub(super) fn of(text: String, start: u64, life: Life) -> Self {
        let mut view = Self {
            text,
            left_out: start,
            life,
        };
        let over = view.text.len().saturating_sub(SHOWN_BYTES);
        if over > 0 || start > 0 {
            let cut = line_start(&view.text, over);
            view.text.drain(..cut);
            view.left_out += cut as u64;
        }
        view
    }
}

/// Where the first whole line begins at or after this place; where there is none, a character.
fn line_start(text: &str, from: usize) -> usize {
    // A line's end just before it makes it a line's start.
    let search = text.floor_char_boundary(from.saturating_sub(1));
    let rest = text.get(search..).unwrap_or_default();
    match rest.find('\n').map(|at| search + at + 1) {
        Some(start) if start < text.len() => start,
        _ => text.ceil_char_boundary(from),
    }
}

/// The text of a tool call's content in which a terminal is shown.
pub(super) fn block(command: &str, view: &View) -> String {
    let mut body = format!("$ {}\n", shown_command(command));
    if view.left_out > 0 {
        // Writing to a string does not fail.
        let _ = writeln!(
            body,
            "[about {} bytes of output are left out]",
            view.left_out
        );
    }
    body.push_str(&view.text);
    if !body.ends_with('\n') {
        body.push('\n');
    }
    let fence = "`".repeat(FENCE.max(longest_run(&body) + 1));
    let ending = ending(&view.life).map_or_else(String::new, |ending| format!("\n{ending}"));
    format!("{fence}\n{body}{fence}{ending}")
}

/// How a terminal ended, where that needs to be said.
pub(super) fn ending(life: &Life) -> Option<String> {
    let ended = match life {
        Life::Running => return None,
        Life::Over(None) => return Some("Ended; its exit code is not known.".to_owned()),
        Life::Over(Some(ended)) => ended,
    };
    if let Some(EndCause::TimedOut(limit)) = ended.cause {
        return Some(timed_out(limit));
    }
    match (&ended.status.signal, ended.status.exit_code) {
        (Some(signal), _) => Some(format!("Ended by {}.", escaped(signal))),
        (None, Some(0)) => None,
        (None, Some(code)) => Some(format!("Exit code {code}.")),
        (None, None) => Some("Ended; its exit code is not known.".to_owned()),
    }
}

/// What is said of a command that ran too long.
pub(super) fn timed_out(limit: Duration) -> String {
    format!("Timed out: ended after {limit:?}.")
}

/// The command as it was typed, without what is no text, and not longer than somebody reads.
fn shown_command(command: &str) -> String {
    let end = command.floor_char_boundary(COMMAND_BYTES);
    let kept = command.get(..end).unwrap_or_default().trim_end();
    let lines = kept.lines().map(|line| {
        let shown = line.chars().map(|character| match character {
            '\t' => '\t',
            character if character.is_control() => '\u{fffd}',
            character => character,
        });
        shown.collect::<String>()
    });
    let mut shown = lines.collect::<Vec<_>>().join("\n");
    if end < command.len() {
        shown.push('…');
    }
    shown
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::ExitStatus;

    use super::*;

    fn ended(exit_code: Option<u32>, signal: Option<&str>, cause: Option<EndCause>) -> Life {
        Life::Over(Some(Ended {
            status: ExitStatus {
                exit_code,
                signal: signal.map(str::to_owned),
            },
            cause,
        }))
    }

    #[test]
    fn a_block_shows_command_output_and_end() {
        let timeout = Some(EndCause::TimedOut(Duration::from_millis(1500)));
        let table = [
            ("make", "", 0, Life::Running, "```\n$ make\n```"),
            ("make", "a\nb", 0, Life::Running, "```\n$ make\na\nb\n```"),
            (
                "make",
                "a\n",
                0,
                ended(Some(0), None, None),
                "```\n$ make\na\n```",
            ),
            (
                "make",
                "a\n",
                0,
                ended(Some(2), None, None),
                "```\n$ make\na\n```\nExit code 2.",
            ),
            (
                "make",
                "a\n",
                0,
                ended(None, Some("SIGKILL"), None),
                "```\n$ make\na\n```\nEnded by SIGKILL.",
            ),
            (
                "make",
                "a\n",
                0,
                ended(None, Some("SIGTERM"), timeout),
                "```\n$ make\na\n```\nTimed out: ended after 1.5s.",
            ),
            (
                "make",
                "a\n",
                0,
                Life::Over(None),
                "```\n$ make\na\n```\nEnded; its exit code is not known.",
            ),
            (
                "cat x.md",
                "```sh\n`a`\n````\n",
                0,
                Life::Running,
                "`````\n$ cat x.md\n```sh\n`a`\n````\n`````",
            ),
            (
                "echo `````",
                "",
                0,
                Life::Running,
                "``````\n$ echo `````\n``````",
            ),
            (
                "a\n\u{1b}b\n",
                "",
                0,
                Life::Running,
                "```\n$ a\n\u{fffd}b\n```",
            ),
            (
                "make",
                "z\n",
                7,
                Life::Running,
                "```\n$ make\n[about 7 bytes of output are left out]\nz\n```",
            ),
        ];
        for (command, text, left_out, life, want) in table {
            let view = View {
                text: text.to_owned(),
                left_out,
                life,
            };
            assert_eq!(block(command, &view), want);
        }
    }

    #[test]
    fn a_long_command_is_cut() {
        let shown = shown_command(&"é".repeat(COMMAND_BYTES));
        assert_eq!(shown, format!("{}…", "é".repeat(COMMAND_BYTES / 2)));
    }

    #[test]
    fn the_end_is_shown_from_a_lines_start_on() {
        let line = "0123456789abcde\n";
        let count = SHOWN_BYTES / line.len();
        let view = |text: String, start| View::of(text, start, Life::Running);
        // All of it fits.
        let whole = view(line.repeat(count), 0);
        assert_eq!((whole.text.len(), whole.left_out), (SHOWN_BYTES, 0));
        // One line too many: exactly that is left out.
        let cut = view(line.repeat(count + 1), 0);
        assert_eq!((cut.text, cut.left_out), (line.repeat(count), 16));
        // A byte too many: a whole line is left out.
        let cut = view(format!("{}x", line.repeat(count)), 0);
        assert_eq!(cut.text, format!("{}x", line.repeat(count - 1)));
        // It begins within a line.
        let cut = view(format!("rest\n{line}"), 100);
        assert_eq!((cut.text.as_str(), cut.left_out), (line, 105));
        // One line of more than that: cut between characters.
        let cut = view("é".repeat(SHOWN_BYTES), 0);
        assert_eq!(cut.text, "é".repeat(SHOWN_BYTES / 2));
        assert_eq!(cut.left_out, SHOWN_BYTES as u64);
        // Its only line, of which the beginning is gone.
        let cut = view("a rest\n".to_owned(), 3);
        assert_eq!((cut.text.as_str(), cut.left_out), ("a rest\n", 3));
    }
}
