//! Names or fragments of code by what they do, as a file of rows: a section a language, and in it a key
//! of one or several effects with the names that have them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;

/// The names of a row: words in one string, or a list where a name may hold a blank or a quote.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    Words(String),
    List(Vec<String>),
}

/// The names that have each effect, whatever their language.
#[derive(Debug)]
pub(super) struct EffectTable<E> {
    names: BTreeMap<E, BTreeSet<String>>,
}

impl<E: Copy + Ord + for<'de> Deserialize<'de>> EffectTable<E> {
    /// A file that is part of termd. A test reads it.
    pub(super) fn built_in(file: &str) -> Self {
        Self::read(file).unwrap_or_else(|_| Self {
            names: BTreeMap::new(),
        })
    }

    pub(super) fn read(file: &str) -> Result<Self, toml::de::Error> {
        let languages: BTreeMap<String, BTreeMap<String, Names>> = toml::from_str(file)?;
        let mut table: BTreeMap<E, BTreeSet<String>> = BTreeMap::new();
        for (effects, names) in languages.into_values().flatten() {
            let names: Vec<String> = match names {
                Names::Words(words) => words.split_whitespace().map(str::to_owned).collect(),
                Names::List(names) => names,
            };
            for effect in effects.split_whitespace() {
                let effect: StrDeserializer<'_, toml::de::Error> = effect.into_deserializer();
                let of_effect = table.entry(E::deserialize(effect)?).or_default();
                of_effect.extend(names.iter().cloned());
            }
        }
        Ok(Self { names: table })
    }

    /// The names that have an effect.
    pub(super) fn names(&self, effect: E) -> impl Iterator<Item = &str> + use<'_, E> {
        let names = self.names.get(&effect).into_iter().flatten();
        names.map(String::as_str)
    }

    /// Whether a name has an effect.
    pub(super) fn has(&self, effect: E, name: &str) -> bool {
        let names = self.names.get(&effect);
        names.is_some_and(|names| names.contains(name))
    }
}

/// The names of a file that have two rows, whose effects would be told apart by nobody.
#[cfg(test)]
pub(super) fn repeated(file: &str) -> Vec<String> {
    let languages: BTreeMap<String, BTreeMap<String, Names>> = toml::from_str(file).unwrap();
    let mut seen = BTreeSet::new();
    let rows = languages.into_values().flatten().map(|(_, names)| names);
    let names = rows.flat_map(|names| match names {
        Names::Words(words) => words.split_whitespace().map(str::to_owned).collect(),
        Names::List(names) => names,
    });
    names.filter(|name| !seen.insert(name.clone())).collect()
}
