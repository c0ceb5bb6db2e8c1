//! The files of termctl's ACP wire that only read and write text. They name this place in the crate.
#![allow(dead_code, reason = "what the properties do not need of these files")]

pub mod wire;
