//! The options and operands of a command, as `getopt(3)` and `getopt_long(3)` take them apart.

use crate::shell::word::Word;
use crate::word_list::is_listed;

/// The options that take a value in the word after them, as a list of words. A name of one letter is a
/// short option.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Valued<'a> {
    /// These do.
    These(&'a str),
    /// These do, and the options that are known besides do not.
    Of {
        /// The options that take a value.
        these: &'a str,
        /// All options that are known.
        known: &'a str,
    },
    /// All do but these.
    AllBut(&'a str),
}

impl Valued<'_> {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::These(names) => is_listed(name, names),
            Self::Of { these, .. } => is_listed(name, these),
            Self::AllBut(names) => !is_listed(name, names),
        }
    }

    /// Whether a long option takes a value, whose name may be abbreviated (`getopt_long(3)`).
    fn takes_long(self, name: &str) -> bool {
        const MIN_LETTERS: usize = 2;
        let (names, known) = match self {
            Self::These(names) => (names, names),
            Self::Of { these, known } => (these, known),
            Self::AllBut(_) => return self.takes(name),
        };
        let mut long = names.split_whitespace();
        is_listed(name, names)
            || (name.len() >= MIN_LETTERS
                && !is_listed(name, known)
                && long.any(|long| long.starts_with(name)))
    }
}

/// Where options end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They may also stand after operands (GNU).
    Permuted,
    /// They end at the first operand (POSIX), as for programs that start others.
    OptionsFirst,
    /// They end behind this number of operands: of `timeout 5 CMD` behind one.
    OptionsUntil(usize),
}

/// How many dashes stand before an option of several letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LongOptions {
    /// Two. One dash begins a cluster of letters.
    #[default]
    TwoDashes,
    /// One or two, as for java(1).
    AnyDashes,
}

/// One option of a command. A value comes with the number of the argument that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given<'a> {
    name: &'a str,
    value: Option<(usize, &'a str)>,
}

/// A command's arguments, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    given: Vec<Given<'a>>,
    /// The operands, each with its number among the arguments.
    pub(crate) operands: Vec<(usize, &'a str)>,
}

/// Takes the arguments of a command apart. The program's name is not among them.
pub(crate) fn options<'a>(args: &'a [Word], valued: Valued<'_>, order: Order) -> Options<'a> {
    options_of(args, valued, order, LongOptions::TwoDashes)
}

/// Takes the arguments of a command apart, whose long options may have one dash.
pub(crate) fn options_of<'a>(
    args: &'a [Word],
    valued: Valued<'_>,
    order: Order,
    long_options: LongOptions,
) -> Options<'a> {
    let last_operands = match order {
        Order::Permuted => usize::MAX,
        Order::OptionsFirst => 0,
        Order::OptionsUntil(operands) => operands,
    };
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
        let one_dash = || match long_options {
            LongOptions::AnyDashes if text.len() > 2 => text.strip_prefix('-'),
            LongOptions::AnyDashes | LongOptions::TwoDashes => None,
        };
        if let Some(long) = text.strip_prefix("--").or_else(one_dash) {
            if let Some((name, value)) = long.split_once('=') {
                let value = Some((at - 1, value));
                options.given.push(Given { name, value });
            } else if (long_options == LongOptions::TwoDashes && valued.takes_long(long))
                || valued.takes(long)
            {
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
        } else if options.operands.len() == last_operands {
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

    /// Reads a cluster of short options such as `-abc`. Returns how many of the next words belong to it.
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

    /// Whether one of these options is given. A long one may be abbreviated.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| is_one_of(given.name, names))
    }

    /// Whether the short option of this letter is given.
    pub(crate) fn has_exactly(&self, letter: &str) -> bool {
        self.given.iter().any(|given| given.name == letter)
    }

    /// The first of these options that is given, as it was spelled.
    pub(crate) fn given(
        &self,
        names: &[String],
        is_known: &dyn Fn(&str) -> bool,
    ) -> Option<&'a str> {
        let mut given = self.given.iter().map(|given| given.name);
        given.find(|given| is_spelling(given, names, is_known))
    }

    /// The values of these options, each with the number of the argument that it stands in.
    pub(crate) fn given_values(
        &self,
        names: &[String],
        is_known: &dyn Fn(&str) -> bool,
    ) -> Vec<(usize, &'a str)> {
        let named = self.given.iter();
        let named = named.filter(|given| is_spelling(given.name, names, is_known));
        named.filter_map(|given| given.value).collect()
    }

    /// The first value of one of these options, and the number of the argument that it stands in.
    pub(crate) fn value(&self, names: &[&str]) -> Option<(usize, &'a str)> {
        self.values(names).next()
    }

    /// The values of all of these options.
    pub(crate) fn values(&self, names: &[&str]) -> impl Iterator<Item = (usize, &'a str)> {
        let named = self.given.iter();
        let named = named.filter(move |given| is_one_of(given.name, names));
        named.filter_map(|given| given.value)
    }

    /// The operand with this number, from 0.
    pub(crate) fn operand(&self, number: usize) -> Option<&'a str> {
        self.operands.get(number).map(|(_, text)| *text)
    }
}

/// Whether an option is one of these. A long one that is not known itself may be the beginning of one.
fn is_spelling(given: &str, names: &[String], is_known: &dyn Fn(&str) -> bool) -> bool {
    names.iter().any(|name| {
        name == given
            || (name.ends_with(':') && given.starts_with(name.as_str()))
            || name
                .strip_suffix('*')
                .is_some_and(|begin| given.starts_with(begin))
            || (given.len() > 2 && name.len() > 1 && name.starts_with(given) && !is_known(given))
    })
}

fn is_one_of(given: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        *name == given || (name.len() > 1 && given.len() > 1 && name.starts_with(given))
    })
}
