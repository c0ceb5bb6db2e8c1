//! Which tools there are: those of the sets that were asked for.

use std::collections::BTreeMap;

use super::settings::Settings;
use super::tool::Tool;
use crate::tools::{smart_terminal, terminal_mcp};
use crate::toolset::Toolset;

/// The tools on offer.
pub(crate) struct Registry {
    tools: BTreeMap<&'static str, Tool>,
    /// Those that are listed, in the order of their sets.
    order: Vec<&'static str>,
}

impl Registry {
    /// The tools of these sets.
    pub(crate) fn of(toolsets: &[Toolset], settings: &Settings) -> Self {
        let mut registry = Self {
            tools: BTreeMap::new(),
            order: Vec::new(),
        };
        for toolset in toolsets {
            let tools = match toolset {
                Toolset::TerminalMcp => terminal_mcp::tools(settings),
                Toolset::SmartTerminal => {
                    for tool in smart_terminal::unlisted() {
                        registry.tools.insert(tool.name, tool);
                    }
                    smart_terminal::tools()
                }
            };
            for tool in tools {
                let name = tool.name;
                if registry.tools.insert(name, tool).is_none() {
                    registry.order.push(name);
                }
            }
        }
        registry
    }

    /// A tool by its name, listed or not.
    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// All that are listed.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tool> {
        self.order.iter().filter_map(|name| self.tools.get(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_tool_says_what_it_is_in_few_words() {
        for tool in of(&[Toolset::TerminalMcp, Toolset::SmartTerminal]).all() {
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
            assert_eq!(mcp["inputSchema"]["additionalProperties"], false);
        }
    }
}
