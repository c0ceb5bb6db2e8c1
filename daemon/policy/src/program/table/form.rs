//! A form of a command line, as a row of the table writes it: `exec -- COMMAND`, `reset --hard`.

use serde::{Deserialize, Deserializer, de};

use super::call::Call;
use super::row::ProgramRow;
use super::verb::has_verb;
use crate::glob::{self, Case};
use crate::program::options::{Options, Order};
use crate::shell::word::{UNKNOWN, Word};

/// What a part of a command line is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A command: this word and those behind it.
    Command,
    /// A line for a shell. As operands, these are joined by a space.
    Line,
    /// A text that is typed into another terminal. As operands, these are joined by a space.
    Input,
    /// A byte that is typed into another terminal, by its number.
    Byte,
    /// Code of an interpreter.
    Code,
    /// Statements of SQL.
    Sql,
    /// Commands of redis.
    Redis,
    /// Code of the shells of `MongoDB`.
    Mongo,
    /// A file or another name that the row's key speaks of.
    File,
    /// `KEY=VALUE` of the row's settings.
    Setting,
    /// The key of a setting. The next operand is its value.
    Key,
    /// A program that runs later or for many files. What nobody knows is not safe there.
    Program,
    /// `NAME=VALUE` for the environment.
    Variable,
    /// The arguments of a shell: this word and those behind it.
    Shell,
    /// A file below the directory of the command, or below /tmp. Another word does not fit.
    Inside,
    /// Something that makes the program run what is not read. To a rule, that may be any command.
    Any,
}

const SLOTS: [(&str, Slot); 16] = [
    ("ANY", Slot::Any),
    ("INSIDE", Slot::Inside),
    ("COMMAND", Slot::Command),
    ("LINE", Slot::Line),
    ("INPUT", Slot::Input),
    ("BYTE", Slot::Byte),
    ("CODE", Slot::Code),
    ("SQL", Slot::Sql),
    ("REDIS", Slot::Redis),
    ("MONGO", Slot::Mongo),
    ("FILE", Slot::File),
    ("SETTING", Slot::Setting),
    ("KEY", Slot::Key),
    ("PROGRAM", Slot::Program),
    ("VARIABLE", Slot::Variable),
    ("SHELL", Slot::Shell),
];

/// The last operand, as a file.
const LAST: &str = "LAST";

/// A text that a word fits, or that a slot stands behind.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    text: String,
    slot: Option<Slot>,
    /// Whether the text is a verb that a word may begin or end with: `vm.destroy`.
    is_verb: bool,
}

impl Pattern {
    fn parse(text: &str) -> Self {
        // `\p` is a `|` of the word itself.
        let text = &text.replace("\\p", "|");
        for (name, slot) in SLOTS {
            if let Some(prefix) = text.strip_suffix(name)
                && !prefix.ends_with(|c: char| c.is_ascii_uppercase())
            {
                let text = prefix.to_owned();
                return Self {
                    text,
                    slot: Some(slot),
                    is_verb: false,
                };
            }
        }
        let verb = text
            .strip_prefix('<')
            .and_then(|text| text.strip_suffix('>'));
        let text = if text == "_" { "*" } else { text };
        Self {
            text: verb.unwrap_or(text).to_owned(),
            slot: None,
            is_verb: verb.is_some(),
        }
    }

    fn is_any(&self) -> bool {
        self.text == "*" && self.slot.is_none()
    }

    /// What of a word fits. `None`: it does not fit.
    fn fits<'a>(&self, word: &'a str) -> Option<Fitting<'a>> {
        let Some(slot) = self.slot else {
            let fits = if self.is_verb {
                has_verb(word, &self.text)
            } else if self.text.contains('*') {
                glob::fits(&self.text, word, Case::Counts)
            } else {
                self.text == word
            };
            return fits.then_some(Fitting::Word);
        };
        let rest = match self.text.strip_prefix('*') {
            Some(middle) => word.split_once(middle).map(|(_, rest)| rest),
            None => word.strip_prefix(self.text.as_str()),
        };
        let fits = |rest: &&str| slot != Slot::Inside || is_inside(rest);
        rest.filter(fits).map(|rest| Fitting::Slot(slot, rest))
    }
}

/// How a word fits a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitting<'a> {
    /// As a word that the form names.
    Word,
    /// This text of it fills a slot.
    Slot(Slot, &'a str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// The next operand fits.
    Next(Vec<Pattern>),
    /// Each operand from the next one on.
    Each(Pattern),
    /// Some operand fits.
    Some(Vec<Pattern>),
    /// No operand fits.
    No(Vec<Pattern>),
    /// One of these options is given, with such a value.
    Option(Vec<String>, Vec<Pattern>),
    /// None of these options is given, or none with such a value.
    NoOption(Vec<String>, Vec<Pattern>),
    /// What follows stands behind `--`.
    Mark,
    /// The last operand is a file.
    Last,
    /// The last operand fits.
    End(Vec<Pattern>),
}

/// A form of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    terms: Vec<Term>,
    /// The operands before a command or a line that ends the options.
    operands_before_rest: Option<usize>,
}

/// One part of a command line that fills a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filled<'a> {
    pub(crate) slot: Slot,
    /// The number of the argument that it stands in.
    pub(crate) at: usize,
    pub(crate) text: &'a str,
    /// Whether it begins an operand and goes on to the end.
    pub(crate) is_rest: bool,
}

/// What of a command line fits a form.
#[derive(Debug, Default)]
pub(crate) struct Match<'a> {
    pub(crate) filled: Vec<Filled<'a>>,
    /// The words that tell this form from others.
    pub(crate) words: Vec<String>,
}

impl Form {
    /// Reads a form.
    pub(crate) fn parse(text: &str) -> Self {
        let mut terms = Vec::new();
        let (mut operands, mut operands_before_rest) = (0, None);
        for word in text.split_whitespace() {
            // `\s` is a blank within a word.
            let word = &word.replace("\\s", " ");
            let word = word.as_str();
            let patterns = |text: &str| text.split('|').map(Pattern::parse).collect::<Vec<_>>();
            let term = if word == "--" {
                Term::Mark
            } else if word == LAST {
                Term::Last
            } else if let Some(option) = word.strip_prefix("!-") {
                let (names, value) = option.split_once('=').unwrap_or((option, ""));
                let value = if value.is_empty() {
                    Vec::new()
                } else {
                    patterns(value)
                };
                Term::NoOption(option_names(&format!("-{names}")), value)
            } else if let Some(word) = word.strip_prefix('!') {
                Term::No(patterns(word))
            } else if let Some(word) = word.strip_prefix('?') {
                Term::Some(patterns(word))
            } else if word.starts_with('-') {
                let (names, value) = word.split_once('=').unwrap_or((word, ""));
                let value = if value.is_empty() {
                    Vec::new()
                } else {
                    patterns(value)
                };
                Term::Option(option_names(names), value)
            } else if let Some(last) = word.strip_suffix('$').filter(|last| !last.is_empty()) {
                Term::End(patterns(last))
            } else if let Some(each) = word.strip_suffix("...") {
                Term::Each(Pattern::parse(each))
            } else {
                let patterns = patterns(word);
                let is_rest = |pattern: &Pattern| {
                    pattern.text.is_empty()
                        && matches!(
                            pattern.slot,
                            Some(Slot::Command | Slot::Line | Slot::Input | Slot::Shell)
                        )
                };
                if patterns.iter().any(is_rest) && !terms.contains(&Term::Mark) {
                    operands_before_rest = Some(operands);
                }
                operands += 1;
                Term::Next(patterns)
            };
            terms.push(term);
        }
        Self {
            terms,
            operands_before_rest,
        }
    }

    /// Where options end, if the form says so.
    pub(crate) fn order(&self) -> Option<Order> {
        self.operands_before_rest.map(Order::OptionsUntil)
    }

    /// Whether the file that it speaks of is the last operand, behind what goes there.
    pub(crate) fn ends_with_last(&self) -> bool {
        matches!(self.terms.last(), Some(Term::Last))
    }

    /// The words of which the first operand has to be one. Empty if it may be another.
    pub(crate) fn verbs(&self) -> Vec<&str> {
        let Some(Term::Next(patterns)) = self.terms.first() else {
            return Vec::new();
        };
        let is_verb = |pattern: &&Pattern| pattern.slot.is_none() && !pattern.text.contains('*');
        let verbs = patterns.iter().filter(is_verb);
        let verbs: Vec<&str> = verbs.map(|pattern| pattern.text.as_str()).collect();
        if verbs.len() == patterns.len() {
            verbs
        } else {
            Vec::new()
        }
    }

    /// The options that have a value in this form.
    pub(crate) fn valued(&self) -> impl Iterator<Item = &str> {
        let options = self.terms.iter().filter_map(|term| match term {
            Term::Option(names, values) if !values.is_empty() => Some(names),
            _ => None,
        });
        options.flatten().map(String::as_str)
    }

    /// All options of this form.
    pub(crate) fn options(&self) -> impl Iterator<Item = &str> {
        let options = self.terms.iter().filter_map(|term| match term {
            Term::Option(names, _) | Term::NoOption(names, _) => Some(names),
            _ => None,
        });
        options.flatten().map(String::as_str)
    }

    /// What of a command line fits. `None`: it is not of this form.
    pub(crate) fn fits<'a>(&self, call: &mut Call<'_, 'a>) -> Option<Match<'a>> {
        let options = call.options(self.order());
        let mut matching = Matching {
            row: call.row(),
            args: call.args(),
            options: &options,
            next: 0,
            found: Match::default(),
        };
        for term in &self.terms {
            if matching.term(term)? == Progress::Done {
                break;
            }
        }
        Some(matching.found)
    }
}

/// Whether terms behind a term are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Next,
    /// A command or a line takes all that is left.
    Done,
}

/// A command line that is compared with a form, term by term.
struct Matching<'r, 'a> {
    row: &'r ProgramRow,
    args: &'a [Word],
    options: &'r Options<'a>,
    /// The operand that comes next.
    next: usize,
    found: Match<'a>,
}

impl<'a> Matching<'_, 'a> {
    fn term(&mut self, term: &Term) -> Option<Progress> {
        let row = self.row;
        let is_known = |name: &str| row.knows_option(name);
        let mut operands = self.options.operands.iter().map(|(_, word)| *word);
        match term {
            Term::Next(patterns) => return self.next_operand(patterns),
            Term::Each(pattern) => self.each_operand(pattern)?,
            Term::Some(patterns) => self.some_operand(patterns)?,
            Term::No(patterns) => {
                let fits = |word| patterns.iter().any(|pattern| pattern.fits(word).is_some());
                if operands.any(fits) {
                    return None;
                }
            }
            Term::Option(names, patterns) if patterns.is_empty() => {
                let given = self.options.given(names, &is_known)?;
                self.found.words.push(row.spelled(given));
            }
            Term::Option(names, patterns) => self.option(names, patterns)?,
            Term::NoOption(names, patterns) if !patterns.is_empty() => {
                let (words, filled) = (self.found.words.len(), self.found.filled.len());
                if self.option(names, patterns).is_some() {
                    return None;
                }
                self.found.words.truncate(words);
                self.found.filled.truncate(filled);
            }
            Term::NoOption(names, _) => {
                if self.options.given(names, &is_known).is_some() {
                    return None;
                }
            }
            Term::Mark => {
                let mark = self.args.iter().position(|word| word.text == "--")?;
                let mut operands = self.options.operands.iter();
                self.next = operands.position(|(at, _)| *at > mark)?;
            }
            Term::End(patterns) => {
                let last = operands.next_back()?;
                patterns.iter().find_map(|pattern| pattern.fits(last))?;
            }
            Term::Last => {
                let last = self.options.operands.len().checked_sub(1)?;
                let operand = self.options.operands.get(last);
                let (at, text) = *operand.filter(|_| last >= self.next)?;
                self.fill(Slot::File, at, text, false);
            }
        }
        Some(Progress::Next)
    }

    fn fill(&mut self, slot: Slot, at: usize, text: &'a str, is_rest: bool) {
        self.found.filled.push(Filled {
            slot,
            at,
            text,
            is_rest,
        });
    }

    fn next_operand(&mut self, patterns: &[Pattern]) -> Option<Progress> {
        let (at, word) = *self.options.operands.get(self.next)?;
        self.next += 1;
        match patterns.iter().find_map(|pattern| pattern.fits(word))? {
            Fitting::Slot(slot, text) => {
                let is_rest = text.len() == word.len();
                self.fill(slot, at, text, is_rest);
                let takes_rest =
                    matches!(slot, Slot::Command | Slot::Line | Slot::Input | Slot::Shell);
                if is_rest && takes_rest {
                    return Some(Progress::Done);
                }
            }
            Fitting::Word => {
                if !word.contains(UNKNOWN) && !patterns.iter().any(Pattern::is_any) {
                    self.found.words.push(word.to_owned());
                }
            }
        }
        Some(Progress::Next)
    }

    fn each_operand(&mut self, pattern: &Pattern) -> Option<()> {
        let options = self.options;
        for (at, word) in options.operands.iter().skip(self.next) {
            match pattern.fits(word) {
                Some(Fitting::Slot(slot, text)) => self.fill(slot, *at, text, false),
                None if pattern.slot == Some(Slot::Inside) => return None,
                Some(Fitting::Word) | None => {}
            }
        }
        (!self.found.filled.is_empty()).then_some(())
    }

    fn some_operand(&mut self, patterns: &[Pattern]) -> Option<()> {
        let mut operands = self.options.operands.iter();
        let (at, word, fitting) = operands.find_map(|(at, word)| {
            let fitting = patterns.iter().find_map(|pattern| pattern.fits(word))?;
            Some((*at, *word, fitting))
        })?;
        match fitting {
            Fitting::Slot(slot, text) => self.fill(slot, at, text, false),
            Fitting::Word => self.found.words.push(word.to_owned()),
        }
        Some(())
    }

    fn option(&mut self, names: &[String], patterns: &[Pattern]) -> Option<()> {
        let row = self.row;
        let mut fits = false;
        let values = self
            .options
            .given_values(names, &|name| row.knows_option(name));
        for (at, value) in values {
            match patterns.iter().find_map(|pattern| pattern.fits(value)) {
                Some(Fitting::Slot(slot, text)) => self.fill(slot, at, text, false),
                Some(Fitting::Word) => {
                    let words = [row.spelled(names.last()?), value.to_owned()];
                    self.found.words.extend(words);
                }
                None => continue,
            }
            fits = true;
        }
        fits.then_some(())
    }
}

/// Whether a word names a file below the directory of a command, or below /tmp.
fn is_inside(word: &str) -> bool {
    let word = word.strip_prefix("/tmp/").unwrap_or(word);
    !word.is_empty()
        && !word.starts_with(['/', '~', '$'])
        && !word.contains([UNKNOWN, ':'])
        && !word.split('/').any(|part| part == "..")
}

fn option_names(text: &str) -> Vec<String> {
    let names = text.split('|').map(|name| name.trim_start_matches('-'));
    names.map(str::to_owned).collect()
}

impl Form {
    /// Whether a part of the form stands for one of these.
    pub(super) fn has_slot(&self, fits: impl Fn(Slot) -> bool) -> bool {
        let is = |pattern: &Pattern| pattern.slot.is_some_and(&fits);
        self.terms.iter().any(|term| match term {
            Term::Next(patterns) | Term::Some(patterns) | Term::Option(_, patterns) => {
                patterns.iter().any(is)
            }
            Term::Each(pattern) => is(pattern),
            Term::Last => fits(Slot::File),
            Term::No(_) | Term::NoOption(..) | Term::Mark | Term::End(_) => false,
        })
    }
}

impl<'de> Deserialize<'de> for Form {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.len() > 1_024 {
            return Err(de::Error::custom("a form is longer than 1,024 bytes"));
        }
        Ok(Self::parse(&text))
    }
}
