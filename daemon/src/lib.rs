//! termd's modules. `main.rs` is the entry; `docs/architecture.md` is the map.

pub mod activation;
pub mod app;
pub mod approval;
pub mod args;
mod askpass;
pub mod clock;
pub mod config;
mod heap_trim;
pub mod journal;
pub mod keeper_client;
pub mod logging;
pub mod paths;
pub mod rpc;
pub mod scope;
pub mod service;
pub mod shell;
pub mod store;
pub mod strict_modes;
pub mod terminal;
