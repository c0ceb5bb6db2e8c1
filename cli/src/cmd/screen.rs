//! `termctl screen`: the screen as a person would see it, as text, ANSI, JSON or HTML.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use jiff::Zoned;
use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::screen::{ReadScreen, Screen, ScreenFormat, ScreenResult, ScreenRows};
use termd_proto::terminal::TerminalInfo;

use super::show::show;
use super::{Context, gaps};
use crate::args::{ScreenArgs, ScreenFormatArg};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::output_position::OutputPosition;
use crate::usage_error::UsageError;

/// The default timeout of all waits together, and the longest wait of one call.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) async fn run(context: Context, args: ScreenArgs) -> Result<ExitCode, CliError> {
    let format = format_of(&args, context.json, io::stdout().is_terminal())?;
    let link = context.open().await?;
    let id = TerminalRef(args.terminal.clone());
    let mut request = ReadScreen {
        format: Some(format),
        since: args.since,
        from_row: args.scrollback.map(|lines| -i64::from(lines)),
        changed_after: args.wait_change_after,
        settle_ms: args.settle,
        ..ReadScreen::of(id.clone())
    };
    let past = match args.at {
        Some(position) => Some(look_back(&link, &mut request, position).await?),
        None => None,
    };
    if let Some(rows) = args.rows {
        request.from_row = rows.from;
        request.to_row = rows.to;
    }
    if args.wait_change {
        request.changed_after = Some(current_seq(&link, &id).await?);
    }
    let result = waited(&link, &mut request, args.timeout.unwrap_or(TIMEOUT)).await?;
    match &result.rendering {
        Some(rendering) if !context.json => {
            let is_text = matches!(format, ScreenFormat::Text | ScreenFormat::TextJoined);
            if is_text && args.rows.is_none() {
                output::print(without_empty_end(rendering).as_bytes())?;
            } else {
                output::print(rendering.as_bytes())?;
            }
            if format == ScreenFormat::Ansi && io::stdout().is_terminal() {
                output::print(leave(&result.screen, request.rows()).as_bytes())?;
            }
        }
        _ => output::print_json(&result)?,
    }
    match &past {
        Some(info) => gaps::note_before(info, request.at, &result),
        None => gaps::note_empty(&link, &id, &result.screen).await?,
    }
    let has_waited = args.wait_change || args.wait_change_after.is_some() || args.settle.is_some();
    Ok(if has_waited && !result.settled {
        ExitCode::TIMED_OUT
    } else {
        ExitCode::OK
    })
}

/// Asks for the screen at a position of the output. Returns what is known of the terminal.
pub(super) async fn look_back(
    link: &Link,
    request: &mut ReadScreen,
    position: OutputPosition,
) -> Result<TerminalInfo, CliError> {
    let info = show(link, &request.id).await?;
    request.at = position.offset();
    request.at_ms = position.at_ms(&info, &Zoned::now());
    Ok(info)
}

/// The text without the empty lines at its end.
fn without_empty_end(text: &str) -> &str {
    let kept = text.trim_end_matches('\n').len();
    let newline = usize::from(kept > 0 && kept < text.len());
    text.get(..kept + newline).unwrap_or(text)
}

/// The requested format; by default ANSI on a tty, else text.
fn format_of(args: &ScreenArgs, json: bool, is_tty: bool) -> Result<ScreenFormat, UsageError> {
    let format = match args.format {
        Some(ScreenFormatArg::Ansi) => ScreenFormat::Ansi,
        Some(ScreenFormatArg::Json) => ScreenFormat::Json,
        Some(ScreenFormatArg::Html) => ScreenFormat::Html,
        None if json && !args.join => ScreenFormat::Json,
        None if is_tty && !args.join => ScreenFormat::Ansi,
        Some(ScreenFormatArg::Text) | None => ScreenFormat::Text,
    };
    match (format, args.join) {
        (ScreenFormat::Text, true) => Ok(ScreenFormat::TextJoined),
        (_, true) => Err(UsageError::JoinWithoutText),
        (format, false) => Ok(format),
    }
}

/// The screen's current seq, with as little of the screen as possible.
async fn current_seq(link: &Link, id: &TerminalRef) -> Result<u64, CliError> {
    let request = ReadScreen {
        to_row: Some(0),
        ..ReadScreen::of(id.clone())
    };
    Ok(link.repeat(&request).await?.screen.seq)
}

/// Waits by several calls, because one call's wait has a bound. A later call also sees an earlier
/// change.
async fn waited(
    link: &Link,
    request: &mut ReadScreen,
    timeout: Duration,
) -> Result<ScreenResult, ClientError> {
    // A timeout beyond the clock's range is none.
    let deadline = tokio::time::Instant::now().checked_add(timeout);
    loop {
        let left = deadline.map(|at| at.saturating_duration_since(tokio::time::Instant::now()));
        let slice = left.map_or(TIMEOUT, |left| left.min(TIMEOUT));
        request.timeout_ms = Some(u64::try_from(slice.as_millis()).unwrap_or(u64::MAX));
        let result = link.repeat(&*request).await?;
        let is_over = left.is_some_and(|left| left <= TIMEOUT);
        if result.settled || is_over {
            return Ok(result);
        }
    }
}

/// Moves the cursor below the printed screen, to a new line for the shell, and restores its shape.
fn leave(screen: &Screen, rows: ScreenRows) -> String {
    let cursor = i64::from(screen.cursor.row);
    let end = i64::from(screen.rows).saturating_sub(1);
    let last = rows.to_row.map_or(end, |row| row.min(end));
    let is_among_the_rows = (rows.from_row.unwrap_or(0)..=last).contains(&cursor);
    let below = last.saturating_sub(cursor);
    let down = if is_among_the_rows && below > 0 {
        format!("\x1b[{below}B")
    } else {
        String::new()
    };
    format!("{down}\r\n\x1b[0 q\x1b[?25h")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Verb};

    fn args(line: &str) -> ScreenArgs {
        let words = ["termctl", "screen", "t"]
            .into_iter()
            .chain(line.split_whitespace());
        match Cli::try_parse_from(words) {
            Ok(Cli {
                verb: Verb::Screen(args),
                ..
            }) => args,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn empty_rows_below_the_text_are_left_out() {
        for (text, want) in [
            ("a\n\nb\n\n\n", "a\n\nb\n"),
            ("a\n", "a\n"),
            ("a", "a"),
            ("\n\n", ""),
            ("", ""),
        ] {
            assert_eq!(without_empty_end(text), want, "{text:?}");
        }
    }

    #[test]
    fn formats() {
        // The line, with --json, on a tty.
        let table = [
            ("", false, true, Some(ScreenFormat::Ansi)),
            ("", false, false, Some(ScreenFormat::Text)),
            ("", true, true, Some(ScreenFormat::Json)),
            ("--format html", true, true, Some(ScreenFormat::Html)),
            (
                "--format text --join",
                false,
                true,
                Some(ScreenFormat::TextJoined),
            ),
            ("--join", false, true, Some(ScreenFormat::TextJoined)),
            ("--join", true, true, Some(ScreenFormat::TextJoined)),
            ("--join --format ansi", false, true, None),
        ];
        for (line, json, is_tty, want) in table {
            let got = format_of(&args(line), json, is_tty).ok();
            assert_eq!(got, want, "{line} {json} {is_tty}");
        }
    }

    #[test]
    fn the_shell_s_next_line_is_below_the_screen() {
        let screen = |row: u16| -> Screen {
            serde_json::from_value(serde_json::json!({
                "seq": 1, "end": 0, "cols": 80, "rows": 24, "alternate": false,
                "full_screen": false, "title": "", "command_state": "unknown", "bells": 0,
                "cursor": {
                    "row": row, "column": 3, "visible": true, "shape": "block",
                    "blinking": false, "wrap_pending": false,
                },
                "modes": {
                    "application_cursor_keys": false, "application_keypad": false,
                    "bracketed_paste": false, "focus_events": false, "mouse": "off",
                    "mouse_encoding": "x10", "synchronized_output": false,
                    "reverse_video": false, "autowrap": true, "insert": false,
                    "origin": false, "line_feed_new_line": false, "kitty_keyboard": 0,
                    "modify_other_keys": 0,
                },
                "scrollback_rows": 0, "lines": [],
            }))
            .unwrap()
        };
        // The cursor's row, the rows asked for, how far down.
        let table = [
            (5, None, None, "\x1b[18B"),
            (23, None, None, ""),
            (5, Some(-9), Some(7), "\x1b[2B"),
            (5, Some(-9), Some(-1), ""),
            (5, Some(8), None, ""),
            (5, None, Some(99), "\x1b[18B"),
        ];
        for (row, from_row, to_row, down) in table {
            let rows = ScreenRows {
                since: None,
                from_row,
                to_row,
            };
            let got = leave(&screen(row), rows);
            assert_eq!(got, format!("{down}\r\n\x1b[0 q\x1b[?25h"), "{row}");
        }
    }

    #[test]
    fn rows_may_be_negative() {
        let rows = args("--rows -20..-1").rows.map(|rows| (rows.from, rows.to));
        assert_eq!(rows, Some((Some(-20), Some(-1))));
    }
}
