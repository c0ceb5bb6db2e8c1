//! What can be done to terminals: one object for each use case, with fields of its own.
//!
//! No object here has a reference to all others. `app` makes them and hands each what it needs.

mod adopt;
mod attachments;
mod attention;
mod audit_log;
mod catalog;
mod create;
mod descent;
mod disk;
mod ending;
mod files;
mod gate;
mod import;
mod in_place;
mod input;
mod namer;
mod one_line;
pub(crate) mod output_secrets;
mod random;
mod registry;
mod sandbox;
mod scopes;
mod screens;
mod search;
mod secret_desk;
mod tasks;
mod transcript_eraser;
mod tty_secrets;

pub(crate) use self::adopt::Adopter;
pub(crate) use self::attachments::Attachments;
pub(crate) use self::attention::{AttentionCommand, AttentionWatch};
pub(crate) use self::audit_log::AuditLog;
pub(crate) use self::catalog::Catalog;
pub(crate) use self::create::{
    CreateRequest, Creator, Preflight, Starter, VacateLabel, checked_size,
};
pub(crate) use self::descent::reading_parent;
pub use self::descent::{Descent, Origin, Placement, ServedAgent};
pub(crate) use self::disk::Disk;
pub(crate) use self::ending::{
    ConnectionBinding, Ender, IdleTimer, LimitRecorder, LimitWatch, Retirement, TreeEnd,
    wait_result,
};
pub(crate) use self::files::{
    ContentSource, FileClient, FileOperator, Files, NewFile, OwnDirectories,
};
pub(crate) use self::gate::{
    Answerer, ApprovedRules, Approver, Asker, Explainer, Gate, OtherPolicy, PolicyInForce,
    TerminalUse, Typist, decide,
};
pub(crate) use self::import::Importer;
pub(crate) use self::in_place::InPlace;
pub(crate) use self::input::{InputRecorder, InputSender};
pub(crate) use self::namer::Namer;
pub(crate) use self::one_line::one_line;
pub(crate) use self::output_secrets::OutputSecrets;
pub(crate) use self::registry::Registry;
pub(crate) use self::sandbox::Sandboxes;
pub(crate) use self::scopes::Scopes;
pub(crate) use self::screens::Screens;
pub(crate) use self::search::{Indexer, Pattern, Search, Searcher};
pub(crate) use self::secret_desk::SecretDesk;
pub(crate) use self::tasks::TerminalTasks;
pub(crate) use self::transcript_eraser::TranscriptEraser;
pub(crate) use self::tty_secrets::TtySecrets;
