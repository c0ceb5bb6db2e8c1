//! Which lines of plain text are the echo of what was typed. Pure.
//!
//! Where the shell marks its command lines they are known by position, and nothing here is asked.
//! Elsewhere the tty's own echo, or a line editor's, is the first line behind the place where the
//! output ended at the typing that holds the typed line: prompts before it, colours and wrapping
//! make no difference, nor do blanks, which line editors move about. Several typed lines have their
//! echoes in order. A typed line that is redrawn after a prompt (it was typed ahead, the tty showed
//! it, and then the line editor) is its echo too.
//!
//! Promises: until a line has ended it is not called output while it may still become the echo; what
//! is not found when the output has been quiet, or within `MOST_LINES`, is given up.
//!
//! It must not know: offsets in raw output, terminals, time.

use std::collections::VecDeque;

use super::prompt::is_prompt;

/// Lines of output that may come before an echo: a program's last words before its prompt.
const MOST_LINES: usize = 1_000;
/// Typed lines whose echo is waited for or remembered, at the most; of more the latest are not.
const MOST_TYPED_LINES: usize = 1_024;
/// How much of a typed line is compared, in characters: no output is that by chance.
const COMPARED_CHARS: usize = 4_096;

/// What a line of output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// What the program printed.
    Output,
    /// What the tty or the line editor echoed.
    Echo,
    /// It may become the echo.
    NotYet,
}

/// Whether more may be added to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineIs {
    /// A line feed ended it.
    Ended,
    /// More may follow at once.
    Open,
    /// Nothing has followed for a while.
    OpenAndQuiet,
}

/// Who knows where a typed line's echo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBy {
    /// The shell's marks; the text is only looked at when no mark comes.
    Marks,
    /// Nobody: the text alone.
    Text,
}

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    /// Text from here on is behind the typing.
    at: u64,
    known_by: KnownBy,
    shape: Shape,
    /// Which input it is of.
    input: u64,
    /// Enter was pressed: its echo ends a line.
    is_ended: bool,
    lines_seen: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// The line, without blanks.
    Line(String),
    /// Enter alone.
    Enter,
    /// Keys that edit: what the line becomes is not known.
    Edited,
}

/// The echoes that are still to come.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    expected: VecDeque<Expected>,
    /// Echoes that were found, without blanks: they may be redrawn.
    found: VecDeque<String>,
    /// Lines that came since the last one was found.
    lines_since: usize,
    /// Lines of inputs that came before the command of another one had ended, without blanks: the
    /// tty itself echoes them into its output, as they are, before the shell shows them.
    ahead: VecDeque<String>,
    /// Lines that came since that command began.
    lines_ahead: usize,
    /// Inputs so far.
    inputs: u64,
    /// Whether the line that was found last holds nothing else, or a prompt before it.
    is_whole: bool,
}

impl Echo {
    /// Something was typed when the text ended at `at`: lines ended by LF. `shows_controls`: the tty
    /// itself echoes, control characters as `^X`.
    pub fn typed(&mut self, at: u64, text: &str, known_by: KnownBy, shows_controls: ShowsControls) {
        self.inputs += 1;
        for line in text.split_inclusive('\n') {
            if self.expected.len() >= MOST_TYPED_LINES {
                return;
            }
            let body = line.strip_suffix('\n').unwrap_or(line);
            let is_edited = |c: char| c.is_control() && c != '\t';
            let is_ended = body.len() < line.len();
            let are_keys = !body.is_empty() && body.chars().all(char::is_control);
            if are_keys && !is_ended && shows_controls == ShowsControls::No {
                // A line editor shows nothing of them.
                continue;
            }
            let is_of_keys = are_keys && shows_controls == ShowsControls::No;
            let shape = if body.trim().is_empty() || is_of_keys {
                Shape::Enter
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

    /// The shell has begun a command: the echo of one line is behind.
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

    /// Whether an echo is to be found by text.
    pub fn expects_text(&self) -> bool {
        self.of(KnownBy::Text).is_some() || !self.found.is_empty() || !self.ahead.is_empty()
    }

    /// Whether the echo of anything typed is still to come.
    pub fn is_expecting(&self) -> bool {
        !self.expected.is_empty()
    }

    /// Whether the last line that was taken for an echo can be nothing else: the typed line alone, or
    /// behind a prompt. Another one only contains it.
    pub fn was_whole(&self) -> bool {
        self.is_whole
    }

    fn of(&self, known_by: KnownBy) -> Option<usize> {
        let mut all = self.expected.iter();
        all.position(|expected| expected.known_by == known_by)
    }

    /// The marks did not come: the text is looked at for all of it.
    pub fn by_text_alone(&mut self) {
        for expected in &mut self.expected {
            expected.known_by = KnownBy::Text;
        }
    }

    /// Nothing has come for a while, and of what was typed before `end`, `rest` was not found in all
    /// that there is: it has no echo. What was found may be on the screen still, and is looked for
    /// again.
    pub fn give_up(&mut self, rest: &Self, end: u64) {
        let is_missing = |it: &Expected| {
            let mut rest = rest.expected.iter();
            rest.any(|other| other.at == it.at && other.shape == it.shape)
        };
        self.expected
            .retain(|it| it.known_by == KnownBy::Marks || it.at >= end || !is_missing(it));
    }

    /// Where in a line, from its start at `start`, the text behind the next typing begins.
    pub fn begins_in(&self, start: u64) -> usize {
        let next = self.of(KnownBy::Text).and_then(|at| self.expected.get(at));
        let behind = next.map_or(0, |expected| expected.at.saturating_sub(start));
        usize::try_from(behind).unwrap_or(usize::MAX)
    }

    /// What a line is, which begins at `start`, is `line` without its LF.
    pub fn judge(&mut self, line: &str, start: u64, line_is: LineIs) -> Verdict {
        self.is_whole = false;
        if let Some(verdict) = self.typed_ahead(line, line_is) {
            return verdict;
        }
        let Some(at) = self.of(KnownBy::Text) else {
            return self.redrawn(line, line_is);
        };
        let Some(next) = self.expected.get(at) else {
            return Verdict::Output;
        };
        if start + (line.len() as u64) < next.at {
            // It ended before the typing.
            return self.redrawn(line, line_is);
        }
        let from = usize::try_from(next.at.saturating_sub(start)).unwrap_or(0);
        let behind = line.get(from..).unwrap_or_default();
        let part = bare(behind);
        let holds = match &next.shape {
            Shape::Line(typed) => part.contains(typed.as_str()),
            // A line editor shows the prompt of a further line before it.
            Shape::Enter => behind.trim().is_empty() || is_prompt(behind),
            Shape::Edited => true,
        };
        match line_is {
            LineIs::Ended if holds => {
                self.is_whole = match &next.shape {
                    Shape::Line(typed) => is_alone(behind, &part, typed),
                    Shape::Enter => true,
                    Shape::Edited => false,
                };
                if let Shape::Line(typed) = &next.shape {
                    self.found.push_back(typed.clone());
                    self.lines_since = 0;
                }
                self.expected.remove(at);
                Verdict::Echo
            }
            LineIs::Ended => {
                if let Some(next) = self.expected.get_mut(at) {
                    next.lines_seen += 1;
                    if next.shape == Shape::Enter || next.lines_seen >= MOST_LINES {
                        self.expected.remove(at);
                    }
                }
                self.redrawn(line, line_is)
            }
            LineIs::Open => Verdict::NotYet,
            LineIs::OpenAndQuiet => match &next.shape {
                // Without Enter the echo stays on its line. More behind it than was typed is the
                // program's own.
                Shape::Line(_) if holds && !next.is_ended && self.ends_as_typed(at, &part) => {
                    Verdict::NotYet
                }
                Shape::Line(typed) if !part.is_empty() && typed.starts_with(&part) => {
                    Verdict::NotYet
                }
                _ => Verdict::Output,
            },
        }
    }

    /// Whether a line ends with one that was typed, this one or a later one.
    fn ends_as_typed(&self, at: usize, part: &str) -> bool {
        let mut expected = self.expected.range(at..);
        expected.any(|it| matches!(&it.shape, Shape::Line(typed) if part.ends_with(typed.as_str())))
    }

    /// A line that the tty has echoed into the output of a command, or that may become one.
    fn typed_ahead(&mut self, line: &str, line_is: LineIs) -> Option<Verdict> {
        if self.ahead.is_empty() {
            return None;
        }
        let shown = bare(line);
        // Behind what the command has printed on that line, or a prompt.
        let ends = |typed: &String| shown.ends_with(typed.as_str());
        let same = self.ahead.iter().position(ends);
        match (same, line_is) {
            (Some(at), LineIs::Ended) => {
                // The shell may show it again behind its prompt.
                self.found.extend(self.ahead.remove(at));
                self.lines_since = 0;
                Some(Verdict::Echo)
            }
            (Some(_), _) => Some(Verdict::NotYet),
            (None, LineIs::Ended) => {
                self.lines_ahead += 1;
                if self.lines_ahead > MOST_LINES {
                    self.ahead.clear();
                }
                None
            }
            (None, LineIs::Open) => {
                let begins = |typed: &String| typed.starts_with(&shown);
                let may_be = !shown.is_empty() && self.ahead.iter().any(begins);
                may_be.then_some(Verdict::NotYet)
            }
            (None, LineIs::OpenAndQuiet) => None,
        }
    }

    /// A line that was echoed before and is shown again after a prompt.
    fn redrawn(&mut self, line: &str, line_is: LineIs) -> Verdict {
        if line_is == LineIs::Ended {
            self.lines_since += 1;
            if self.lines_since > MOST_LINES {
                self.found.clear();
            }
        }
        let whole = bare(line.trim_end());
        let mut found = self.found.iter();
        let is_again = found.any(|typed| whole != *typed && is_alone(line, &whole, typed));
        match (is_again, line_is) {
            (false, _) => Verdict::Output,
            (true, LineIs::Ended) => {
                self.is_whole = true;
                Verdict::Echo
            }
            (true, _) => Verdict::NotYet,
        }
    }
}

/// Whether control characters are shown as `^X` (ECHOCTL).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowsControls {
    /// The tty echoes.
    Yes,
    /// A line editor obeys them.
    No,
}

/// Whether a line, `whole` without blanks, is one that was typed, with nothing or a prompt before it.
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

/// Without blanks, and no longer than is compared.
fn bare(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_whitespace());
    shown.take(COMPARED_CHARS).collect()
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
