//! The bar below a replay: what it does, where it is, and which command is at hand. Pure.

use std::fmt::Write as _;

use termd_client::escape::one_line;
use termd_proto::screen::{Color, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::frame::Frame;
use super::page::OutputClock;

/// The fewest columns of the track; without room for them there is none.
const MIN_TRACK: usize = 8;
/// Columns of the state; only `searching` is longer.
const STATE_COLS: usize = 7;
/// A command takes no more than this part of the bar.
const COMMAND_PART: usize = 3;

/// What the bar shows of a replay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Status<'a> {
    pub(super) state: &'static str,
    pub(super) speed: f64,
    pub(super) position_ms: u64,
    pub(super) length_ms: u64,
    /// The play times at which commands began.
    pub(super) ticks: &'a [u64],
    pub(super) command: Option<&'a str>,
    /// The time at which this came, in milliseconds since the Unix epoch.
    pub(super) clock_ms: Option<i64>,
    pub(super) clock: OutputClock,
    /// The pattern that is being typed.
    pub(super) prompt: Option<&'a str>,
    pub(super) message: Option<&'a str>,
}

/// Draws the bar into the last row. `clock` is the time of day at which this was shown.
pub(super) fn draw(frame: &mut Frame, status: &Status<'_>, clock: Option<&str>) {
    let size = frame.size();
    let Some(row) = size.rows.checked_sub(1) else {
        return;
    };
    let text = line(status, clock, usize::from(size.cols));
    let style = Style {
        foreground: Color::Indexed(0),
        background: Color::Indexed(7),
        ..Style::default()
    };
    frame.write((row, 0), &text, &style);
}

/// The bar's text, of this width.
fn line(status: &Status<'_>, clock: Option<&str>, cols: usize) -> String {
    if let Some(typed) = status.prompt {
        return fitted(&format!("/{typed}_"), cols);
    }
    if let Some(message) = status.message {
        return fitted(&format!(" {}", one_line(message)), cols);
    }
    // The track stays where it is from state to state.
    let mut left = format!(" {:<STATE_COLS$}", status.state);
    if (status.speed - 1.0).abs() > f64::EPSILON {
        let _ = write!(left, " {}x", status.speed);
    }
    let length = time(status.length_ms);
    let cols_of_time = length.width();
    let _ = write!(
        left,
        " {:>cols_of_time$} / {length}",
        time(status.position_ms)
    );
    let note = match status.clock {
        OutputClock::Noted => "",
        OutputClock::FoundLate => "it came before ",
        OutputClock::Unknown => "times are not known ",
    };
    let command = status.command.map(one_line).unwrap_or_default();
    let right = |clock: Option<&str>| {
        let mut right = note.to_owned();
        if let Some(clock) = clock {
            let _ = write!(right, "{clock} ");
        }
        let part = cols / COMMAND_PART;
        if !command.is_empty() {
            let _ = write!(right, "$ {} ", fitted(&command, part));
        } else if !status.ticks.is_empty() {
            // The track keeps its scale from command to command.
            right.extend(std::iter::repeat_n(' ', part + 3));
        }
        right
    };
    let width_with = |right: &str| left.width() + right.width() + 2;
    let whole = right(clock);
    let right = if width_with(&whole) > cols {
        // Of the date and the time of day the time stays.
        right(clock.map(|clock| clock.split_once(' ').map_or(clock, |(_, time)| time)))
    } else {
        whole
    };
    let taken = width_with(&right);
    let track = match cols.checked_sub(taken) {
        Some(room) if room >= MIN_TRACK => track(status, room),
        Some(_) | None => String::new(),
    };
    fitted(&format!("{left} {track} {right}"), cols)
}

/// The way of the replay: what is behind it, what is before it, and commands as ticks.
fn track(status: &Status<'_>, cols: usize) -> String {
    let place = |play_ms: u64| {
        let last = cols.saturating_sub(1);
        let part = u128::from(play_ms) * last as u128 / u128::from(status.length_ms.max(1));
        usize::try_from(part).unwrap_or(last).min(last)
    };
    let at = place(status.position_ms);
    let mut track: Vec<char> = (0..cols)
        .map(|col| if col < at { '━' } else { '─' })
        .collect();
    for tick in status.ticks {
        let col = place(*tick);
        track[col] = if col < at { '╋' } else { '┼' };
    }
    track[at] = '█';
    track.into_iter().collect()
}

/// Minutes and seconds, with hours where there are some.
fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A text that is no wider than this, cut with `…`.
fn cut(text: &str, cols: usize) -> String {
    if text.width() <= cols {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut width = 0;
    for c in text.chars() {
        let of_character = c.width().unwrap_or(0);
        if width + of_character + 1 > cols {
            break;
        }
        width += of_character;
        shown.push(c);
    }
    shown.push('…');
    shown
}

/// A text of exactly this width.
fn fitted(text: &str, cols: usize) -> String {
    let mut fitted = cut(text, cols);
    let lacking = cols.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', lacking));
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status<'a>(ticks: &'a [u64], command: &'a str) -> Status<'a> {
        Status {
            state: "playing",
            speed: 1.0,
            position_ms: 65_000,
            length_ms: 130_000,
            ticks,
            command: Some(command),
            clock_ms: None,
            clock: OutputClock::Noted,
            prompt: None,
            message: None,
        }
    }

    #[test]
    fn it_says_where_it_is() {
        let mut shown = status(&[0, 120_000], "make\ncheck");
        let table = [
            (
                60,
                " playing 1:05 / 2:10 ╋━━━█──┼─ 14:03 $ make\\ncheck          ",
            ),
            (30, " playing 1:05 / 2:10  14:03 $…"),
            (4, " pl…"),
        ];
        for (cols, want) in table {
            let text = line(&shown, Some("14:03"), cols);
            assert_eq!((text.as_str(), text.width()), (want, cols));
        }
        let playing = line(&shown, None, 60);
        shown.state = "paused";
        let paused = line(&shown, None, 60);
        assert_eq!(playing.replacen("playing", "paused ", 1), paused);
        shown.state = "playing";
        let text = line(&shown, Some("2026-11-28 23:52:11"), 40);
        assert_eq!(text, " playing 1:05 / 2:10  23:52:11 $ make\\n…");
        shown.speed = 0.5;
        shown.clock = OutputClock::Unknown;
        shown.length_ms = 7_300_000;
        shown.command = Some("a long command that is cut");
        assert_eq!(
            line(&shown, None, 70),
            " playing 0.5x    1:05 / 2:01:40  times are not known $ a long command…"
        );
        shown.prompt = Some("err");
        assert_eq!(line(&shown, None, 8), "/err_   ");
    }
}
