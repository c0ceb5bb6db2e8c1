//! A terminal's screen as `session.screen` tells it: what a person would see now, and the
//! scrollback above it.
//!
//! Rows are numbered from the top of the screen: 0 is its first row, −1 the newest row of the
//! scrollback, and so on upwards. Columns count from 0. A wide character takes two columns.

use serde::{Deserialize, Serialize};

use crate::id::{Offset, TerminalRef};
use crate::terminal::Gap;

/// Most rows of scrollback that one `session.screen` returns.
pub const MAX_SCREEN_ROWS: u64 = 10_000;

/// A colour as a program asked for it; which red "red" is, the viewer decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// The terminal's own foreground or background (SGR 39, 49, 59).
    #[default]
    Default,
    /// One of xterm's 256: 0 to 7 ANSI, 8 to 15 bright, then a cube of 216 and 24 greys.
    Indexed(u8),
    /// Red, green, blue (SGR 38;2).
    Rgb(u8, u8, u8),
}

/// How a character is underlined (SGR 4, 4:0 to 4:5, 21).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Underline {
    /// Not.
    #[default]
    None,
    /// One line.
    Single,
    /// Two lines.
    Double,
    /// Waves.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// How characters look: the attributes of SGR, and the hyperlink of OSC 8. What is default is
/// left out of the JSON.
// Each is one attribute or mode, on or off, with a name of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Style {
    /// Foreground.
    #[serde(skip_serializing_if = "is_default")]
    pub foreground: Color,
    /// Background.
    #[serde(skip_serializing_if = "is_default")]
    pub background: Color,
    /// Colour of the underline; default: the foreground's.
    #[serde(skip_serializing_if = "is_default")]
    pub underline_color: Color,
    /// Underline.
    #[serde(skip_serializing_if = "is_default")]
    pub underline: Underline,
    /// SGR 1.
    #[serde(skip_serializing_if = "is_default")]
    pub bold: bool,
    /// SGR 2.
    #[serde(skip_serializing_if = "is_default")]
    pub faint: bool,
    /// SGR 3.
    #[serde(skip_serializing_if = "is_default")]
    pub italic: bool,
    /// SGR 5 or 6.
    #[serde(skip_serializing_if = "is_default")]
    pub blink: bool,
    /// SGR 7: foreground and background change places.
    #[serde(skip_serializing_if = "is_default")]
    pub inverse: bool,
    /// SGR 8: takes its place and is not seen.
    #[serde(skip_serializing_if = "is_default")]
    pub invisible: bool,
    /// SGR 9.
    #[serde(skip_serializing_if = "is_default")]
    pub crossed_out: bool,
    /// SGR 53.
    #[serde(skip_serializing_if = "is_default")]
    pub overline: bool,
    /// The target of a hyperlink (OSC 8).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyperlink: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Neighbouring cells of one row that look the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StyleRun {
    /// Its first column.
    pub column: u16,
    /// How many columns it takes; more than it has characters where some are wide.
    pub width: u16,
    /// Its characters; a cell that nothing was written to is a space.
    pub text: String,
    /// How they look.
    #[serde(default, skip_serializing_if = "is_default")]
    pub style: Style,
}

/// A row's size (DECSWL, DECDWL, DECDHL).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineSize {
    /// Single width, single height.
    #[default]
    Single,
    /// Double width.
    DoubleWidth,
    /// The top half of double height.
    DoubleHeightTop,
    /// The bottom half of double height.
    DoubleHeightBottom,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenRow {
    /// Its number; negative in the scrollback.
    pub row: i64,
    /// The change of the screen that touched it last.
    pub seq: u64,
    /// Whether the text goes on in the next row because the line was too long for this one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wrapped: bool,
    /// Its size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub size: LineSize,
    /// From left to right without gaps; default blanks at the end are left out.
    pub runs: Vec<StyleRun>,
}

/// The cursor's shape (DECSCUSR).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorShape {
    /// A full cell.
    #[default]
    Block,
    /// A line below.
    Underline,
    /// A line on the left.
    Bar,
}

/// The cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// Row on the screen, from 0.
    pub row: u16,
    /// Column, from 0; at the most the last column.
    pub column: u16,
    /// DECTCEM.
    pub visible: bool,
    /// DECSCUSR.
    pub shape: CursorShape,
    /// DECSCUSR, and mode 12.
    pub blinking: bool,
    /// The last column was written to: the next character wraps first.
    pub wrap_pending: bool,
}

/// Which mouse events a program has asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseMode {
    /// None.
    #[default]
    Off,
    /// Mode 9: presses.
    X10,
    /// Mode 1000: presses and releases.
    Normal,
    /// Mode 1001.
    Highlight,
    /// Mode 1002: and motion while a button is down.
    Button,
    /// Mode 1003: and any motion.
    Any,
}

/// How mouse events are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseEncoding {
    /// One byte a coordinate.
    #[default]
    X10,
    /// Mode 1005.
    Utf8,
    /// Mode 1006.
    Sgr,
    /// Mode 1015.
    Urxvt,
    /// Mode 1016.
    SgrPixels,
}

/// The modes that decide how input is to be written, and what a viewer has to know.
// Each is one attribute or mode, on or off, with a name of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenModes {
    /// DECCKM: arrow keys send SS3.
    pub application_cursor_keys: bool,
    /// DECNKM, DECKPAM.
    pub application_keypad: bool,
    /// Mode 2004.
    pub bracketed_paste: bool,
    /// Mode 1004.
    pub focus_events: bool,
    /// Which mouse events.
    pub mouse: MouseMode,
    /// How they are written.
    pub mouse_encoding: MouseEncoding,
    /// Mode 2026: a picture is being drawn and not done.
    pub synchronized_output: bool,
    /// DECSCNM: the whole screen inverted.
    pub reverse_video: bool,
    /// DECAWM.
    pub autowrap: bool,
    /// IRM.
    pub insert: bool,
    /// DECOM.
    pub origin: bool,
    /// LNM.
    pub line_feed_new_line: bool,
    /// The kitty keyboard protocol's flags in force, 0 for none.
    pub kitty_keyboard: u8,
    /// xterm's modifyOtherKeys, 0 to 2.
    pub modify_other_keys: u8,
}

/// What a shell said of the command it runs (OSC 133, 633).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// No mark was seen: the shell does not say.
    #[default]
    Unknown,
    /// A prompt is being drawn (A).
    Prompt,
    /// A command line is being typed (B).
    Input,
    /// A command runs (C).
    Running,
}

/// Progress as a program reports it (OSC 9;4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// State 1: a percentage.
    Normal(u8),
    /// State 2.
    Error(u8),
    /// State 3.
    Indeterminate,
    /// State 4.
    Paused(u8),
}

/// A screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screen {
    /// Counts the changes: a later screen has a higher one. Give it back as `since` for the rows
    /// that changed after it.
    pub seq: u64,
    /// The output that it shows ends here.
    pub end: Offset,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// Whether a full-screen program is on: the alternate screen, or the mouse.
    pub full_screen: bool,
    /// The cursor.
    pub cursor: Cursor,
    /// The window's title (OSC 0, 2), control characters left out.
    pub title: String,
    /// The shell's directory (OSC 7, 9;9, 1337), as a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the shell does.
    pub command_state: CommandState,
    /// What a program reports of its progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// How often the bell rang (BEL) since the terminal started.
    pub bells: u64,
    /// The tty's ECHO flag (termios(3)). Absent once it has exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<bool>,
    /// The tty's ICANON flag: input is read a line at a time. Canonical and without echo: a
    /// password is asked for. Line editors and full-screen programs are not canonical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<bool>,
    /// Modes.
    pub modes: ScreenModes,
    /// Rows of scrollback that there are.
    pub scrollback_rows: u64,
    /// The rows asked for, from top to bottom.
    pub lines: Vec<ScreenRow>,
}

/// How `session.screen` writes the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenFormat {
    /// Style runs, in `lines`.
    #[default]
    Json,
    /// Text, a line a row, blanks at the ends left out, in `rendering`.
    Text,
    /// Text, a line for each line that was printed however many rows it took, in `rendering`.
    TextJoined,
    /// Text with the SGR sequences that draw it on a cleared screen, in `rendering`.
    Ansi,
    /// What makes the tty of somebody who attaches show the screen, whatever it showed before, in
    /// `view_cols` and `view_rows`, and what the output that follows goes on from.
    Attach,
    /// One `<pre>` element with inline styles, in `rendering`.
    Html,
}

/// Params of `session.screen`: a terminal's screen and scrollback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadScreen {
    /// The terminal.
    pub id: TerminalRef,
    /// How to write the rows; absent: as style runs.
    pub format: Option<ScreenFormat>,
    /// Only rows that changed after this `seq`; absent: all.
    pub since: Option<u64>,
    /// First row; negative in the scrollback; absent: 0. Rows that are not there are left out.
    pub from_row: Option<i64>,
    /// Last row, included; absent: the last of the screen.
    pub to_row: Option<i64>,
    /// Wait until the screen's `seq` is greater than this, or the terminal has exited.
    pub changed_after: Option<u64>,
    /// Wait until nothing has changed for this many milliseconds and no synchronized output is on.
    pub settle_ms: Option<u64>,
    /// The longest that both waits together may take, in milliseconds; absent: 30,000. What the
    /// screen is then is the answer.
    pub timeout_ms: Option<u64>,
    /// Columns of the tty that [`ScreenFormat::Attach`] is for; absent: the screen's.
    pub view_cols: Option<u16>,
    /// Rows of it.
    pub view_rows: Option<u16>,
    /// The screen as it was when the output had come to this offset, and not as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Offset>,
    /// The screen as it was at this time, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

impl ReadScreen {
    /// The screen as it is now, as style runs.
    pub fn of(id: TerminalRef) -> Self {
        Self {
            id,
            format: None,
            since: None,
            from_row: None,
            to_row: None,
            changed_after: None,
            settle_ms: None,
            timeout_ms: None,
            view_cols: None,
            view_rows: None,
            at: None,
            at_ms: None,
        }
    }

    /// Which rows are asked for.
    pub fn rows(&self) -> ScreenRows {
        ScreenRows {
            since: self.since,
            from_row: self.from_row,
            to_row: self.to_row,
        }
    }
}

/// Which rows of a screen are asked for; the fields are those of [`ReadScreen`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreenRows {
    /// Only rows that changed after this `seq`.
    pub since: Option<u64>,
    /// First row.
    pub from_row: Option<i64>,
    /// Last row, included.
    pub to_row: Option<i64>,
}

/// Answer to `session.screen`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenResult {
    /// The screen; its `lines` are empty where a rendering was asked for.
    #[serde(flatten)]
    pub screen: Screen,
    /// The rows as text, ANSI or HTML, as the format asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<String>,
    /// False where the time was over before what was waited for.
    pub settled: bool,
    /// Of a screen of the past: output before its end that is not kept and that it was made without. Some of its
    /// rows may be those of before the gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}
