//! The gate's judgement: what a text or an argv that is about to run is, and what is done about it.
//!
//! Pure: text, rules and settings in, a [`Judgement`] out. A shell's text is read by a grammar
//! (`shell`), programs that only start others are taken off (`wrap`), and what remains is asked
//! about (`danger`); databases (`sql`) and interpreters (`code`) have readers of their own.
//! [`typed`] makes lines of what is typed in pieces.
//!
//! **Invariant:** any bytes are judged, none make it fail; what it cannot understand is `unknown`
//! and never `safe`. It is a seat belt and not a wall: who wants to get by it does.
//!
//! Must not know: tokio, files, clocks, terminals, JSON-RPC, the database.

#![warn(missing_docs)]

mod danger;
mod glob;
mod inspect;
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

use termd_proto::policy::Judgement;

pub use inspect::cwd::Whereabouts;
pub use inspect::gate::{CompiledGate, PatternError};
pub use policy::approved::{AlwaysRule, Approved, ApprovedSpec, OnlyOnce, quoted as quoted_toml};
pub use policy::{Decision, Origin, Policy, PolicyError};
pub use profile::environment::EnvRules;
pub use profile::quantity::{Bytes, Length, Percent};
pub use profile::sandbox::{Absent, Places, SandboxBuilder, SandboxKind, TemporaryFiles, Walls};
pub use profile::{LimitsSpec, MAX_PATHS, MIN_TERMINAL_QUOTA_BYTES, Profile};
pub use request::{Request, What};
pub use rules::spec::PolicySpec;
pub use shell::quote::command_text;
pub use typed::{Known, TypedLine, TypedLines};

/// What is decided of what is to run, all of which is known.
pub fn judge(request: &Request<'_>, gate: &CompiledGate, policy: &Policy) -> Judgement {
    policy.decide(request, Known::Whole, gate).judgement
}
