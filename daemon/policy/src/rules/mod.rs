//! Rules.

pub(crate) mod rule_set;
pub(crate) mod spec;
