//! The tools, a folder for each set. A set is named after the server that it stands in for.
//!
//! The field docs of argument structs are what models read, word for word: so they have no backticks.
#![allow(clippy::doc_markdown)]

mod answer;
mod call;
mod end_cause;
mod facts;
mod omitted;
mod pages;
mod progress;
mod registry;
mod schema;
mod smart_terminal;
mod temporary;
mod terminal_mcp;
mod tool;

pub(crate) use answer::{GateQuestion, Outcome, ToolError};
pub(crate) use call::Call;
pub(crate) use progress::Progress;
pub(crate) use registry::{Offer, Registry};
pub(crate) use tool::Tool;
