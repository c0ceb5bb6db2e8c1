//! The tools, a folder for each set. A set is named after the server that it stands in for; `lean` stands
//! in for none.
//!
//! The field docs of argument structs are what models read, word for word: so they have no backticks.
#![allow(clippy::doc_markdown)]

mod lean;
mod registry;
mod smart_terminal;
mod terminal_mcp;

pub(crate) use registry::{Offer, Registry};
