//! termd's rooms. `main.rs` is the door; `docs/architecture.md` is the map.

pub mod app;
pub mod approval;
pub mod args;
pub mod audit;
pub mod clock;
pub mod config;
pub mod control;
mod footprint;
pub mod journal;
pub mod keeper;
pub mod paths;
pub mod policy;
pub mod rpc;
pub mod scope;
pub mod shell;
pub mod store;
pub mod telemetry;
pub mod term;
pub mod terminal;
