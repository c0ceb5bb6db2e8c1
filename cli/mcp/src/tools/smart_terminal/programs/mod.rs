//! Programs run directly, on pipes.

pub(super) mod checks;
pub(super) mod paged;
pub(super) mod parse;
pub(super) mod piped;
pub(super) mod run;
