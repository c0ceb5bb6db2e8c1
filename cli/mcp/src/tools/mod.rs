//! The tools, a folder for each set. A set is named after the server that it stands in for.
//!
//! The field docs of argument structs are what models read, word for word: so they have no backticks.
#![allow(clippy::doc_markdown)]

mod registry;
mod smart_terminal;
mod terminal_mcp;

pub(crate) use registry::{Offer, Registry};
