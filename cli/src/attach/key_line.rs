//! The line of keys: what the key behind the first of the [detach keys](DetachKeys) asks for.
//!
//! Pure. A person's input is the program's, but for the first key and the one after it. Newer keyboard
//! protocols report keys as control sequences, also their releases.

use super::detach::DetachMatcher;
use super::detach_keys::DetachKeys;
use super::key_report::{KeyReport, key_report};

/// What a person asks for on the line of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyCommand {
    Detach,
    /// The key itself is for the program.
    TypeKey,
    /// Keys go to the program, or nowhere.
    ToggleReadOnly,
    /// The terminal takes the size of this tty.
    TakeSize,
    /// Who else is attached.
    ShowViewers,
    /// A picture of the screen, into a file.
    Screenshot,
    /// The list of terminals, to go to another one.
    List,
    /// What was printed above the screen.
    Scrollback,
    /// The same, a page up.
    ScrollbackUp,
}

const ESCAPE: u8 = 0x1b;
/// Page up, which opens the scrollback as it does in tmux.
const PAGE_UP: &[u8] = b"\x1b[5~";

/// The keys of the line, with what a person is told of each: all of it fits in 80 columns. The second of the
/// detach keys stands before them.
const KEYS: [(char, KeyCommand, &str); 6] = [
    ('s', KeyCommand::List, "list"),
    ('[', KeyCommand::Scrollback, "scroll"),
    ('p', KeyCommand::Screenshot, "picture"),
    ('r', KeyCommand::ToggleReadOnly, "read-only"),
    ('w', KeyCommand::ShowViewers, "who"),
    ('z', KeyCommand::TakeSize, "fit"),
];

/// A part of a person's input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// It is the program's.
    Typed(Vec<u8>),
    /// The line of keys is opened.
    Opened,
    Command(KeyCommand),
    /// The line is closed, and nothing was asked for.
    Closed,
}

/// Reads a person's input, chunk by chunk.
#[derive(Debug)]
pub(crate) struct KeyLine {
    keys: DetachKeys,
    matcher: DetachMatcher,
    is_open: bool,
}

impl KeyLine {
    pub(crate) fn new(keys: DetachKeys) -> Self {
        Self {
            keys,
            matcher: DetachMatcher::new(keys.first()),
            is_open: false,
        }
    }

    /// The line as a person sees it.
    pub(crate) fn text(&self) -> String {
        let detach = self.keys.second().map(|key| format!("{key} detach"));
        let others = KEYS
            .iter()
            .filter(|(key, ..)| Some(*key) != self.keys.second());
        let others = others.map(|(key, _, does)| format!("{key} {does}"));
        let types = format!("{} itself", self.keys.first());
        let all = detach.into_iter().chain(others).chain([types]);
        all.collect::<Vec<_>>().join("  ")
    }

    /// Reads a chunk of input.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<Input> {
        let mut inputs = Vec::new();
        let mut rest = chunk.to_vec();
        loop {
            if self.is_open {
                let Some((input, length)) = self.read_key(&rest) else {
                    return inputs;
                };
                self.is_open = input.is_none();
                inputs.extend(input);
                rest.drain(..length);
                continue;
            }
            let typed = self.matcher.feed(&rest);
            if !typed.forward.is_empty() {
                inputs.push(Input::Typed(typed.forward));
            }
            let Some(after) = typed.after_key else {
                return inputs;
            };
            if self.keys.second().is_none() {
                inputs.push(Input::Command(KeyCommand::Detach));
                return inputs;
            }
            inputs.push(Input::Opened);
            self.is_open = true;
            rest = after;
        }
    }

    /// What the next key of the open line asks for, and its length. Without an input the line stays open.
    fn read_key(&self, bytes: &[u8]) -> Option<(Option<Input>, usize)> {
        let first = *bytes.first()?;
        if self.keys.first().is_byte(first) {
            return Some((Some(Input::Command(KeyCommand::TypeKey)), 1));
        }
        if bytes.starts_with(PAGE_UP) {
            let input = Input::Command(KeyCommand::ScrollbackUp);
            return Some((Some(input), PAGE_UP.len()));
        }
        if let Some((report, length)) = key_report(bytes) {
            let input = match report {
                // The release is that of the key that opened the line.
                KeyReport::Release | KeyReport::NoKey => None,
                KeyReport::Press { code, is_control } => Some(match is_control {
                    true if self.keys.first().is_character(code) => {
                        Input::Command(KeyCommand::TypeKey)
                    }
                    true => Input::Closed,
                    false => self.asked_by(char::from_u32(code)),
                }),
                KeyReport::Other => Some(Input::Closed),
            };
            return Some((input, length));
        }
        // What begins with an escape and is no control sequence is one key, too.
        if first == ESCAPE {
            return Some((Some(Input::Closed), bytes.len()));
        }
        let text = bytes.utf8_chunks().next()?.valid();
        let key = text.chars().next();
        Some((Some(self.asked_by(key)), key.map_or(1, char::len_utf8)))
    }

    fn asked_by(&self, key: Option<char>) -> Input {
        if key.is_some() && key == self.keys.second() {
            return Input::Command(KeyCommand::Detach);
        }
        let found = KEYS.iter().find(|(known, ..)| Some(*known) == key);
        found.map_or(Input::Closed, |(_, command, _)| Input::Command(*command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(keys: &str, chunks: &[&str]) -> Vec<Input> {
        let mut line = KeyLine::new(keys.parse().unwrap());
        let inputs = chunks.iter().flat_map(|chunk| line.feed(chunk.as_bytes()));
        inputs.collect()
    }

    fn typed(text: &str) -> Input {
        Input::Typed(text.as_bytes().to_vec())
    }

    #[test]
    fn a_key_behind_the_first_asks_for_something() {
        use Input::{Closed, Command, Opened};
        let detach = || Command(KeyCommand::Detach);
        let table: Vec<(&[&str], Vec<Input>)> = vec![
            (&["ls\r"], vec![typed("ls\r")]),
            (&["a\x1dd"], vec![typed("a"), Opened, detach()]),
            (&["\x1d", "d"], vec![Opened, detach()]),
            (
                &["\x1d\x1dx"],
                vec![Opened, Command(KeyCommand::TypeKey), typed("x")],
            ),
            (
                &["\x1dr", "x"],
                vec![Opened, Command(KeyCommand::ToggleReadOnly), typed("x")],
            ),
            (&["\x1d\x1b", "x"], vec![Opened, Closed, typed("x")]),
            (&["\x1d\x1b[A", "x"], vec![Opened, Closed, typed("x")]),
            (&["\x1d\x1bOB", "x"], vec![Opened, Closed, typed("x")]),
            (&["\x1d\r", "x"], vec![Opened, Closed, typed("x")]),
            (
                &["\x1d[", "k"],
                vec![Opened, Command(KeyCommand::Scrollback), typed("k")],
            ),
            (
                &["\x1d\x1b[5~"],
                vec![Opened, Command(KeyCommand::ScrollbackUp)],
            ),
            (&["\x1dé", "x"], vec![Opened, Closed, typed("x")]),
            // kitty's protocol: press, release, and the next press.
            (
                &["\x1b[93;5u", "\x1b[93;5:3u", "\x1b[100u"],
                vec![Opened, detach()],
            ),
            (
                &["\x1b[93;5u\x1b[93;5u"],
                vec![Opened, Command(KeyCommand::TypeKey)],
            ),
            // The mouse and the focus are no keys.
            (
                &["\x1d", "\x1b[<0;3;4M", "\x1b[I", "d"],
                vec![Opened, detach()],
            ),
        ];
        for (chunks, expected) in table {
            assert_eq!(read("ctrl-],d", chunks), expected, "{chunks:?}");
        }
    }

    #[test]
    fn one_key_alone_detaches_and_none_is_the_programs() {
        let detached = vec![typed("a"), Input::Command(KeyCommand::Detach)];
        assert_eq!(read("ctrl-q", &["a\x11more"]), detached);
        assert_eq!(read("none", &["\x1dd"]), vec![typed("\x1dd")]);
        assert_eq!(
            read("ctrl-],d", &["\x1d", "q", "\x1dd"]).last(),
            Some(&Input::Command(KeyCommand::Detach))
        );
    }

    #[test]
    fn the_line_names_each_key() {
        let line = KeyLine::new("ctrl-a,x".parse().unwrap());
        assert_eq!(
            line.text(),
            "x detach  s list  [ scroll  p picture  r read-only  w who  z fit  ctrl-a itself"
        );
        let line = KeyLine::new("ctrl-a,p".parse().unwrap());
        assert!(
            line.text()
                .starts_with("p detach  s list  [ scroll  r read-only"),
            "{}",
            line.text()
        );
    }
}
