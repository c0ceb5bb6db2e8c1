//! The database's file: what is opened, what is refused, and whether it is still the same one.

pub(super) mod check;
mod header;
pub(super) mod identity;
pub(super) mod migrations;
pub(super) mod open;
