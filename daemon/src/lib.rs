//! termd's rooms. `main.rs` is the door; `docs/architecture.md` is the map.

pub mod control;
pub mod keeper;
pub mod rpc;
pub mod store;
pub mod terminal;
