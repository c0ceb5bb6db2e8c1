//! The tools on offer: those of the requested sets.

use std::collections::{BTreeMap, BTreeSet};

use super::{lean, smart_terminal, terminal_mcp};
use crate::settings::Settings;
use crate::tool::{Tool, ToolAnswer, ToolError};
use crate::toolset::Toolset;

/// A tool, as its set offers it.
pub(crate) struct Offer {
    pub(crate) tool: Tool,
    /// How the set writes an error.
    pub(crate) error: fn(&ToolError) -> ToolAnswer,
}

/// The tools on offer.
pub(crate) struct Registry {
    offers: BTreeMap<&'static str, Offer>,
    /// The names that are listed, in the order of their sets.
    listed: Vec<&'static str>,
}

impl Registry {
    /// The tools of these sets.
    pub(crate) fn of(toolsets: &[Toolset], settings: &Settings) -> Self {
        let mut offers = BTreeMap::new();
        let mut listed = Vec::new();
        for toolset in toolsets {
            let (tools, unlisted, error): (_, _, fn(&ToolError) -> ToolAnswer) = match toolset {
                Toolset::TerminalMcp => (
                    terminal_mcp::tools(settings),
                    Vec::new(),
                    terminal_mcp::error,
                ),
                Toolset::SmartTerminal => (
                    smart_terminal::tools(settings),
                    smart_terminal::unlisted(),
                    smart_terminal::error,
                ),
                Toolset::Lean => (lean::tools(), Vec::new(), lean::error),
            };
            listed.extend(tools.iter().map(|tool| tool.name));
            for tool in tools.into_iter().chain(unlisted) {
                offers.insert(tool.name, Offer { tool, error });
            }
        }
        let mut seen = BTreeSet::new();
        listed.retain(|name| seen.insert(*name));
        Self { offers, listed }
    }

    /// A tool by its name, listed or not.
    pub(crate) fn find(&self, name: &str) -> Option<&Offer> {
        self.offers.get(name)
    }

    /// All tools that are listed.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tool> {
        let offers = self.listed.iter().filter_map(|name| self.offers.get(name));
        offers.map(|offer| &offer.tool)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: [Toolset; 3] = [Toolset::TerminalMcp, Toolset::SmartTerminal, Toolset::Lean];

    fn of(toolsets: &[Toolset]) -> Registry {
        Registry::of(toolsets, &Settings::default())
    }

    #[test]
    fn a_set_named_twice_is_there_once() {
        let once = of(&[Toolset::TerminalMcp]);
        let twice = of(&[Toolset::TerminalMcp, Toolset::TerminalMcp]);
        assert!(once.all().count() >= 9);
        assert_eq!(once.all().count(), twice.all().count());
    }

    /// The bench `mcp_tokens` counts tokens, of which a model pays for these in each conversation:
    /// 1,900 for `session`, 1,200 for `terminal`, 700 for `lean`.
    #[test]
    fn a_list_of_tools_is_short() {
        for (toolset, most) in [
            (Toolset::TerminalMcp, 8_150),
            (Toolset::SmartTerminal, 5_170),
            (Toolset::Lean, 3_000),
        ] {
            let registry = of(&[toolset]);
            let bytes: usize = registry.all().map(bytes_for_models).sum();
            assert!(bytes <= most, "{toolset:?}: {bytes}");
        }
    }

    fn bytes_for_models(tool: &Tool) -> usize {
        let shown = json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input(),
        });
        shown.to_string().len()
    }

    #[test]
    fn every_tool_says_what_it_is_in_few_words() {
        for tool in of(&ALL).all() {
            assert!(!tool.title.is_empty(), "{}", tool.name);
            assert!(
                (20..=700).contains(&tool.description.len()),
                "{}",
                tool.name
            );
            let mcp = serde_json::to_value(tool.to_mcp()).unwrap();
            for hint in [
                "readOnlyHint",
                "destructiveHint",
                "idempotentHint",
                "openWorldHint",
            ] {
                assert!(
                    mcp["annotations"][hint].is_boolean(),
                    "{} {hint}",
                    tool.name
                );
            }
            assert_eq!(mcp["inputSchema"]["type"], "object");
        }
    }
}
