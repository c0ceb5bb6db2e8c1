//! A program's row of the table.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::form::Form;
use super::form_list::{file_forms, start_forms};
use super::setting::Setting;
use crate::program::kind::{ProgramKind, SqlClient};
use crate::program::options::{LongOptions, Valued};
use crate::word_list::is_listed;

/// What a program does with the lines that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Takes {
    /// It is a shell.
    Shell,
    /// A shell is at its other end.
    Carrier,
    /// Code.
    Code,
    /// Commands of its own, of which some run others: `!CMD` of ed(1), `shell CMD` of gdb(1).
    Commands,
    /// SQL.
    Sql,
    /// Commands of redis.
    Redis,
    /// Code of the shells of `MongoDB`.
    Mongo,
    /// Text or keys.
    Text,
}

impl Takes {
    pub(crate) fn kind(self) -> ProgramKind {
        match self {
            Self::Shell | Self::Carrier => ProgramKind::Shell,
            Self::Code | Self::Commands => ProgramKind::Code,
            Self::Sql => ProgramKind::Sql(SqlClient::Sql),
            Self::Redis => ProgramKind::Sql(SqlClient::Redis),
            Self::Mongo => ProgramKind::Sql(SqlClient::Mongo),
            Self::Text => ProgramKind::Text,
        }
    }
}

/// Where a program's output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Prints {
    /// From a network, or out of an encoding.
    Fetched,
    /// It is settings for a shell to evaluate.
    Settings,
}

/// Which calls of a program do no harm.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Harmless {
    /// All, or none.
    All(bool),
    /// Those of one of these forms.
    Forms(Vec<Form>),
}

impl Default for Harmless {
    fn default() -> Self {
        Self::All(false)
    }
}

/// A program's row, as it is written. docs/programs.md has the meaning of each key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProgramRow {
    /// The manual that it is written by.
    pub(crate) source: String,
    /// Other names of the program.
    pub(crate) names: String,
    pub(crate) values: String,
    pub(crate) verb_values: BTreeMap<String, String>,
    /// Verbs all of whose options take a value, but these.
    pub(crate) verb_switches: BTreeMap<String, String>,
    pub(crate) options_first: bool,
    pub(crate) any_dashes: bool,
    /// Whether what the verbs of unknown programs say holds for this one too.
    pub(crate) verbs: Option<bool>,
    pub(crate) help: Option<bool>,
    pub(crate) takes: Option<Takes>,
    pub(crate) prints: Option<Prints>,
    #[serde(deserialize_with = "start_forms")]
    pub(crate) starts: Vec<Form>,
    pub(crate) settings: BTreeMap<String, Setting>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) writes: Vec<Form>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) appends: Vec<Form>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) deletes: Vec<Form>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) fetches: Vec<Form>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) runs: Vec<Form>,
    #[serde(deserialize_with = "file_forms")]
    pub(crate) uploads: Vec<Form>,
    pub(crate) sends: Vec<Form>,
    pub(crate) sends_words: Vec<Form>,
    pub(crate) reads_files: bool,
    pub(crate) dangerous: BTreeMap<String, String>,
    pub(crate) person: BTreeMap<String, String>,
    pub(crate) unknown: BTreeMap<String, String>,
    pub(crate) safe: Vec<Form>,
    pub(crate) harmless: Harmless,
    /// The forms of `dangerous`, `person` and `unknown`, read.
    #[serde(skip)]
    pub(crate) reasons: Vec<Reason>,
    /// All options that the row names, without dashes.
    #[serde(skip)]
    options: String,
}

/// How bad a form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Dangerous,
    /// Only a person can agree.
    Person,
    Unknown,
}

/// A form that is not safe, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) form: Form,
    pub(crate) why: String,
    pub(crate) weight: Weight,
}

impl ProgramRow {
    /// Reads the forms that are keys, and learns which options take a value.
    #[must_use]
    pub(crate) fn compiled(mut self) -> Self {
        let maps = [
            (&self.dangerous, Weight::Dangerous),
            (&self.person, Weight::Person),
            (&self.unknown, Weight::Unknown),
        ];
        let reasons = maps.into_iter().flat_map(|(map, weight)| {
            map.iter().map(move |(form, why)| Reason {
                form: Form::parse(form),
                why: why.clone(),
                weight,
            })
        });
        self.reasons = reasons.collect();
        self.values = names(&self.values);
        for verb in self.verb_values.values_mut() {
            *verb = names(verb);
        }
        for verb in self.verb_switches.values_mut() {
            *verb = names(verb);
        }
        let (mut all, mut verbs) = (self.values.clone(), Vec::new());
        let mut options = self.values.clone();
        for form in self.forms() {
            for name in form.options() {
                add(&mut options, name);
            }
            let of_verbs = form.verbs();
            for name in form.valued() {
                if of_verbs.is_empty() {
                    add(&mut all, name);
                }
                let named = of_verbs.iter();
                verbs.extend(named.map(|verb| ((*verb).to_owned(), name.to_owned())));
            }
        }
        for more in self.verb_values.values().chain(self.verb_switches.values()) {
            add(&mut options, more);
        }
        self.options = options;
        self.values = all;
        for (verb, name) in verbs {
            add(self.verb_values.entry(verb).or_default(), &name);
        }
        for verb in self.verb_values.values_mut() {
            add(verb, &self.values);
        }
        self
    }

    /// All forms of the row.
    fn forms(&self) -> impl Iterator<Item = &Form> {
        let harmless: &[Form] = match &self.harmless {
            Harmless::Forms(forms) => forms,
            Harmless::All(_) => &[],
        };
        [
            &*self.starts,
            &self.writes,
            &self.appends,
            &self.deletes,
            &self.fetches,
            &self.runs,
            &self.uploads,
            &self.sends,
            &self.sends_words,
            &self.safe,
            harmless,
        ]
        .into_iter()
        .flatten()
        .chain(self.reasons.iter().map(|reason| &reason.form))
    }

    /// The options that take a value behind a verb.
    pub(crate) fn valued(&self, verb: Option<&str>) -> Valued<'_> {
        let switches = verb.and_then(|verb| self.verb_switches.get(verb));
        if let Some(switches) = switches {
            return Valued::AllBut(switches);
        }
        let values = verb.and_then(|verb| self.verb_values.get(verb));
        Valued::Of {
            these: values.unwrap_or(&self.values),
            known: &self.options,
        }
    }

    /// The operands that may be verbs with options of their own.
    pub(crate) fn max_verbs(&self) -> usize {
        let has_verbs = !self.verb_values.is_empty() || !self.verb_switches.is_empty();
        if has_verbs { 2 } else { 0 }
    }

    /// Whether a form of the row begins with this word.
    pub(crate) fn has_verb(&self, word: &str) -> bool {
        self.forms().any(|form| form.verbs().contains(&word))
    }

    /// Whether a verb has options of its own.
    pub(crate) fn is_verb(&self, verb: &str) -> bool {
        self.verb_values.contains_key(verb) || self.verb_switches.contains_key(verb)
    }

    pub(crate) fn long_options(&self) -> LongOptions {
        if self.any_dashes {
            LongOptions::AnyDashes
        } else {
            LongOptions::TwoDashes
        }
    }

    /// Whether the row names an option.
    pub(crate) fn knows_option(&self, name: &str) -> bool {
        is_listed(name, &self.options)
    }

    /// An option with its dashes.
    pub(crate) fn spelled(&self, name: &str) -> String {
        match (name.len(), self.any_dashes) {
            (1, _) | (_, true) => format!("-{name}"),
            _ => format!("--{name}"),
        }
    }

    /// A key that only rows of termd itself have.
    pub(crate) fn built_in_key(&self) -> Option<&'static str> {
        self.takes
            .map(|_| "takes")
            .or(self.prints.map(|_| "prints"))
    }

    /// Adds what another row of this program says.
    pub(crate) fn merge(&mut self, other: Self) {
        let join = |mine: &mut String, other: &str| add(mine, other);
        join(&mut self.names, &other.names);
        join(&mut self.values, &other.values);
        for (verb, values) in other.verb_values {
            join(self.verb_values.entry(verb).or_default(), &values);
        }
        for (verb, values) in other.verb_switches {
            join(self.verb_switches.entry(verb).or_default(), &values);
        }
        self.options_first |= other.options_first;
        self.verbs = other.verbs.or(self.verbs);
        self.any_dashes |= other.any_dashes;
        self.reads_files |= other.reads_files;
        self.help = other.help.or(self.help);
        self.takes = other.takes.or(self.takes);
        self.prints = other.prints.or(self.prints);
        self.starts.extend(other.starts);
        self.writes.extend(other.writes);
        self.appends.extend(other.appends);
        self.deletes.extend(other.deletes);
        self.fetches.extend(other.fetches);
        self.runs.extend(other.runs);
        self.uploads.extend(other.uploads);
        self.sends.extend(other.sends);
        self.sends_words.extend(other.sends_words);
        self.safe.extend(other.safe);
        self.settings.extend(other.settings);
        self.dangerous.extend(other.dangerous);
        self.person.extend(other.person);
        self.unknown.extend(other.unknown);
        match (&mut self.harmless, other.harmless) {
            (_, Harmless::All(false)) => {}
            (Harmless::Forms(mine), Harmless::Forms(more)) => mine.extend(more),
            (mine, more) => *mine = more,
        }
    }
}

/// Options without their dashes.
fn names(options: &str) -> String {
    let names = options.split_whitespace();
    let names: Vec<&str> = names.map(|name| name.trim_start_matches('-')).collect();
    names.join(" ")
}

fn add(list: &mut String, more: &str) {
    if !more.is_empty() {
        list.push(' ');
        list.push_str(more);
    }
}
