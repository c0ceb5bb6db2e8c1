//! How a person is shown things: in which width, colours and time zone.

use std::env;
use std::io::{self, IsTerminal as _};

use termd_client::timestamp::{local, utc};

use crate::args::{ColorArg, Common};
use crate::attach::tty::stdout_size;

/// What a cell says by its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It runs, or went well.
    Good,
    /// It failed, or was refused.
    Bad,
    /// It is over.
    Past,
}

/// How standard output shows things to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Display {
    /// The tty's columns; none where nothing is cut.
    pub(crate) width: Option<usize>,
    pub(crate) has_color: bool,
    pub(crate) is_utc: bool,
}

impl Display {
    /// Without colours and uncut, in UTC.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self {
        width: None,
        has_color: false,
        is_utc: true,
    };

    pub(crate) fn of(options: &Common) -> Self {
        Self {
            width: stdout_size().map(|size| usize::from(size.cols)),
            has_color: match options.color {
                ColorArg::Always => true,
                ColorArg::Never => false,
                ColorArg::Auto => is_color_wanted(),
            },
            is_utc: options.utc,
        }
    }

    /// A text in the tone's colour.
    pub(crate) fn in_tone(self, text: &str, tone: Option<Tone>) -> String {
        let color = match tone.filter(|_| self.has_color) {
            None => return text.to_owned(),
            Some(Tone::Good) => "32",
            Some(Tone::Bad) => "31",
            Some(Tone::Past) => "2",
        };
        format!("\x1b[{color}m{text}\x1b[m")
    }

    /// A point in time, in milliseconds since the Unix epoch.
    pub(crate) fn time(self, ms: i64) -> String {
        if self.is_utc { utc(ms) } else { local(ms) }
    }
}

/// Whether standard output is a tty with colours, and nobody has set `NO_COLOR` (no-color.org).
fn is_color_wanted() -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}
