//! A terminal's life: what is started, the task that owns it, its activity and its end.

pub mod activity;
pub mod actor;
pub(crate) mod exit_limit;
pub mod launch;
pub mod presence;
pub mod record;
