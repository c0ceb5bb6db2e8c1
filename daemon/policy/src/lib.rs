#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod agent_line;
mod bounded_parse;
mod daemon;
mod danger;
mod environment_hash;
mod fit;
mod glob;
mod inspect;
mod path;
mod pattern;
mod policy;
mod profile;
pub mod program;
mod request;
mod rules;
pub mod secrets;
mod shell;
#[cfg(test)]
mod tests;
mod typed;
mod unseen;
mod word_list;
mod work;

pub use agent_line::agent_line;
pub use daemon::{Daemon, Pids};
pub use environment_hash::env_sha256;
pub use inspect::cwd::PossibleCwd;
pub use inspect::finding::DangerousCommand;
pub use inspect::gate::{CompiledGate, PatternError};
pub use policy::always_rule::AlwaysRule;
pub use policy::approved::{Approved, ApprovedSpec};
pub use policy::decision::Decision;
pub use policy::error::PolicyError;
pub use policy::only_once::OnlyOnceReason;
pub use policy::spec::{ConfirmedSpec, ForeignTerminals, PolicySpec};
pub use policy::toml_string::quoted_toml;
pub use policy::{Policy, RuleSource};
pub use profile::Profile;
pub use profile::environment::{EnvRules, SecretVariables};
pub use profile::error::MAX_PATHS;
pub use profile::host_paths::HostPaths;
pub use profile::limits::LimitsSpec;
pub use profile::moved_settings::MovedSettings;
pub use profile::protected_paths::MissingPath;
pub use profile::quantity::{ByteSize, Percent, TimeSpan};
pub use profile::sandbox::SandboxKind;
pub use profile::sandbox_access::{GitAccess, SandboxAccess, SandboxBuilder, TemporaryFiles};
pub use profile::spec::MIN_TERMINAL_QUOTA_BYTES;
pub use request::{Completeness, Invocation, Request};
pub use shell::text::quote::command_text;
pub use termd_proto::policy::{Effect, Judgement, Span, Verdict};
pub use termd_proto::terminal::Front;
pub use typed::{TypedLine, TypedLines};

/// Judges what is about to run, all of which is known. [`Policy::decide`] says more: the rule, the
/// profile, and what is not known.
pub fn judge(request: &Request<'_>, gate: &CompiledGate, policy: &Policy) -> Judgement {
    let decision = policy.decide(request, Completeness::Whole, gate);
    decision.judgement
}
