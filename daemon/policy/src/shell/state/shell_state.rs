//! What the commands of a text have set in their shell, as far as the text tells.
//!
//! **Invariant:** what is not in a [`ShellState`] is unknown. Forgetting something is always right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::place::Place;
use crate::shell::word::UNKNOWN;

/// Names of each kind that are kept.
const MAX_NAMES: usize = 256;
/// Values of one variable that are told apart.
const MAX_CONTENTS: usize = 12;
/// Bytes of one value.
const MAX_CONTENT_BYTES: usize = 16 << 10;
/// Bytes of all values, functions and aliases.
const MAX_STATE_BYTES: usize = 128 << 10;

/// What it takes to copy an element of a list, beside its bytes.
const UNITS_OF_ELEMENT: usize = 64;
/// What it takes to copy what is known of a variable, but for its values, which are shared.
const UNITS_OF_VARIABLE: usize = 32;

/// The name of the variable that holds the positional parameters, as a list.
pub(crate) const PARAMETERS: &str = "@";

/// Which of the values count that a text gives a variable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Values {
    /// Those that it has behind each command, as far as the order of the text tells.
    #[default]
    Last,
    /// All that it was ever given: what was to set it anew may not have run.
    All,
}

/// One possible content of a variable. A text may hold [`UNKNOWN`] for parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Unknown,
    Text(String),
    /// The elements of an array with the numbers from 0 on. None: the variable is not set.
    List(Vec<String>),
}

impl Content {
    /// What it takes to copy it.
    pub(crate) fn units(&self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Text(text) => text.len(),
            Self::List(elements) => elements
                .iter()
                .map(|text| text.len() + UNITS_OF_ELEMENT)
                .sum(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Unknown => 0,
            Self::Text(text) => text.len(),
            Self::List(elements) => elements.iter().map(|text| text.len() + 8).sum(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    contents: Arc<Vec<Content>>,
    is_exported: bool,
}

/// What is known of a shell's variables, functions and aliases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellState {
    variables: BTreeMap<String, Variable>,
    /// The bodies of functions.
    functions: BTreeMap<String, Arc<str>>,
    /// What aliases stand for, and programs under another name (`hash -p`).
    aliases: BTreeMap<String, Arc<str>>,
    global_aliases: BTreeSet<String>,
    /// Where the shell is.
    pub(crate) place: Place,
    /// `$0`, if it is known.
    pub(crate) zero: Option<Arc<str>>,
    /// What the variables had that the function which runs has made its own.
    locals: BTreeMap<String, Vec<Content>>,
    /// Variables whose attributes change what is assigned to them (`declare -l`).
    attributed: BTreeSet<String>,
    /// Variables may be set by other names (`declare -n`), so that no value is known.
    has_references: bool,
    values: Values,
    /// Whether a descriptor leads into a program that the shell has started (`exec 3> >(sh)`).
    pub(crate) feeds_program: bool,
    bytes: usize,
}

impl ShellState {
    /// What it takes to copy it.
    pub(crate) fn units(&self) -> usize {
        let names = self.variables.len() + self.functions.len() + self.aliases.len();
        names.saturating_mul(UNITS_OF_VARIABLE)
    }

    /// The possible contents of a variable. `None`: it has what the environment gives it.
    pub(crate) fn contents(&self, name: &str) -> Option<&[Content]> {
        if self.has_references || self.attributed.contains(name) {
            return Some(&[Content::Unknown]);
        }
        let variable = self.variables.get(name)?;
        Some(variable.contents.as_slice())
    }

    /// This state, with these values of what is assigned from now on.
    pub(crate) fn with_values(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// Gives a variable one of these contents.
    pub(crate) fn assign(&mut self, name: &str, mut contents: Vec<Content>) {
        let was = self.variables.get(name);
        let is_exported = was.is_some_and(|was| was.is_exported);
        if let (Values::All, Some(was)) = (self.values, was) {
            contents.extend(was.contents.iter().cloned());
        }
        self.remove(name);
        self.insert(name, contents, is_exported);
    }

    /// Gives a variable one of these contents, or leaves it what it has.
    pub(crate) fn may_assign(&mut self, name: &str, contents: Vec<Content>) {
        let mut all = match self.contents(name) {
            Some(before) => before.to_vec(),
            None => vec![Content::Unknown],
        };
        all.extend(contents);
        self.assign(name, all);
    }

    /// The value of a variable becomes unknown.
    pub(crate) fn blur(&mut self, name: &str) {
        self.assign(name, vec![Content::Unknown]);
    }

    /// A variable is declared without a value: it may lose the one that it had.
    pub(crate) fn declare(&mut self, name: &str) {
        if self.values == Values::Last {
            self.blur(name);
        }
    }

    /// A variable has again what the environment gives it.
    pub(crate) fn forget(&mut self, name: &str) {
        self.remove(name);
    }

    /// Whatever is assigned to a variable from now on becomes unknown.
    pub(crate) fn attribute(&mut self, name: &str) {
        if self.attributed.len() < MAX_NAMES {
            self.attributed.insert(name.to_owned());
        } else {
            self.has_references = true;
        }
    }

    /// Gives the shell other positional parameters; `None`: they are not known. Returns what they were.
    pub(crate) fn replace_parameters(
        &mut self,
        parameters: Option<Vec<Content>>,
    ) -> Option<Vec<Content>> {
        let were = self.contents(PARAMETERS).map(<[Content]>::to_vec);
        self.remove(PARAMETERS);
        if let Some(parameters) = parameters {
            self.insert(PARAMETERS, parameters, false);
        }
        were
    }

    /// Any variable may be set under another name.
    pub(crate) fn refer(&mut self) {
        self.has_references = true;
    }

    pub(crate) fn export(&mut self, name: &str) {
        if let Some(variable) = self.variables.get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// A function makes a variable its own.
    pub(crate) fn make_local(&mut self, name: &str) {
        if self.locals.len() < MAX_NAMES && !self.locals.contains_key(name) {
            let had = self.contents(name).map(<[Content]>::to_vec);
            let had = had.unwrap_or_else(|| vec![Content::Unknown]);
            self.locals.insert(name.to_owned(), had);
        }
    }

    /// Begins a function. [`ShellState::leave_function`] takes what this returns.
    pub(crate) fn enter_function(&mut self) -> BTreeMap<String, Vec<Content>> {
        std::mem::take(&mut self.locals)
    }

    /// Ends a function. Its own variables may have what they had before; `declare -g` may have set them.
    pub(crate) fn leave_function(&mut self, outer: BTreeMap<String, Vec<Content>>) {
        let locals = std::mem::replace(&mut self.locals, outer);
        if self.values == Values::Last {
            for (name, had) in locals {
                self.may_assign(&name, had);
            }
        }
    }

    /// Every variable may have been set.
    pub(crate) fn blur_all(&mut self) {
        for variable in self.variables.values_mut() {
            variable.contents = Arc::new(vec![Content::Unknown]);
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Arc<str>> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn define(&mut self, name: &str, body: &str) {
        let mut body: Arc<str> = body.into();
        if let (Values::All, Some(was)) = (self.values, self.functions.get(name))
            && !was.contains(&*body)
        {
            body = format!("{was}\n{body}").into();
        }
        if self.has_room(self.functions.len(), body.len()) {
            self.functions.insert(name.to_owned(), body);
        }
    }

    /// Adds an alias that stands for its text anywhere in a line (zsh's `alias -g`).
    pub(crate) fn define_global_alias(&mut self, name: &str) {
        if self.global_aliases.len() < MAX_NAMES {
            self.global_aliases.insert(name.to_owned());
        }
    }

    pub(crate) fn is_global_alias(&self, word: &str) -> bool {
        self.global_aliases.contains(word)
    }

    pub(crate) fn define_alias(&mut self, name: &str, text: &str) {
        if self.has_room(self.aliases.len(), text.len()) {
            self.aliases.insert(name.to_owned(), text.into());
        }
    }

    /// What an alias stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<Arc<str>> {
        self.aliases.get(name).cloned()
    }

    /// Takes an alias out while what it stands for is read: it is not expanded in itself.
    pub(crate) fn take_alias(&mut self, name: &str) -> Option<Arc<str>> {
        self.aliases.remove(name)
    }

    /// The state of a shell that a command starts: it knows what is exported.
    pub(crate) fn of_child(&self) -> Self {
        let exported = self.variables.iter();
        let exported = exported.filter(|(_, variable)| variable.is_exported);
        Self {
            variables: exported
                .map(|(name, variable)| (name.clone(), variable.clone()))
                .collect(),
            attributed: self.attributed.clone(),
            has_references: self.has_references,
            values: self.values,
            place: self.place.clone(),
            ..Self::default()
        }
    }

    /// The state that a later line of the same terminal starts with. Another shell may read that line,
    /// so each variable may also have another value.
    pub(crate) fn carried(mut self) -> Self {
        for variable in self.variables.values_mut() {
            if !variable.contents.contains(&Content::Unknown) {
                let mut contents = variable.contents.to_vec();
                contents.push(Content::Unknown);
                variable.contents = Arc::new(contents);
            }
        }
        // The kernel knows where the next line starts.
        self.place = Place::default();
        self
    }

    /// Each variable may still have what an earlier line has set: it may be read-only, or what was to set it
    /// was read by another program.
    pub(crate) fn keep_earlier(&mut self, earlier: &Self) {
        for (name, had) in &earlier.variables {
            let is_set = self.variables.get(name);
            if is_set.is_some_and(|now| now.contents != had.contents) {
                self.may_assign(name, had.contents.to_vec());
            }
        }
    }

    /// Adds what another course of the text has made of it.
    pub(crate) fn join(&mut self, other: &Self) {
        if self == other {
            return;
        }
        let names: BTreeSet<&String> = self
            .variables
            .keys()
            .chain(other.variables.keys())
            .collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        for name in names {
            let theirs = other.variables.get(&name);
            let own = self.variables.get(&name);
            if own == theirs {
                continue;
            }
            let exported = [own, theirs]
                .into_iter()
                .flatten()
                .any(|one| one.is_exported);
            let mut contents = Vec::new();
            for one in [own, theirs] {
                match one {
                    Some(variable) => contents.extend(variable.contents.iter().cloned()),
                    None => contents.push(Content::Unknown),
                }
            }
            self.remove(&name);
            self.insert(&name, contents, exported);
        }
        for (name, body) in &other.functions {
            if self.functions.get(name) != Some(body) {
                self.define(name, body);
            }
        }
        for (name, text) in &other.aliases {
            if !self.aliases.contains_key(name) {
                self.define_alias(name, text);
            }
        }
        self.place.join(&other.place);
        if self.zero != other.zero {
            self.zero = None;
        }
        for (name, had) in &other.locals {
            self.locals
                .entry(name.clone())
                .or_insert_with(|| had.clone());
        }
        self.global_aliases
            .extend(other.global_aliases.iter().cloned());
        self.attributed.extend(other.attributed.iter().cloned());
        self.has_references |= other.has_references;
        self.feeds_program |= other.feeds_program;
    }

    fn remove(&mut self, name: &str) {
        if let Some(variable) = self.variables.remove(name) {
            let bytes: usize = variable.contents.iter().map(Content::bytes).sum();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    fn insert(&mut self, name: &str, contents: Vec<Content>, is_exported: bool) {
        let mut distinct: Vec<Content> = Vec::new();
        for content in contents {
            let fits = distinct.len() < MAX_CONTENTS
                && content.bytes() <= MAX_CONTENT_BYTES
                && self.has_room(self.variables.len(), content.bytes());
            let content = if fits { content } else { Content::Unknown };
            if !distinct.contains(&content) {
                self.bytes += content.bytes();
                distinct.push(content);
            }
        }
        // A name that does not fit is not kept. It then counts as one of the environment, which is not
        // known either.
        if self.variables.len() < 4 * MAX_NAMES {
            let contents = Arc::new(distinct);
            let variable = Variable {
                contents,
                is_exported,
            };
            self.variables.insert(name.to_owned(), variable);
        }
    }

    fn has_room(&self, names: usize, bytes: usize) -> bool {
        names < MAX_NAMES && self.bytes.saturating_add(bytes) <= MAX_STATE_BYTES
    }

    /// The characters at which a value outside quotes is split (POSIX 2.6.5). `None`: they are not known.
    pub(crate) fn separators(&self) -> Option<String> {
        match self.contents("IFS") {
            None => Some(" \t\n".to_owned()),
            Some([Content::List(unset)]) if unset.is_empty() => Some(" \t\n".to_owned()),
            Some([Content::Text(text)]) if !text.contains(UNKNOWN) => Some(text.clone()),
            Some(_) => None,
        }
    }
}
