//! Secrets in texts, and their redaction.

mod assignments;
mod option_values;
pub mod redact;
mod secret_names;
mod shapes;
