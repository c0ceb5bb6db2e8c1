//! A terminal as text in a tool call: command and output in a fenced code block (`CommonMark` 0.31,
//! "Fenced code blocks"), and how the command ended.

use std::fmt::Write as _;
use std::time::Duration;

use termd_client::escape::escaped;

use crate::terminals::terminal::EndCause;
use crate::terminals::view::{Life, View};

/// Most of a command that is shown, in bytes. A script in an argument can be of any length.
const MAX_COMMAND_BYTES: usize = 2 << 10;
/// Length of the shortest fence.
const MIN_FENCE: usize = 3;

/// Formats a terminal as the text of a content entry.
pub(super) fn block(command: &str, view: &View) -> String {
    let mut body = format!("$ {}\n", shown_command(command));
    if view.left_out > 0 {
        // Writing to a string cannot fail.
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
    let fence = "`".repeat(MIN_FENCE.max(longest_run(&body) + 1));
    let ending = ending(&view.life).map_or_else(String::new, |ending| format!("\n{ending}"));
    format!("{fence}\n{body}{fence}{ending}")
}

/// Describes how a command ended, unless it exited with 0.
pub(super) fn ending(life: &Life) -> Option<String> {
    let exit = match life {
        Life::Running => return None,
        Life::Over(None) => return Some("Ended; its exit code is not known.".to_owned()),
        Life::Over(Some(exit)) => exit,
    };
    if let Some(EndCause::TimedOut(limit)) = exit.cause {
        return Some(timed_out(limit));
    }
    match (&exit.status.signal, exit.status.exit_code) {
        (Some(signal), _) => Some(format!("Ended by {}.", escaped(signal))),
        (None, Some(0)) => None,
        (None, Some(code)) => Some(format!("Exit code {code}.")),
        (None, None) => Some("Ended; its exit code is not known.".to_owned()),
    }
}

/// Describes the end of a command that ran too long.
pub(super) fn timed_out(limit: Duration) -> String {
    format!("Timed out: ended after {limit:?}.")
}

/// Replaces control characters of a command, and cuts a long one.
fn shown_command(command: &str) -> String {
    let end = command.floor_char_boundary(MAX_COMMAND_BYTES);
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
    use crate::terminals::terminal::Exit;

    fn ended(exit_code: Option<u32>, signal: Option<&str>, cause: Option<EndCause>) -> Life {
        Life::Over(Some(Exit {
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
        let shown = shown_command(&"é".repeat(MAX_COMMAND_BYTES));
        assert_eq!(shown, format!("{}…", "é".repeat(MAX_COMMAND_BYTES / 2)));
    }
}
