//! What holds for every line that an agent or a client sends to termctl's ACP proxy.

pub mod property;
