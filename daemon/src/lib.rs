//! termd's rooms. `main.rs` is the door; `docs/architecture.md` is the map.

pub mod app;
pub mod approval;
pub mod args;
pub mod clock;
pub mod config;
pub mod journal;
pub mod keeper_client;
pub mod paths;
pub mod rpc;
pub mod scope;
pub mod service;
pub mod shell;
pub mod store;
pub mod telemetry;
pub mod terminal;
