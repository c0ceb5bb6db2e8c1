//! The values that arguments are made of: durations, sizes, variables, keys, times.
//!
//! Pure, and of the standard library alone.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Reads `90`, `1.5`, `500ms`, `10s`, `2m`, `3h` or `1d`; a bare number is seconds, as for
/// timeout(1).
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits_end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits_end);
    let unit_seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("a duration is a number and ms, s, m, h or d: 500ms, 10s, 2m".to_owned()),
    };
    let count: f64 = number
        .parse()
        .map_err(|_| "a duration begins with a number: 500ms, 10s, 2m".to_owned())?;
    Duration::try_from_secs_f64(count * unit_seconds)
        .map_err(|_| "this duration is too long".to_owned())
}

/// A terminal's size, written `COLSxROWS`. Its bounds are the daemon's to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) cols: u16,
    /// Rows.
    pub(crate) rows: u16,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || "a size is COLSxROWS, such as 120x40".to_owned();
        let (cols, rows) = text.split_once('x').ok_or_else(bad)?;
        Ok(Self {
            cols: cols.parse().map_err(|_| bad())?,
            rows: rows.parse().map_err(|_| bad())?,
        })
    }
}

/// Rows of a screen, written `FROM..TO`, the last one included; either may be left out. Negative
/// ones are in the scrollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowRange {
    /// The first; absent: the screen's first.
    pub(crate) from: Option<i64>,
    /// The last; absent: the screen's last.
    pub(crate) to: Option<i64>,
}

impl FromStr for RowRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || "rows are FROM..TO, such as 0..4 or -20..-1".to_owned();
        let row = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| bad()),
        };
        let (from, to) = text.split_once("..").ok_or_else(bad)?;
        Ok(Self {
            from: row(from)?,
            to: row(to)?,
        })
    }
}

/// One variable for a command's environment, written `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Before the first `=`; not empty.
    pub(crate) name: String,
    /// After it.
    pub(crate) value: String,
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("a variable is NAME=VALUE".to_owned()),
        }
    }
}

/// What an MCP client calls a server: it becomes a part of the tools' names there, which models'
/// APIs hold to 64 of these characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerName(pub(crate) String);

impl FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if (1..=32).contains(&text.len()) && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err("a name is 1 to 32 of A-Z, a-z, 0-9, - and _".to_owned())
        }
    }
}

/// A key pressed with control: what a tty sends for it is one C0 byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ControlKey(u8);

impl ControlKey {
    /// The byte that a terminal sends for it, 0x00 to 0x1f.
    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// The unshifted key's character: what the newer keyboard protocols report.
    pub(crate) fn character(self) -> u8 {
        (self.0 | 0x40).to_ascii_lowercase()
    }
}

impl FromStr for ControlKey {
    type Err = String;

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
            _ => Err("a key is ctrl- and one of a-z @ [ \\ ] ^ _".to_owned()),
        }
    }
}

impl fmt::Display for ControlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ctrl-{}", char::from(self.character()))
    }
}

/// A point in time: so long ago, or in seconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// This long before now.
    Ago(Duration),
    /// Milliseconds since the Unix epoch.
    AtMs(i64),
}

impl Moment {
    /// In milliseconds since the epoch.
    pub(crate) fn at_ms(self, now_ms: i64) -> i64 {
        match self {
            Self::Ago(ago) => {
                now_ms.saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX))
            }
            Self::AtMs(at) => at,
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix('@') {
            Some(seconds) => seconds
                .parse::<i64>()
                .ok()
                .and_then(|seconds| seconds.checked_mul(1000))
                .map(Self::AtMs)
                .ok_or_else(|| "after @ stand seconds since 1970".to_owned()),
            None => parse_duration(text).map(Self::Ago),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let table = [
            ("10", Some(10_000)),
            ("1.5", Some(1_500)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("3h", Some(10_800_000)),
            ("1d", Some(86_400_000)),
            ("0", Some(0)),
            ("", None),
            ("s", None),
            ("-1", None),
            ("10x", None),
            ("1.2.3", None),
            ("99999999999999999999999d", None),
        ];
        for (text, millis) in table {
            let got = parse_duration(text).ok().map(|d| d.as_millis());
            assert_eq!(got, millis, "{text:?}");
        }
    }

    #[test]
    fn sizes() {
        let table = [
            ("120x40", Some((120, 40))),
            ("120", None),
            ("x40", None),
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
    fn moments() {
        let table = [
            ("1h", Some(6_400_000)),
            ("@5", Some(5_000)),
            ("@x", None),
            ("yesterday", None),
        ];
        for (text, want) in table {
            let got = text.parse::<Moment>().ok().map(|m| m.at_ms(10_000_000));
            assert_eq!(got, want, "{text:?}");
        }
    }
}
