//! `config.toml` and `approved.toml`: what a person may set.
//!
//! A file that does not parse, or sets what is out of bounds or unknown, is refused whole with the
//! place of the fault. termd never runs on half a configuration.

mod agents_config;
mod approved;
mod approved_draft;
mod approved_in_force;
mod config_file;
mod error;
mod in_force;
mod kept_text;
mod settings;
mod store_config;

pub use self::agents_config::{AgentsConfig, AgentsOutput};
pub use self::approved::{ApprovedError, ApprovedPlace, approved_file};
pub use self::approved_draft::Draft;
pub use self::approved_in_force::{ApprovedInForce, keep_approved};
pub use self::config_file::ConfigFile;
pub use self::error::ConfigError;
pub use self::in_force::{Change, InForce, StartReason};
pub(crate) use self::kept_text::write_whole;
pub use self::settings::{
    AuditConfig, Config, LimitsConfig, MAX_WINDOW_BYTES, MaxRunning, RetentionConfig, ShellConfig,
    SpoolConfig,
};
pub use self::store_config::{Bound, StoreConfig};
