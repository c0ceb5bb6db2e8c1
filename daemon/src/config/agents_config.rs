//! `[agents]`: the shells of agents.

use serde::Deserialize;
use termd_proto::shell::ShellOutput;
use termd_proto::terminal::Children;

/// Agents that end what a command leaves by themselves, by the names of their clients. Their commands
/// count on that.
const ENDING_CLIENTS: [&str; 1] = ["codex"];
/// Bytes of one command's output that a model is shown whole: some 4,000 tokens.
const DEFAULT_OUTPUT_LIMIT: u64 = 16 * 1024;

/// `[agents]`: the shells of agents, and the passwords of their commands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// How long what a command starts may outlive it; absent: as long as its agent, and not at all where
    /// the agent itself ends such processes.
    pub children: Option<Children>,
    /// What a model is shown.
    pub output: AgentsOutput,
    /// Whether sudo, ssh and git in agents' commands ask a person for passwords.
    pub askpass: bool,
}

/// `[agents.output]`: what a model is shown of a command's output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsOutput {
    /// Bytes beyond which only head, tail and what looks like an error are shown; 0: all is shown as it
    /// came.
    pub limit_bytes: u64,
    /// Whether values that are known to be secret are replaced by their names.
    pub hide_secrets: bool,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self {
            children: None,
            output: AgentsOutput::default(),
            askpass: true,
        }
    }
}

impl Default for AgentsOutput {
    fn default() -> Self {
        Self {
            limit_bytes: DEFAULT_OUTPUT_LIMIT,
            hide_secrets: true,
        }
    }
}

impl AgentsConfig {
    /// How long what a command of this client starts may outlive it.
    pub fn children_of(&self, client: Option<&str>) -> Children {
        let ends_itself = client.is_some_and(|client| ENDING_CLIENTS.contains(&client));
        let by_default = if ends_itself {
            Children::Call
        } else {
            Children::Agent
        };
        self.children.unwrap_or(by_default)
    }
}

impl AgentsOutput {
    /// The same, for the shell.
    pub fn for_shell(&self) -> ShellOutput {
        ShellOutput {
            limit: Some(self.limit_bytes).filter(|limit| *limit > 0),
            hide_secrets: self.hide_secrets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codex_leaves_ends_with_its_call() {
        let unset = AgentsConfig::default();
        assert_eq!(unset.children_of(Some("codex")), Children::Call);
        assert_eq!(unset.children_of(Some("claude-code")), Children::Agent);
        assert_eq!(unset.children_of(None), Children::Agent);
        let set = AgentsConfig {
            children: Some(Children::Keep),
            ..unset
        };
        assert_eq!(set.children_of(Some("codex")), Children::Keep);
    }
}
