//! `[policy]` of the configuration, as it is written. What is wrong with one value is found while it is
//! read; what is wrong with the whole, by [`Policy::compile`](crate::Policy::compile).

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::profile::environment::EnvSpec;
use crate::profile::name::ProfileName;
use crate::profile::spec::ProfileSpec;
use crate::program::table::row::ProgramRow;
use crate::rules::rule_spec::RuleSpec;

/// `[policy]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySpec {
    /// `[[policy.rules]]`: the first rule that fits a command decides.
    pub rules: Vec<Spanned<RuleSpec>>,
    /// `[policy.profiles.NAME]`.
    pub profiles: BTreeMap<Spanned<ProfileName>, ProfileSpec>,
    /// `[policy.fronts.FRONT]`.
    pub fronts: FrontsSpec,
    /// `[policy.programs.NAME]`, merged over the built-in row of the program.
    pub programs: BTreeMap<String, ProgramRow>,
    /// What is done about commands that nothing is known of.
    pub unlisted: Unlisted,
}

/// What is done about commands that nothing is known of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlisted {
    /// They are safe.
    #[default]
    Allow,
    /// They are asked about.
    Ask,
}

/// What holds for each kind of client where no rule says more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontsSpec {
    /// ACP's `terminal/*`.
    pub acp: FrontSpec,
    /// MCP clients.
    pub mcp: FrontSpec,
    /// `termctl`, and scripts on the socket.
    pub cli: FrontSpec,
}

/// `[policy.fronts.FRONT]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontSpec {
    /// The profile of commands to which no rule gives another one.
    pub profile: Option<Spanned<ProfileName>>,
    /// What is done about commands that nothing is known of; absent: what `[policy]` says.
    pub unlisted: Option<Unlisted>,
    /// The environment of all commands of these clients.
    pub env: EnvSpec,
}
