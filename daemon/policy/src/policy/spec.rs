//! `[policy]` of the configuration, as it is written. What is wrong with one value is found while it is
//! read; what is wrong with the whole, by [`Policy::compile`](crate::Policy::compile).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
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
    #[serde(deserialize_with = "own_rows")]
    pub programs: BTreeMap<String, ProgramRow>,
    /// What is done about commands that nothing is known of.
    pub unlisted: Unlisted,
    /// Whether an agent may use a terminal that is not its own.
    pub foreign_terminals: ForeignTerminals,
    /// Whether ACP agents and MCP clients are shown secrets in output as `[secret NAME]`.
    pub hide_secrets: bool,
}

/// Rows of a configuration. What a program reads and prints is asked of the built-in rows only.
fn own_rows<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, ProgramRow>, D::Error> {
    let rows = BTreeMap::<String, ProgramRow>::deserialize(deserializer)?;
    for (name, row) in &rows {
        if let Some(key) = row.built_in_key() {
            let problem = format!("`{key}` of {name}: only a row that termd comes with has it");
            return Err(serde::de::Error::custom(problem));
        }
    }
    Ok(rows)
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

/// Whether an agent may type into, resize, signal and close a terminal that is not its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignTerminals {
    /// A person is asked, once for each agent and terminal.
    #[default]
    Ask,
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// When the `confirmed` of an agent counts. It never does after a person's denial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmedSpec {
    /// Where no person could be asked.
    #[default]
    Alone,
    /// Never.
    Never,
    /// Always.
    Always,
}

/// What holds for each kind of client where no rule says more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontsSpec {
    /// ACP's `terminal/*`.
    pub acp: FrontSpec,
    /// MCP clients.
    pub mcp: FrontSpec,
    /// The shells of agents.
    pub shell: FrontSpec,
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
    /// When the `confirmed` of an agent counts that comes through this front.
    pub confirmed: ConfirmedSpec,
}
