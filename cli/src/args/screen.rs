//! The arguments of `screen`, `screenshot`, `export` and `import`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use termd_proto::duration;

use super::replay::{Speed, idle};
use crate::arg_types::{RowRange, parse_ms};
use crate::output_position::OutputPosition;

/// How `termctl screen` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScreenFormatArg {
    /// A line a row
    Text,
    /// Text with colours and links, and the cursor in its place
    Ansi,
    /// Style runs, cursor, modes
    Json,
    /// One element, with its styles inline
    Html,
}

/// `termctl screen`.
#[derive(Debug, Args)]
pub(crate) struct ScreenArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// How to print it [default: ansi on a terminal, else text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ScreenFormatArg>,
    /// Join lines that were too long for a row; text only
    #[arg(long)]
    pub(crate) join: bool,
    /// Only rows that changed after the screen with this seq
    #[arg(long, value_name = "SEQ")]
    pub(crate) since: Option<u64>,
    /// The screen as it was at this time (14:03, 90s ago, `2026-11-22 14:03`), or when the output had come
    /// to this offset (a number)
    #[arg(long, value_name = "TIME|OFFSET", allow_hyphen_values = true,
          conflicts_with_all = ["since", "wait_change", "wait_change_after", "settle", "timeout"])]
    pub(crate) at: Option<OutputPosition>,
    /// This many lines of scrollback before the screen
    #[arg(long, value_name = "LINES", conflicts_with = "rows",
          value_parser = clap::value_parser!(u32).range(..=super::MAX_SCROLLBACK))]
    pub(crate) scrollback: Option<u32>,
    /// Only these rows; 0 is the screen's first, -1 the newest of the scrollback
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) rows: Option<RowRange>,
    /// Wait until the screen changes
    #[arg(long)]
    pub(crate) wait_change: bool,
    /// Wait until the screen is a later one than that with this seq
    #[arg(long, value_name = "SEQ", conflicts_with = "wait_change")]
    pub(crate) wait_change_after: Option<u64>,
    /// Then wait until nothing has changed for this long; a bare number is milliseconds
    #[arg(long, value_name = "DURATION", value_parser = parse_ms)]
    pub(crate) settle: Option<u64>,
    /// Wait no longer than this, print the screen as it is, and exit with 124 [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
}

/// What `termctl export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatArg {
    /// A recording as asciinema 3 plays it, with sizes, commands and the exit
    Asciicast,
    /// The same for asciinema 2, without the exit
    AsciicastV2,
    /// The exact bytes
    Raw,
    /// Plain text, redraws applied
    Text,
    /// A page with the text and its colours, the last 100,000 lines
    Html,
    /// What was run in it
    Json,
}

/// `termctl export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "asciicast")]
    pub(crate) format: ExportFormatArg,
    /// The file; `-` is standard output [default: -]
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `termctl import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The recording; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// A name for the terminal
    #[arg(long, alias = "name", short_alias = 'l', value_name = "NAME")]
    pub(crate) label: Option<String>,
}

/// The colours of a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// xterm's, on black
    Dark,
    /// On white
    Light,
}

/// The options of an animation.
#[derive(Debug, Args)]
pub(crate) struct AnimationArgs {
    /// Show what the terminal has shown, as an animated png
    #[arg(long, conflicts_with_all = ["at", "scrollback"])]
    pub(crate) animate: bool,
    /// Begin here, a time or an offset
    #[arg(
        long,
        value_name = "TIME|OFFSET",
        allow_hyphen_values = true,
        requires = "animate"
    )]
    pub(crate) from: Option<OutputPosition>,
    /// End here
    #[arg(
        long,
        value_name = "TIME|OFFSET",
        allow_hyphen_values = true,
        requires = "animate"
    )]
    pub(crate) to: Option<OutputPosition>,
    /// Shorten longer pauses to this, a minute at the most
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = idle, requires = "animate")]
    pub(crate) idle: Duration,
    /// How fast, 0.1 to 1000
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        requires = "animate",
        allow_hyphen_values = true
    )]
    pub(crate) speed: Speed,
}

/// `termctl screenshot`.
#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// The file to write; its extension says the format: png, svg or html (of an animation png or apng)
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The screen as it was at this time, or when the output had come to this offset
    #[arg(long, value_name = "TIME|OFFSET", allow_hyphen_values = true)]
    pub(crate) at: Option<OutputPosition>,
    /// This many lines of scrollback above the screen
    #[arg(long, value_name = "LINES", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=super::MAX_SCROLLBACK))]
    pub(crate) scrollback: u32,
    /// Colours
    #[arg(long, value_enum, value_name = "THEME", default_value = "dark")]
    pub(crate) theme: ThemeArg,
    /// Size of the letters in pixels
    #[arg(long, value_name = "PX", default_value_t = 16, value_parser = clap::value_parser!(u16).range(6..=128))]
    pub(crate) font_size: u16,
    /// Leave the cursor out
    #[arg(long)]
    pub(crate) no_cursor: bool,
    #[command(flatten)]
    pub(crate) animation: AnimationArgs,
}
