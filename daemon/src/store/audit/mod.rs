//! The audit: records in a chain of hashes, appended, listed, and verified.

pub(super) mod action;
pub(super) mod chain;
pub(super) mod entry;
pub(super) mod head;
pub(super) mod list;
pub(super) mod outcome;
pub(super) mod verify;
