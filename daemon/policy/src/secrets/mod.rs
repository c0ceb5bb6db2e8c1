//! What may be stored of what people and agents run and type: secrets are taken out first.
//!
//! **Invariant:** pure. Nothing here knows the database, a terminal, a file or a clock.

mod assignments;
mod option_values;
pub mod redact;
mod secret_names;
mod shapes;
