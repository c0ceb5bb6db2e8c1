//! The keys of a terminal that edit a line: control characters as readline(3) and stty(1) bind them,
//! and the escape sequences that keys send (xterm's ctlseqs, "PC-Style Function Keys").
//!
//! A parser of a terminal's output would not do: to it `ESC ]` begins a string, and it would take the
//! command behind for a part of that.

/// The longest escape sequence. A longer one ends there.
const MAX_SEQUENCE: usize = 32;

/// What a key does to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Inserts a character.
    Insert(char),
    /// Inserts something that is not known: the last argument of an earlier line.
    InsertUnknown,
    /// Inserts a tab, or completes the word.
    Tab,
    /// Runs the line.
    Enter,
    /// Drops the line and the construct that it belongs to.
    Interrupt,
    /// A tty that reads lines drops them. Line editors do nothing: their shell ignores the signal.
    Suspend,
    /// Deletes the character under the cursor. On an empty line: the end of the input.
    DeleteOrEnd,
    Delete,
    Backspace,
    /// Cuts to the beginning of the line.
    CutToStart,
    /// Cuts to the end of the line.
    CutToEnd,
    CutWordLeft,
    CutWordRight,
    /// Inserts what was cut last.
    Paste,
    Left,
    Right,
    WordLeft,
    WordRight,
    Start,
    End,
    /// Replaces the line with one of the history.
    Recall,
    /// Searches the history. What is typed next is what is searched for.
    Search,
    /// Changes the line in a way that is not followed: an undo, a change of case.
    Rewrite,
    /// Has an editor change the line, and runs it (readline's edit-and-execute-command).
    EditAndRun,
    /// Makes a comment of the line, and runs it (readline's insert-comment). With an argument it takes the
    /// `#` away; the line is a changed one then.
    CommentAndRun,
    /// Runs the line, and has it again (zsh's accept-and-hold).
    RunAndHold,
    /// A bracketed paste begins (xterm, mode 2004).
    PasteBegins,
    PasteEnds,
}

impl Key {
    /// Whether the key may run or drop the line.
    pub(super) fn may_end_line(self) -> bool {
        matches!(
            self,
            Self::Enter
                | Self::EditAndRun
                | Self::CommentAndRun
                | Self::RunAndHold
                | Self::Interrupt
        )
    }
}

/// Reads keys from characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum KeyReader {
    #[default]
    Ground,
    /// Behind ESC.
    Escape,
    /// Behind CSI or SS3, with the parameters so far.
    Sequence(String),
    /// Behind `^V`, readline's quoted-insert: the next key stands for itself.
    Quoted,
    /// Behind `^X`: the next key is a part of the command.
    Prefixed,
}

impl KeyReader {
    /// Reads one character. `None` if the key is not complete, or does nothing to the line.
    pub(super) fn read(&mut self, c: char) -> Option<Key> {
        match std::mem::take(self) {
            // The tty takes it, whatever its program has read before (VINTR).
            before if c == '\u{3}' && before != Self::Quoted => Some(Key::Interrupt),
            Self::Ground => self.ground(c),
            Self::Escape => self.behind_escape(c),
            Self::Sequence(mut parameters) => {
                if ('\u{40}'..='\u{7e}').contains(&c) || parameters.len() >= MAX_SEQUENCE {
                    return sequence(&parameters, c);
                }
                parameters.push(c);
                *self = Self::Sequence(parameters);
                None
            }
            Self::Quoted => Some(Key::Insert(c)),
            Self::Prefixed if c == '\u{5}' => Some(Key::EditAndRun),
            Self::Prefixed => Some(Key::Rewrite),
        }
    }

    fn ground(&mut self, c: char) -> Option<Key> {
        Some(match c {
            // `^O` is readline's operate-and-get-next.
            '\r' | '\n' | '\u{f}' => Key::Enter,
            '\u{1b}' => {
                *self = Self::Escape;
                return None;
            }
            '\u{16}' => {
                *self = Self::Quoted;
                return None;
            }
            '\u{18}' => {
                *self = Self::Prefixed;
                return None;
            }
            '\0' | '\u{7}' | '\u{c}' | '\u{11}' | '\u{1d}' | '\u{1e}' => return None,
            '\u{3}' => Key::Interrupt,
            '\u{1a}' | '\u{1c}' => Key::Suspend,
            '\u{4}' => Key::DeleteOrEnd,
            '\u{8}' | '\u{7f}' => Key::Backspace,
            '\u{15}' => Key::CutToStart,
            '\u{b}' => Key::CutToEnd,
            '\u{17}' => Key::CutWordLeft,
            '\u{19}' => Key::Paste,
            '\u{1}' => Key::Start,
            '\u{5}' => Key::End,
            '\u{2}' => Key::Left,
            '\u{6}' => Key::Right,
            '\u{10}' | '\u{e}' => Key::Recall,
            '\u{12}' | '\u{13}' => Key::Search,
            // Transposing, undo.
            '\u{14}' | '\u{1f}' => Key::Rewrite,
            '\t' => Key::Tab,
            c => Key::Insert(c),
        })
    }

    fn behind_escape(&mut self, c: char) -> Option<Key> {
        Some(match c {
            '[' | 'O' => {
                *self = Self::Sequence(String::new());
                return None;
            }
            '\u{1b}' => {
                *self = Self::Escape;
                return None;
            }
            'b' => Key::WordLeft,
            'f' => Key::WordRight,
            'd' => Key::CutWordRight,
            '\u{8}' | '\u{7f}' => Key::CutWordLeft,
            // Escape and Enter as two keys.
            '\r' | '\n' => Key::Enter,
            '.' | '_' => Key::InsertUnknown,
            '<' | '>' => Key::Recall,
            'p' | 'n' => Key::Search,
            '#' => Key::CommentAndRun,
            'a' | 'A' => Key::RunAndHold,
            // Changes of case, commands of vi's mode.
            _ => Key::Rewrite,
        })
    }
}

fn sequence(parameters: &str, last: char) -> Option<Key> {
    Some(match (parameters, last) {
        ("200", '~') => Key::PasteBegins,
        ("201", '~') => Key::PasteEnds,
        (_, 'A' | 'B') | ("5" | "6", '~') => Key::Recall,
        ("", 'C') => Key::Right,
        ("", 'D') => Key::Left,
        (_, 'C') => Key::WordRight,
        (_, 'D') => Key::WordLeft,
        (_, 'H') | ("1" | "7", '~') => Key::Start,
        (_, 'F') | ("4" | "8", '~') => Key::End,
        ("3", '~') => Key::Delete,
        _ => return None,
    })
}
