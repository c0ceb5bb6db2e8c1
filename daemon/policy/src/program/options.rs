//! A command's options and operands, as `getopt(3)` and `getopt_long(3)` take them apart.
//!
//! It must not know what any option means.

use crate::shell::word::Word;

/// Which options take a value in the word after them. One letter: a short one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Valued<'a> {
    /// These do.
    These(&'a [&'a str]),
    /// All do but these.
    AllBut(&'a [&'a str]),
}

impl Valued<'_> {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::These(names) => names.contains(&name),
            Self::AllBut(names) => !names.contains(&name),
        }
    }
}

/// Where options end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They may stand after operands (GNU).
    Permuted,
    /// At the first operand (POSIX), as with programs that start another.
    OptionsFirst,
}

/// One option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given<'a> {
    name: &'a str,
    value: Option<(usize, &'a str)>,
}

/// A command's arguments, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    given: Vec<Given<'a>>,
    /// The operands with their places among the arguments.
    pub(crate) operands: Vec<(usize, &'a str)>,
}

/// Takes arguments apart, the program's name not among them.
pub(crate) fn options<'a>(args: &'a [Word], valued: Valued<'_>, order: Order) -> Options<'a> {
    let mut options = Options::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        let next = args.get(at + 1).map(|word| (at + 1, word.text.as_str()));
        at += 1;
        if text == "--" {
            options.rest(args, at);
            break;
        }
        if let Some(long) = text.strip_prefix("--") {
            if let Some((name, value)) = long.split_once('=') {
                let value = Some((at - 1, value));
                options.given.push(Given { name, value });
            } else if valued.takes(long) {
                options.given.push(Given {
                    name: long,
                    value: next,
                });
                at += 1;
            } else {
                options.given.push(Given {
                    name: long,
                    value: None,
                });
            }
        } else if text.len() > 1 && text.starts_with('-') {
            at += options.cluster(&text[1..], at - 1, next, valued);
        } else if order == Order::OptionsFirst {
            options.rest(args, at - 1);
            break;
        } else {
            options.operands.push((at - 1, text));
        }
    }
    options
}

impl<'a> Options<'a> {
    fn rest(&mut self, args: &'a [Word], from: usize) {
        let words = args.iter().enumerate().skip(from);
        self.operands
            .extend(words.map(|(at, word)| (at, word.text.as_str())));
    }

    /// `-abc`; how many words after it belong to it.
    fn cluster(
        &mut self,
        letters: &'a str,
        at: usize,
        next: Option<(usize, &'a str)>,
        valued: Valued<'_>,
    ) -> usize {
        for (start, letter) in letters.char_indices() {
            let end = start + letter.len_utf8();
            let name = letters.get(start..end).unwrap_or_default();
            if !valued.takes(name) {
                self.given.push(Given { name, value: None });
                continue;
            }
            let attached = letters.get(end..).filter(|rest| !rest.is_empty());
            let value = attached.map(|value| (at, value)).or(next);
            self.given.push(Given { name, value });
            return usize::from(attached.is_none());
        }
        0
    }

    /// Whether one of these is there; a long one may be abbreviated.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| is_one_of(given.name, names))
    }

    /// Whether a short one of just this letter is there.
    pub(crate) fn has_exactly(&self, letter: &str) -> bool {
        self.given.iter().any(|given| given.name == letter)
    }

    /// The value of the first of these that has one, and the word it is in.
    pub(crate) fn value(&self, names: &[&str]) -> Option<(usize, &'a str)> {
        let mut fitting = self
            .given
            .iter()
            .filter(|given| is_one_of(given.name, names));
        fitting.find_map(|given| given.value)
    }

    /// The values of all of these.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<(usize, &'a str)> {
        let fitting = self
            .given
            .iter()
            .filter(|given| is_one_of(given.name, names));
        fitting.filter_map(|given| given.value).collect()
    }

    /// The operand of this number, from 0.
    pub(crate) fn operand(&self, number: usize) -> Option<&'a str> {
        self.operands.get(number).map(|(_, text)| *text)
    }
}

fn is_one_of(given: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        *name == given || (name.len() > 1 && given.len() > 1 && name.starts_with(given))
    })
}
