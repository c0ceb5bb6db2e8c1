//! What holds for every parser that a peer, a child or a file can feed: a function a parser, which
//! takes any bytes and panics where it does not hold.
//!
//! The fuzz targets call them, and this crate's tests with the seeds and changed seeds.

// A property fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

pub mod acp;
pub mod asciicast;
pub mod code;
pub mod config;
pub mod control;
pub mod marks;
pub mod policy;
pub mod redact;
pub mod rpc;
pub mod typed;

/// What holds for any bytes.
pub type Property = fn(&[u8]);

/// Every one, by the name of its target and of its seeds' directory.
pub const ALL: [(&str, Property); 10] = [
    ("acp", acp::holds),
    ("asciicast", asciicast::holds),
    ("code", code::holds),
    ("config", config::holds),
    ("control", control::holds),
    ("marks", marks::holds),
    ("policy", policy::holds),
    ("redact", redact::holds),
    ("rpc", rpc::holds),
    ("typed", typed::holds),
];

/// A piece that the first byte chooses, and the rest.
fn chosen<T: Copy>(data: &[u8], of: &[T]) -> Option<(T, String)> {
    let (first, rest) = data.split_first()?;
    let piece = of.get(usize::from(*first) % of.len())?;
    Some((*piece, String::from_utf8_lossy(rest).into_owned()))
}
