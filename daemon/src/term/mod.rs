//! The terminal model, and what is made of it. Pure: bytes and screens in, values out.
//!
//! It must not know tokio, files, sockets or the store.

pub mod render;
