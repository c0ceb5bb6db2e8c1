//! JSON Schemas of what tools take (derived from structs) and of what they give.

mod input;
mod output;

pub(crate) use input::{ArgumentError, InputSchema};
pub(crate) use output::{Field, OutputSchema, object};
