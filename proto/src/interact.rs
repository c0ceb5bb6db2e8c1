//! `session.type`, `session.wait_for`, `session.interact`, `session.activity`: typing as a person
//! does, and waiting for what comes of it.
//!
//! A wait never takes output away and never ends a terminal. It answers with offsets; what was
//! printed is read by `session.read`, from `start` `until` `end`.

use serde::{Deserialize, Serialize};

use crate::command::CommandInfo;
use crate::id::{Offset, TerminalRef};
use crate::screen::CommandState;
use crate::terminal::{EndCause, ExitStatus, SendResult, TerminalState};

/// Longest pattern of a wait, in bytes.
pub const MAX_PATTERN_BYTES: usize = 4_096;
/// Most keys in one call.
pub const MAX_KEYS: usize = 1_024;
/// How long a wait takes at the longest unless asked otherwise, in milliseconds: below the minute
/// after which MCP clients give a call up.
pub const DEFAULT_WAIT_FOR_MS: u64 = 30_000;

/// What is typed: exactly one of `text`, `data` and `keys`, or only Enter.
// Each is one member of the wire.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TypedInput {
    /// Text as a person types or pastes it. LF and CR LF count as Enter (CR). Where the program
    /// has bracketed paste on, text of several lines is pasted in brackets, and so is text with a TAB
    /// before other text.
    pub text: Option<String>,
    /// Exact bytes, base64; nothing is done to them.
    pub data: Option<String>,
    /// Keys by name, such as `up`, `ctrl-a`, `C-a`, `alt-x`, `shift-f5`, `kp-5`, `enter`, written as
    /// the modes that the program has set want them (DECCKM, DECNKM, kitty keyboard, modifyOtherKeys).
    pub keys: Vec<String>,
    /// Whether Enter is pressed after it.
    pub enter: bool,
    /// Whether it is a secret: never judged by its text, never logged, never remembered. Refused
    /// unless the terminal waits for one (ICANON on, ECHO off), or `force`.
    pub secret: bool,
    /// Type it although the tty says that it will not arrive as meant: a secret where none is
    /// awaited, a line longer than a canonical tty takes (4,095 bytes).
    pub force: bool,
    /// Type it only where the shell's marks (OSC 133) say that it is at its prompt, and no line typed
    /// before waits there: the next command of the shell is then this line's. Refused otherwise.
    // A daemon of 0.1.0 knows no such field.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_prompt: bool,
    /// Text of several lines is given one line after the other where the program takes no paste: each
    /// once the program reads again. The rest is typed at once when the time of the call is over, and not
    /// at all after Ctrl-C.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub line_by_line: bool,
}

/// What is waited for: whichever comes first. The exit always ends a wait.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Until {
    /// A regular expression (the `regex` crate's, multi-line mode on: `^` and `$` match at line
    /// ends) on plain text: escape sequences resolved, wrapped lines joined, lines ended by LF. What
    /// the tty or the line editor echoed of input sent since `since` is not looked at.
    pub pattern: Option<String>,
    /// The command that was typed is done: the shell said so by a mark (OSC 133;D, 633;D), or, where
    /// no marks come, the foreground process group is the shell's again. Input that is awaited ends the
    /// wait as well: a program reads its tty, or the shell the rest of a line
    /// ([`Activity::awaited_input`]). So does a full-screen program whose screen is quiet
    /// ([`WaitEnd::Settled`]).
    pub done: bool,
    /// Nothing was printed for this many milliseconds; counted from the call on at the earliest.
    pub settle_ms: Option<u64>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitEnd {
    /// The pattern matched.
    Matched,
    /// The command is done, or input is awaited.
    Done,
    /// Nothing more came; or the screen of a full-screen program is quiet.
    Settled,
    /// The terminal's own program has exited.
    Exited,
    /// The time is over.
    Timeout,
}

/// How it is known that a command is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneBy {
    /// The shell's marks: certain.
    Marks,
    /// The terminal's foreground process group, which reads the tty, and quiet output: likely.
    Foreground,
    /// Quiet output, and a last line that looks like a prompt: a guess.
    Prompt,
}

/// Where a pattern matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedText {
    /// What matched, as plain text; at most 4,096 bytes of it.
    pub text: String,
    /// The line in which the match begins, whole, at most 4,096 bytes of it.
    pub line: String,
    /// Output before this offset belongs to lines before the match.
    pub start: Offset,
    /// Output up to this offset holds the whole match.
    pub end: Offset,
}

/// Whether a terminal seems to wait for a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PromptHint {
    /// How it is known; [`DoneBy::Prompt`] is a guess.
    pub by: DoneBy,
    /// From 0 to 1: 1 for a shell's mark.
    pub confidence: f32,
}

/// What a terminal awaits from the person or program that types, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedInput {
    /// What is awaited.
    pub kind: InputKind,
    /// How it is known.
    pub known_by: InputKnownBy,
}

/// What a terminal awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// The next command: a shell, or a program that shows a prompt as shells do, is at its prompt.
    Command,
    /// The rest of a command: the shell has read a line that is not complete (PS2).
    Continuation,
    /// A line or a key: a program reads its tty, or asks a question.
    Line,
    /// A secret: the tty reads lines and does not show them.
    Secret,
}

/// How it is known that input is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKnownBy {
    /// The shell's marks: certain.
    Marks,
    /// The kernel: the foreground process sleeps until its tty has input, or reads it with the settings
    /// of a line editor.
    Kernel,
    /// Quiet output, and a last line that looks like a prompt: a guess.
    Prompt,
}

/// The program in a terminal's foreground: whose process group tcgetpgrp(3) names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreground {
    /// The group's leader.
    pub pid: i32,
    /// Its name (`/proc/PID/comm`), without control characters.
    pub program: String,
    /// Whether it is the terminal's own program, or a shell that runs in it, at rest.
    pub is_root: bool,
}

/// What goes on in a terminal now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// The end of its output.
    pub end: Offset,
    /// Where it is in its life.
    pub state: TerminalState,
    /// How it ended, once it has.
    pub exit_status: Option<ExitStatus>,
    /// The limit that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cause: Option<EndCause>,
    /// For how long nothing was printed, in milliseconds.
    pub quiet_ms: u64,
    /// Whether a full-screen program is on: the alternate screen, the mouse, or a hidden cursor while
    /// the tty does not gather lines.
    pub full_screen: bool,
    /// What the shell says of itself (OSC 133, 633).
    pub command_state: CommandState,
    /// The last command that the shell's marks showed, running or ended.
    pub last_command: Option<CommandInfo>,
    /// The shell's directory, where it or the foreground process tells it.
    pub cwd: Option<String>,
    /// The program in the foreground, where it can be seen.
    pub foreground: Option<Foreground>,
    /// Whether the terminal seems to wait for a line; absent: it does not.
    pub prompt: Option<PromptHint>,
    /// The prompt at the end of the output, as the screen shows it; absent where none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
    /// A secret is awaited: the tty reads lines (ICANON) and does not show them (no ECHO).
    pub awaiting_secret: bool,
    /// What is awaited, and how that is known; absent: nothing is known to be. A full-screen program
    /// takes keys at any time, and is not said to await one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited_input: Option<AwaitedInput>,
    /// Bracketed paste (mode 2004) is on: a line editor.
    pub bracketed_paste: bool,
}

/// Answer to `session.wait_for` and `session.interact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitForResult {
    /// Why it ended.
    pub ended_by: WaitEnd,
    /// How it is known that the command is done, where that ended it.
    pub done_by: Option<DoneBy>,
    /// What matched, where that ended it.
    pub matched: Option<MatchedText>,
    /// Where it began to look: the offset given, or the end of output before the input.
    pub start: Offset,
    /// Where the echo of the input ends and output begins, where that is known; not before `start`.
    pub output_start: Offset,
    /// Where the output of the last command ends, and what the shell prints around its prompt begins;
    /// absent where no mark says so. Not before `output_start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_end: Option<Offset>,
    /// The output of each line, where several were given one after the other. What lies between two of
    /// them is the echo of the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line_outputs: Vec<LineOutput>,
    /// The end of what it has seen: `session.read` goes on here.
    pub end: Offset,
    /// The command that was typed, where the shell's marks tell of it.
    pub command: Option<CommandInfo>,
    /// What the terminal has taken of the input; absent where there was none.
    pub sent: Option<SendResult>,
    /// What goes on in the terminal now.
    pub activity: Activity,
}

/// The output of one line of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineOutput {
    /// Where the echo of the line ends.
    pub start: Offset,
    /// Where the next line was typed, or the output ends.
    pub end: Offset,
    /// The prompt at the end of its text, if one is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// Params of `session.type`: types, and answers when the terminal has taken all of it, or after
/// `timeout_ms` with what is still queued. What completes a line is judged by the gate first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeInput {
    /// The terminal.
    pub id: TerminalRef,
    /// What is typed.
    pub input: TypedInput,
    /// Whether somebody has agreed to it already; absent: no.
    pub confirmed: Option<bool>,
    /// In milliseconds; absent: 5,000.
    pub timeout_ms: Option<u64>,
}

/// Params of `session.wait_for`: waits, looking at output from `since` on, what was printed before
/// the call included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitFor {
    /// The terminal.
    pub id: TerminalRef,
    /// Where to begin to look; absent: the end of the output now.
    pub since: Option<Offset>,
    /// What to wait for.
    pub until: Until,
    /// The longest wait, in milliseconds; absent: [`DEFAULT_WAIT_FOR_MS`].
    pub timeout_ms: Option<u64>,
}

/// Params of `session.interact`: [`TypeInput`], and [`WaitFor`] from the end of the output before the
/// input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interact {
    /// The terminal.
    pub id: TerminalRef,
    /// What is typed.
    pub input: TypedInput,
    /// What to wait for.
    pub until: Until,
    /// Whether somebody has agreed to it already; absent: no.
    pub confirmed: Option<bool>,
    /// The longest wait, in milliseconds; absent: [`DEFAULT_WAIT_FOR_MS`].
    pub timeout_ms: Option<u64>,
}

/// Params of `session.activity`: what goes on in a terminal now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetActivity {
    /// The terminal.
    pub id: TerminalRef,
}
