//! One file of handlers a namespace: params in, one call of the service, its result out.
//!
//! Handlers translate; they decide nothing.

mod acp;
mod approval;
mod attention;
mod audit;
mod command;
mod creation;
mod daemon;
mod file;
mod import;
mod interact;
mod output;
mod policy;
mod recording;
mod screen;
mod secret;
mod session;
mod shell;
mod terminal_events;

pub use acp::AcpHandler;
pub use approval::ApprovalHandler;
pub use attention::AttentionHandler;
pub use audit::AuditHandler;
pub use command::CommandHandler;
pub use daemon::{DaemonHandler, Faults, ReloadFault};
pub use file::FileHandler;
pub use import::ImportHandler;
pub use interact::InteractHandler;
pub use output::OutputHandler;
pub use policy::PolicyHandler;
pub use recording::RecordingHandler;
pub use screen::ScreenHandler;
pub use secret::SecretHandler;
pub use session::SessionHandler;
pub use shell::ShellHandler;
