//! What the audit needs beside the database: what may be stored of what people and agents type,
//! and what the journal is told of the chain.
//!
//! **Invariant:** [`redact`] is pure; only [`journal`] speaks to anybody outside the process.

pub mod journal;
pub mod redact;
mod secret_names;
mod shapes;
mod shell_words;
