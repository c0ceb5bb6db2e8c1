//! What a shell reports: prompts and commands (OSC 133 of `FinalTerm`, OSC 633 of VS Code), its
//! directory (OSC 7, 9;9, 1337), progress (OSC 9;4).
//!
//! Any program on the terminal can send the same. The caller decides what to believe: the shell
//! knows the nonce that it was given.

use termd_proto::screen::CommandState;

use crate::event::Event;
use crate::grid::cell::Content;
use crate::hex;
use crate::screen::marks::MarkKind;
use crate::terminal::Terminal;

impl Terminal {
    /// OSC 133.
    pub(crate) fn prompt_mark(&mut self, text: &str) {
        let mut params = text.split(';');
        match params.next() {
            // P is the prompt without the fresh line before it.
            Some("A" | "P") => self.prompt_start(Continuation::of(params)),
            // As A, where the command before it may have ended without a D.
            Some("N") => {
                if self.shell.command_state == CommandState::Running {
                    self.command_finished(None);
                }
                self.prompt_start(Continuation::of(params));
            }
            Some("B") => self.prompt_end(),
            // As B, of a shell that leaves editing to the tty: the line's end ends the input.
            Some("I") => {
                self.prompt_end();
                self.shell.line_from = Some(self.screen.mark_place());
            }
            Some("C") => {
                // kitty's and fish's command line, percent-encoded.
                let line = params.find_map(|param| param.strip_prefix("cmdline_url="));
                if let Some(text) = line.and_then(percent_decoded) {
                    self.event(Event::CommandLine { text, nonce: None });
                }
                self.output_start();
            }
            Some("D") => self.command_finished(params.next()),
            _ => {}
        }
    }

    /// OSC 633.
    pub(crate) fn vs_code_mark(&mut self, text: &str) {
        let mut params = text.split(';');
        match params.next() {
            Some("A") => self.prompt_start(Continuation::No),
            Some("B") => self.prompt_end(),
            Some("C") => self.output_start(),
            Some("D") => self.command_finished(params.next()),
            Some("E") => {
                if let Some(line) = params.next() {
                    let text = unescaped(line);
                    let nonce = params.next().map(unescaped);
                    self.event(Event::CommandLine { text, nonce });
                }
            }
            Some("P") => {
                let cwd = text.get(2..).and_then(|p| p.strip_prefix("Cwd="));
                if let Some(path) = cwd {
                    self.shell_directory(unescaped(path));
                }
            }
            _ => {}
        }
    }

    fn prompt_start(&mut self, continuation: Continuation) {
        self.shell.line_from = None;
        if continuation == Continuation::Yes {
            self.shell.command_state = CommandState::Input;
            self.event(Event::Continuation);
            return;
        }
        self.shell.command_state = CommandState::Prompt;
        self.screen.mark(MarkKind::PromptStart);
        self.event(Event::PromptStart);
    }

    fn prompt_end(&mut self) {
        // After a continuation prompt the same command line goes on.
        if self.shell.command_state != CommandState::Input {
            self.shell.command_state = CommandState::Input;
            self.screen.mark(MarkKind::PromptEnd);
            self.event(Event::PromptEnd);
        }
    }

    /// Whether a line feed now ends a command line (OSC 133;I) that the shell runs. A line of blanks is
    /// none, nor one that was interrupted: the tty shows `^C`.
    pub(crate) fn line_feed_ends_command(&mut self) -> bool {
        let Some((row, col)) = self.shell.line_from.take() else {
            return false;
        };
        let cells = self.screen.grid.row(self.screen.cursor.row).cells();
        let is_wrapped = self.screen.mark_place().0 != row;
        let from = if is_wrapped { 0 } else { col.min(cells.len()) };
        let mut shown = cells[from..].iter().rev().map(|cell| match cell.content() {
            Content::Char(c) => c,
            Content::Grapheme(_) => char::REPLACEMENT_CHARACTER,
            Content::Blank | Content::Tail => ' ',
        });
        match shown.find(|c| *c != ' ') {
            Some('C') => shown.next() != Some('^'),
            Some(_) => true,
            None => is_wrapped,
        }
    }

    pub(crate) fn output_start(&mut self) {
        self.shell.line_from = None;
        self.shell.command_state = CommandState::Running;
        self.screen.mark(MarkKind::OutputStart);
        self.event(Event::OutputStart);
    }

    fn command_finished(&mut self, exit: Option<&str>) {
        let exit = exit.and_then(|exit| exit.parse().ok());
        self.shell.line_from = None;
        // The next prompt follows.
        self.shell.command_state = CommandState::Prompt;
        self.screen.mark(MarkKind::CommandEnd(exit));
        self.event(Event::CommandFinished { exit });
    }

    /// OSC 7: `file://host/path`, percent-encoded. The host is ignored, as it need not be the name
    /// of this machine.
    pub(crate) fn shell_directory_url(&mut self, url: &str) {
        let (rest, decode): (_, fn(&str) -> Option<String>) =
            if let Some(rest) = url.strip_prefix("file://") {
                (rest, percent_decoded)
            } else if let Some(rest) = url.strip_prefix("kitty-shell-cwd://") {
                (rest, |path| Some(path.to_owned()))
            } else {
                return;
            };
        let path = rest.find('/').and_then(|at| rest.get(at..));
        if let Some(path) = path.and_then(decode) {
            self.shell_directory(path);
        }
    }

    fn shell_directory(&mut self, path: String) {
        let event = self.shell.set_cwd(path);
        self.emit(event);
    }

    /// OSC 9 of `ConEmu`, whose functions have numbers. With another text it is iTerm2's notification.
    pub(crate) fn conemu(&mut self, text: &str) {
        let mut params = text.split(';');
        match params.next() {
            Some("4") => {
                let state = params.next().unwrap_or_default();
                let value = params.next().and_then(|value| value.parse::<u32>().ok());
                let value = value.map(|value| u8::try_from(value.min(100)).unwrap_or(100));
                let event = self.shell.set_progress(state, value);
                self.emit(event);
            }
            Some("9") => {
                let path = text.get(2..).unwrap_or_default();
                let quoted = path.strip_prefix('"').and_then(|p| p.strip_suffix('"'));
                self.shell_directory(quoted.unwrap_or(path).to_owned());
            }
            Some(number) if !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()) => {}
            _ => self.notification(text),
        }
    }

    /// OSC 1337: iTerm2's.
    pub(crate) fn iterm(&mut self, text: &str) {
        if let Some(path) = text.strip_prefix("CurrentDir=") {
            self.shell_directory(path.to_owned());
        } else if text.starts_with("File=") || text.starts_with("MultipartFile=") {
            self.picture();
        }
    }
}

/// Whether a prompt continues the same command (`k=c`, `k=s`) and is no new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Continuation {
    Yes,
    No,
}

impl Continuation {
    fn of<'a>(mut params: impl Iterator<Item = &'a str>) -> Self {
        if params.any(|param| matches!(param, "k=c" | "k=s")) {
            Self::Yes
        } else {
            Self::No
        }
    }
}

/// Decodes `%XX`. A `%` without digits stands for itself; `None` where the bytes are not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .filter(|_| *byte == b'%')
            .and_then(hex::decode);
        if let Some(code) = code {
            bytes.extend(code);
            rest = &after[2..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decodes VS Code's escapes, `\\` and `\xHH`. Any other backslash stays.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\\', [b'\\', more @ ..]) => {
                bytes.push(b'\\');
                rest = more;
            }
            (b'\\', [b'x', high, low, more @ ..]) => {
                if let Some(code) = hex::decode(&[*high, *low]) {
                    bytes.extend(code);
                    rest = more;
                } else {
                    bytes.push(*byte);
                }
            }
            _ => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
