//! A rule as it is written.

use serde::Deserialize;
use termd_proto::policy::Effect;
use toml::Spanned;

use super::exact_command::ExactCommand;
use super::fields::{AbsolutePath, Fronts, Pattern, ProgramName};
use super::flag::Flag;
use crate::glob::Glob;
use crate::profile::name::ProfileName;

/// One `[[policy.rules]]`. A key that is absent fits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSpec {
    /// What is done. Absent: what the verdict says; the rule only gives a profile.
    pub effect: Option<Effect>,
    /// The profile that the command is run under.
    pub profile: Option<Spanned<ProfileName>>,
    /// The last part of the path of the command's program, to the letter.
    pub program: Option<ProgramName>,
    /// A regular expression that is found in the arguments, joined by one space.
    pub arguments: Option<Pattern>,
    /// Options all of which are given, in any spelling.
    pub has: Vec<Flag>,
    /// Options none of which is given.
    pub lacks: Vec<Flag>,
    /// The first operands, in order.
    pub operands: Vec<Glob>,
    /// The whole text that the command stands in, to the letter.
    pub command: Option<ExactCommand>,
    /// Options that take the next word as their value.
    pub valued: Vec<Flag>,
    /// The directory that the command runs in, or one above it. Absolute.
    pub cwd: Option<AbsolutePath>,
    /// The kinds of clients that the command comes from.
    pub front: Option<Fronts>,
    /// The client's name.
    pub client: Option<Glob>,
    /// The user who asks.
    pub uid: Option<u32>,
    /// SHA-256 of the variables that the request sets; absent: it sets none. Only in approved.toml.
    pub env_sha256: Option<String>,
}
