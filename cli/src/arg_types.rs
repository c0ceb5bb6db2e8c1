//! The types of arguments: sizes, rows, variables, names, keys, waits. Pure, but
//! for the caller's variables.

use std::env;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use termd_proto::audit::ACTIONS;
use termd_proto::duration::{self, DurationError};
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS};
use thiserror::Error;

use crate::signal_number;

/// Why an argument has no meaning. clap names the argument and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ArgError {
    #[error(
        "a size is COLSxROWS, such as 120x40, from {MIN_COLS}x1 to {MAX_DIMENSION}x{MAX_DIMENSION}"
    )]
    Size,
    #[error("rows are FROM..TO, such as 0..4 or -20..-1")]
    RowRange,
    #[error("a variable is NAME=VALUE")]
    Variable,
    #[error("there is no variable of this name here; NAME=VALUE sets one")]
    CallersVariable,
    #[error("a name is 1 to 32 of A-Z, a-z, 0-9, - and _")]
    ServerName,
    #[error("a key is ctrl- and one of a-z @ [ \\ ] ^ _")]
    ControlKey,
    #[error("an idle timeout is 1s to 365d")]
    IdleTimeout,
    #[error("there is no such signal; `termctl kill -l` lists them")]
    Signal,
    #[error(transparent)]
    Duration(#[from] DurationError),
}

/// A terminal's size, written `COLSxROWS`, within the daemon's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) cols: u16,
    pub(crate) rows: u16,
}

impl FromStr for Size {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (cols, rows) = text.split_once('x').ok_or(ArgError::Size)?;
        let within = |text: &str, min: u16| {
            let number = text.parse().map_err(|_| ArgError::Size)?;
            let is_within = (min..=MAX_DIMENSION).contains(&number);
            is_within.then_some(number).ok_or(ArgError::Size)
        };
        Ok(Self {
            cols: within(cols, MIN_COLS)?,
            rows: within(rows, 1)?,
        })
    }
}

/// Rows of a screen, written `FROM..TO`, the last one included; either end may be left out. Negative
/// rows are in the scrollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowRange {
    /// The first; absent: the screen's first.
    pub(crate) from: Option<i64>,
    /// The last; absent: the screen's last.
    pub(crate) to: Option<i64>,
}

impl FromStr for RowRange {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let row = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| ArgError::RowRange),
        };
        let (from, to) = text.split_once("..").ok_or(ArgError::RowRange)?;
        Ok(Self {
            from: row(from)?,
            to: row(to)?,
        })
    }
}

/// One variable for a command's environment, written `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Not empty.
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Variable {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(ArgError::Variable),
        }
    }
}

/// Reads `NAME=VALUE`, or `NAME`: the caller's variable, as of `docker run --env`.
pub(crate) fn variable_or_callers(text: &str) -> Result<Variable, ArgError> {
    if text.is_empty() || text.contains('=') {
        return text.parse();
    }
    let value = env::var(text).map_err(|_| ArgError::CallersVariable)?;
    Ok(Variable {
        name: text.to_owned(),
        value,
    })
}

/// An MCP client's name for a server. The client puts this name before the names of the tools, which
/// models' APIs limit to 64 of these characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerName(pub(crate) String);

impl FromStr for ServerName {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if (1..=32).contains(&text.len()) && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ArgError::ServerName)
        }
    }
}

/// A key pressed with control. A tty sends one C0 byte for such a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlKey(u8);

impl ControlKey {
    /// The byte that a terminal sends, 0x00 to 0x1f.
    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// The unshifted key's character, which the newer keyboard protocols report.
    pub(crate) fn character(self) -> u8 {
        (self.0 | 0x40).to_ascii_lowercase()
    }
}

impl FromStr for ControlKey {
    type Err = ArgError;

    /// `ctrl-]`, `^]`, `C-]` or just `]`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        let key = ["ctrl-", "ctrl+", "c-", "^"]
            .iter()
            .find_map(|prefix| lower.strip_prefix(prefix).filter(|rest| !rest.is_empty()))
            .unwrap_or(&lower);
        match key.as_bytes() {
            // Tab, newline and carriage return are typed by keys of their own.
            [byte @ (b'a'..=b'z' | b'@' | b'[' | b'\\' | b']' | b'^' | b'_')] => {
                Ok(Self(byte.to_ascii_uppercase() & 0x1f))
            }
            _ => Err(ArgError::ControlKey),
        }
    }
}

impl fmt::Display for ControlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ctrl-{}", char::from(self.character()))
    }
}

/// A short wait: a duration whose bare number is milliseconds.
pub(crate) fn parse_ms(text: &str) -> Result<u64, DurationError> {
    let in_ms = duration::parse(&format!("{text}ms"));
    let wait = in_ms.or_else(|_| duration::parse(text))?;
    u64::try_from(wait.as_millis()).map_err(|_| DurationError::TooLong)
}

/// What `--idle-timeout` may be; the daemon's bounds.
const IDLE_TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_hours(365 * 24);

/// Reads the value of `--idle-timeout`.
pub(crate) fn idle_timeout(text: &str) -> Result<Duration, ArgError> {
    let timeout = duration::parse(text)?;
    let is_allowed = IDLE_TIMEOUTS.contains(&timeout);
    is_allowed.then_some(timeout).ok_or(ArgError::IdleTimeout)
}

/// Reads the value of `--action`: an action of audit records, or what some begin with.
pub(crate) fn action(text: &str) -> Result<String, String> {
    let begins = |action: &&str| {
        let rest = action.strip_prefix(text);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if ACTIONS.iter().any(begins) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "there is no such action; there are {}",
            ACTIONS.join(", ")
        ))
    }
}

/// A signal, by its name or number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignalName(pub(crate) String);

impl FromStr for SignalName {
    type Err = ArgError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = signal_number::number(text).ok_or(ArgError::Signal);
        known.map(|_| Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let table = [
            ("120x40", Some((120, 40))),
            ("120", None),
            ("x40", None),
            ("2x1", Some((2, 1))),
            ("0x0", None),
            ("1x24", None),
            ("80x4097", None),
            ("70000x1", None),
            ("1x2x3", None),
        ];
        for (text, want) in table {
            let got = text.parse::<Size>().ok().map(|size| (size.cols, size.rows));
            assert_eq!(got, want, "{text:?}");
        }
    }

    #[test]
    fn row_ranges() {
        let table = [
            ("0..4", Some((Some(0), Some(4)))),
            ("-20..-1", Some((Some(-20), Some(-1)))),
            ("-5..", Some((Some(-5), None))),
            ("..3", Some((None, Some(3)))),
            ("..", Some((None, None))),
            ("3", None),
            ("a..b", None),
            ("1..2..3", None),
        ];
        for (text, want) in table {
            let got = text.parse::<RowRange>().ok();
            assert_eq!(got.map(|rows| (rows.from, rows.to)), want, "{text:?}");
        }
    }

    #[test]
    fn variables() {
        let table = [
            ("A=b", Some(("A", "b"))),
            ("A=", Some(("A", ""))),
            ("A=b=c", Some(("A", "b=c"))),
            ("A", None),
            ("=b", None),
        ];
        for (text, want) in table {
            let got = text.parse::<Variable>().ok();
            let got = got.as_ref().map(|v| (v.name.as_str(), v.value.as_str()));
            assert_eq!(got, want, "{text:?}");
        }
    }

    #[test]
    fn a_name_alone_is_the_callers_variable() {
        let path = env::var("PATH").unwrap();
        let read = |text| variable_or_callers(text).map(|variable| variable.value);
        assert_eq!(read("PATH"), Ok(path));
        assert_eq!(read("PATH=x"), Ok("x".to_owned()));
        assert_eq!(read("NO_SUCH_VARIABLE"), Err(ArgError::CallersVariable));
        assert_eq!(read(""), Err(ArgError::Variable));
    }

    #[test]
    fn control_keys() {
        let table = [
            ("ctrl-]", Some((0x1d, "ctrl-]"))),
            ("Ctrl-A", Some((0x01, "ctrl-a"))),
            ("^\\", Some((0x1c, "ctrl-\\"))),
            ("C-c", Some((0x03, "ctrl-c"))),
            ("c", Some((0x03, "ctrl-c"))),
            ("^", Some((0x1e, "ctrl-^"))),
            ("ctrl-@", Some((0x00, "ctrl-@"))),
            ("ctrl-", None),
            ("ctrl-é", None),
            ("f1", None),
        ];
        for (text, want) in table {
            let got = text.parse::<ControlKey>().ok();
            let got = got.map(|key| (key.byte(), key.to_string()));
            assert_eq!(
                got,
                want.map(|(byte, name)| (byte, name.to_owned())),
                "{text:?}"
            );
        }
    }

    #[test]
    fn actions() {
        for (text, is_one) in [
            ("terminal.create", true),
            ("terminal", true),
            ("term", false),
            ("terminal.", false),
            ("foo", false),
            ("", false),
        ] {
            assert_eq!(action(text).is_ok(), is_one, "{text:?}");
        }
        assert!(action("foo").unwrap_err().contains("terminal.create"));
    }

    #[test]
    fn signals() {
        for (text, is_one) in [
            ("INT", true),
            ("sigint", true),
            ("9", true),
            ("RTMIN+3", true),
            ("FOO", false),
            ("0", false),
            ("65", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<SignalName>().is_ok(), is_one, "{text}");
        }
    }

    #[test]
    fn a_short_wait_is_in_milliseconds_unless_it_says_otherwise() {
        let table = [
            ("500", Some(500)),
            ("500ms", Some(500)),
            ("2s", Some(2_000)),
            ("1m30s", Some(90_000)),
            ("1.5", Some(1)),
            ("", None),
            ("soon", None),
            ("-1", None),
        ];
        for (text, want) in table {
            assert_eq!(parse_ms(text).ok(), want, "{text:?}");
        }
    }
}
