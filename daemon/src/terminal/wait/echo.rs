//! Which lines of plain text are the echo of input. Pure.
//!
//! Where the shell marks its command lines, their position is known. Elsewhere the echo is the first
//! line that holds the typed line, after the place where the output ended at the input. Prompts before
//! the echo, colours and wrapping make no difference, nor do blanks, which line editors move about.
//! Several typed lines have their echoes in order. A typed line that is redrawn after a prompt (it was
//! typed ahead, and shown by the tty and then by the line editor) is an echo too.
//!
//! An unfinished line is not called output while it may become the echo. An echo that is not found
//! once the output is quiet, or within `MAX_LINES`, is given up.

use std::collections::VecDeque;

use super::prompt::is_prompt;

/// Lines of output that may come before an echo: a program's last output before its prompt.
const MAX_LINES: usize = 1_000;
/// Typed lines whose echo is expected or remembered. Later ones are not.
const MAX_TYPED_LINES: usize = 1_024;
/// Most characters of a typed line that are compared: no output equals that many by chance.
const MAX_COMPARED_CHARS: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The program printed it.
    Output,
    /// The tty or the line editor echoed it.
    Echo,
    /// It may become an echo.
    Undecided,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// By a line feed.
    Ended,
    /// More may follow at once.
    Open,
    /// Nothing has followed for a while.
    OpenAndQuiet,
}

/// How the echo of a typed line is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// By the shell's marks. The text is looked at only when no mark comes.
    Marks,
    /// By its text alone.
    Text,
}

/// A typed line whose echo is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    /// Where the text ended at the input.
    at: u64,
    known_by: KnownBy,
    shape: Shape,
    /// The number of its input.
    input: u64,
    /// Enter was pressed, so the echo ends a line.
    is_ended: bool,
    lines_seen: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// The line, without blanks.
    Line(String),
    /// Keys without Enter, as a tty shows them: `^C`. What stands behind them is the program's.
    Keys(String),
    /// Enter alone.
    Enter,
    /// Keys that edit the line, so its text is not known.
    Edited,
}

/// The echoes of one terminal's input.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    expected: VecDeque<Expected>,
    /// Echoes that were found, without blanks. They may be redrawn.
    found: VecDeque<String>,
    /// Lines since the last one was found.
    lines_since: usize,
    /// Lines that were typed while the command of another input ran, without blanks. The tty itself
    /// echoes them into that command's output, before the shell shows them.
    ahead: VecDeque<String>,
    /// Lines since that command began.
    lines_ahead: usize,
    inputs: u64,
    /// Whether the last echo holds nothing but the typed line, or a prompt before it.
    is_whole: bool,
}

impl Echo {
    /// Expects the echo of input that was typed when the text ended at `at`. Lines end with LF.
    pub fn typed(&mut self, at: u64, text: &str, known_by: KnownBy, shows_controls: ShowsControls) {
        self.inputs += 1;
        for line in text.split_inclusive('\n') {
            if self.expected.len() >= MAX_TYPED_LINES {
                return;
            }
            let body = line.strip_suffix('\n').unwrap_or(line);
            let is_edited = |c: char| c.is_control() && c != '\t';
            let is_ended = body.len() < line.len();
            let are_keys = !body.is_empty() && body.chars().all(char::is_control);
            if are_keys && !is_ended && shows_controls == ShowsControls::No {
                // A line editor shows no such keys.
                continue;
            }
            let is_of_keys = are_keys && shows_controls == ShowsControls::No;
            let shape = if body.trim().is_empty() || is_of_keys {
                Shape::Enter
            } else if are_keys && !is_ended {
                Shape::Keys(with_carets(body))
            } else if shows_controls == ShowsControls::Yes {
                Shape::Line(bare(&with_carets(body)))
            } else if body.contains(is_edited) {
                Shape::Edited
            } else {
                Shape::Line(bare(body))
            };
            self.expected.push_back(Expected {
                at,
                known_by,
                shape,
                input: self.inputs,
                is_ended,
                lines_seen: 0,
            });
        }
    }

    /// The shell has started a command: the echo of one line is complete.
    pub fn command_began(&mut self) {
        let Some(begun) = self.expected.pop_front() else {
            return;
        };
        self.ahead.clear();
        self.lines_ahead = 0;
        for later in &self.expected {
            if let (true, KnownBy::Marks, Shape::Line(typed)) =
                (later.input != begun.input, later.known_by, &later.shape)
            {
                self.ahead.push_back(typed.clone());
            }
        }
    }

    pub fn expects_text(&self) -> bool {
        self.of(KnownBy::Text).is_some() || !self.found.is_empty() || !self.ahead.is_empty()
    }

    /// Whether an echo is still to come.
    pub fn is_expecting(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Whether the last echo is the typed line alone, or after a prompt. Any other line only contains
    /// it, and may be output.
    pub fn was_whole(&self) -> bool {
        self.is_whole
    }

    fn of(&self, known_by: KnownBy) -> Option<usize> {
        let mut all = self.expected.iter();
        all.position(|expected| expected.known_by == known_by)
    }

    /// No mark came: all echoes are found by text.
    pub fn by_text_alone(&mut self) {
        for expected in &mut self.expected {
            expected.known_by = KnownBy::Text;
        }
    }

    /// Gives up the echoes of input before `end` that are still expected in `rest`, after a quiet look at
    /// all text. An echo that was found may still be on the screen, and is looked for again.
    pub fn give_up(&mut self, rest: &Self, end: u64) {
        let is_missing = |it: &Expected| {
            let mut rest = rest.expected.iter();
            rest.any(|other| other.at == it.at && other.shape == it.shape)
        };
        self.expected
            .retain(|it| it.known_by == KnownBy::Marks || it.at >= end || !is_missing(it));
    }

    /// Where in a line that begins at `start` the text after the next input begins.
    pub fn begins_in(&self, start: u64) -> usize {
        let next = self.of(KnownBy::Text).and_then(|at| self.expected.get(at));
        let behind = next.map_or(0, |expected| expected.at.saturating_sub(start));
        usize::try_from(behind).unwrap_or(usize::MAX)
    }

    /// Judges a line that begins at `start`; `line` is without its LF.
    pub fn judge(&mut self, line: &str, start: u64, line_end: LineEnd) -> LineKind {
        self.is_whole = false;
        if let Some(verdict) = self.typed_ahead(line, line_end) {
            return verdict;
        }
        let Some(at) = self.of(KnownBy::Text) else {
            return self.redrawn(line, line_end);
        };
        let Some(next) = self.expected.get(at) else {
            return LineKind::Output;
        };
        if start + (line.len() as u64) < next.at {
            // The line ended before the input.
            return self.redrawn(line, line_end);
        }
        let from = usize::try_from(next.at.saturating_sub(start)).unwrap_or(0);
        let behind = line.get(from..).unwrap_or_default();
        let part = bare(behind);
        let holds = match &next.shape {
            Shape::Line(typed) => part.contains(typed.as_str()),
            Shape::Keys(typed) => part == *typed,
            // A line editor shows a continuation prompt before the line.
            Shape::Enter => behind.trim().is_empty() || is_prompt(behind),
            Shape::Edited => true,
        };
        match line_end {
            LineEnd::Ended if holds => {
                // Output that did not end its line may stand before the prompt.
                let before = line.get(..from).unwrap_or_default();
                let follows_prompt = before.trim().is_empty() || is_prompt(before);
                self.is_whole = match &next.shape {
                    Shape::Line(typed) => follows_prompt && is_alone(behind, &part, typed),
                    Shape::Keys(_) | Shape::Enter => follows_prompt,
                    Shape::Edited => false,
                };
                if let Shape::Line(typed) = &next.shape {
                    self.found.push_back(typed.clone());
                    self.lines_since = 0;
                }
                self.expected.remove(at);
                LineKind::Echo
            }
            LineEnd::Ended => {
                if let Some(next) = self.expected.get_mut(at) {
                    next.lines_seen += 1;
                    let is_shown = match &next.shape {
                        Shape::Keys(typed) => part.starts_with(typed.as_str()),
                        Shape::Enter => true,
                        Shape::Line(_) | Shape::Edited => false,
                    };
                    if is_shown || next.lines_seen >= MAX_LINES {
                        self.expected.remove(at);
                    }
                }
                self.redrawn(line, line_end)
            }
            LineEnd::Open => LineKind::Undecided,
            LineEnd::OpenAndQuiet => match &next.shape {
                // Without Enter the echo stays on its line. Any text after it is the program's.
                Shape::Line(_) | Shape::Keys(_)
                    if holds && !next.is_ended && self.ends_as_typed(at, &part) =>
                {
                    LineKind::Undecided
                }
                Shape::Line(typed) | Shape::Keys(typed)
                    if !part.is_empty() && typed.starts_with(&part) =>
                {
                    LineKind::Undecided
                }
                _ => LineKind::Output,
            },
        }
    }

    /// Whether a line ends with this typed line, or a later one.
    fn ends_as_typed(&self, at: usize, part: &str) -> bool {
        let mut expected = self.expected.range(at..);
        expected.any(|it| match &it.shape {
            Shape::Line(typed) | Shape::Keys(typed) => part.ends_with(typed.as_str()),
            Shape::Enter | Shape::Edited => false,
        })
    }

    /// Judges a line that the tty may have echoed into the output of a command.
    fn typed_ahead(&mut self, line: &str, line_end: LineEnd) -> Option<LineKind> {
        if self.ahead.is_empty() {
            return None;
        }
        let shown = bare(line);
        // A prompt or the command's own output may stand before it.
        let ends = |typed: &String| shown.ends_with(typed.as_str());
        let same = self.ahead.iter().position(ends);
        match (same, line_end) {
            (Some(at), LineEnd::Ended) => {
                // The shell may show it again after its prompt.
                self.found.extend(self.ahead.remove(at));
                self.lines_since = 0;
                Some(LineKind::Echo)
            }
            (Some(_), _) => Some(LineKind::Undecided),
            (None, LineEnd::Ended) => {
                self.lines_ahead += 1;
                if self.lines_ahead > MAX_LINES {
                    self.ahead.clear();
                }
                None
            }
            (None, LineEnd::Open) => {
                let begins = |typed: &String| typed.starts_with(&shown);
                let may_be = !shown.is_empty() && self.ahead.iter().any(begins);
                may_be.then_some(LineKind::Undecided)
            }
            (None, LineEnd::OpenAndQuiet) => None,
        }
    }

    /// Judges a line that may show an earlier echo again after a prompt.
    fn redrawn(&mut self, line: &str, line_end: LineEnd) -> LineKind {
        if line_end == LineEnd::Ended {
            self.lines_since += 1;
            if self.lines_since > MAX_LINES {
                self.found.clear();
            }
        }
        let whole = bare(line.trim_end());
        let mut found = self.found.iter();
        let is_again = found.any(|typed| whole != *typed && is_alone(line, &whole, typed));
        match (is_again, line_end) {
            (false, _) => LineKind::Output,
            (true, LineEnd::Ended) => {
                self.is_whole = true;
                LineKind::Echo
            }
            (true, _) => LineKind::Undecided,
        }
    }
}

/// Whether control characters are shown as `^X` (ECHOCTL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowsControls {
    /// The tty itself echoes.
    Yes,
    /// A line editor executes them.
    No,
}

/// Whether a line (`whole` is the line without blanks) is the typed line alone, or after a prompt.
fn is_alone(line: &str, whole: &str, typed: &str) -> bool {
    let shown = line.trim_end();
    let first = typed.chars().next().unwrap_or(' ');
    whole == typed
        || whole.ends_with(typed)
            && shown.match_indices(first).any(|(at, _)| {
                let (prompt, rest) = shown.split_at(at);
                is_prompt(prompt) && bare(rest) == typed
            })
}

/// The text without blanks, as much as is compared.
fn bare(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_whitespace());
    shown.take(MAX_COMPARED_CHARS).collect()
}

fn with_carets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => shown.push(c),
            '\u{7f}' => shown.push_str("^?"),
            c => match u8::try_from(c) {
                Ok(control @ 0..b' ') => shown.extend(['^', char::from(control + b'@')]),
                _ => shown.push(c),
            },
        }
    }
    shown
}

#[cfg(test)]
mod tests;
