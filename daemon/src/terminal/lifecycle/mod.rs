//! A terminal's life: what is started, the task that owns it, its activity and its end.

pub mod activity;
pub mod actor;
pub(crate) mod agents;
pub(crate) mod attention_log;
mod audit;
pub(crate) mod connections;
mod drain;
pub(crate) mod exit_limit;
pub mod exit_status;
pub mod idle_timeout;
pub mod launch;
mod output_hash;
pub mod presence;
pub mod progress;
pub mod record;
pub mod request;
mod task_events;
