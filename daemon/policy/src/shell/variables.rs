//! The variables that a text sets.

use std::collections::HashMap;

/// The values that a text gives its variables, wherever it does. A value of `None` is not known.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    values: HashMap<String, Vec<Option<String>>>,
}

impl Variables {
    /// Adds a value to those of a variable.
    pub(crate) fn set(&mut self, name: &str, value: Option<String>) {
        let values = self.values.entry(name.to_owned()).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// How many values the variable in a text has, at least one. Of several variables the one with
    /// the most values counts.
    pub(crate) fn choices(&self, raw: &str) -> usize {
        let named = self
            .values
            .iter()
            .filter(|(name, _)| raw.contains(name.as_str()));
        named.map(|(_, values)| values.len()).max().unwrap_or(1)
    }

    /// The value of a variable with this number, or its last one.
    pub(super) fn get(&self, name: &str, choice: usize) -> Option<&str> {
        let values = self.values.get(name)?;
        let last = values.len().checked_sub(1)?;
        values.get(choice.min(last))?.as_deref()
    }
}
