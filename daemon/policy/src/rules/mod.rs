//! Rules of a configuration: what a person has decided about commands beforehand.

pub(crate) mod exact_command;
mod fields;
mod flag;
pub(crate) mod rule;
pub(crate) mod rule_set;
pub(crate) mod rule_spec;

pub(crate) use fields::MAX_ENTRIES;
