//! An agent at one MCP server: it calls tools in the way of their set, and counts what its model reads.

use std::path::Path;

use serde_json::{Value, json};
use tiktoken_rs::CoreBPE;

use crate::launch::Launch;
use crate::server::Server;

/// Whose tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tools {
    Session,
    Terminal,
    Lean,
    TerminalMcp,
    SmartTerminalMcp,
}

impl Tools {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Terminal => "terminal",
            Self::Lean => "lean",
            Self::TerminalMcp => "terminal-mcp",
            Self::SmartTerminalMcp => "smart-terminal-mcp",
        }
    }

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::Session | Self::Terminal | Self::Lean)
    }
}

/// What a model has paid.
#[derive(Debug, Default)]
pub(crate) struct Paid {
    pub(crate) tokens: usize,
    pub(crate) calls: usize,
}

/// An agent at a server.
pub(crate) struct Agent<'a> {
    server: Server,
    pub(crate) tools: Tools,
    tokenizer: &'a CoreBPE,
    paid: Paid,
    /// The terminal of the work, where the set has one to open.
    session: Value,
    /// All that the model has read.
    pub(crate) read: String,
}

impl<'a> Agent<'a> {
    pub(crate) fn start(
        launch: &Launch,
        tools: Tools,
        tokenizer: &'a CoreBPE,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            server: Server::ready(launch)?,
            tools,
            tokenizer,
            paid: Paid::default(),
            session: Value::Null,
            read: String::new(),
        })
    }

    /// The tokens of the list of tools, as clients give it to a model.
    pub(crate) fn list(mut self) -> anyhow::Result<usize> {
        let listed = self.server.ask("tools/list", &json!({}))?;
        let shown = listed["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| {
                json!({
                    "name": tool["name"],
                    "description": tool["description"],
                    "inputSchema": tool["inputSchema"],
                })
            });
        let shown: Value = shown.collect();
        Ok(self.count(&shown.to_string()))
    }

    /// Opens a shell in the directory of the works, and reads its prompt. Nothing of it counts.
    pub(crate) fn enter(&mut self, directory: &Path) -> anyhow::Result<()> {
        let (tool, arguments, id) = match self.tools {
            Tools::Session | Tools::TerminalMcp => (
                "session_create",
                json!({ "command": "bash --norc" }),
                "session_id",
            ),
            Tools::Terminal | Tools::SmartTerminalMcp => (
                "terminal_start",
                json!({ "shell": "/bin/bash" }),
                "sessionId",
            ),
            Tools::Lean => ("term_run", json!({ "command": "bash" }), "id"),
        };
        let result = self.server.result(tool, &arguments)?;
        self.session = facts(&result)[id].clone();
        self.type_line(&format!("cd '{}'", directory.display()))?;
        // One more, for a server that returns before the prompt.
        self.type_line("export PAGER=cat GIT_PAGER=cat")?;
        if self.tools == Tools::SmartTerminalMcp {
            // It gives an answer before the output, which the first read of the work would give.
            self.call_here("terminal_read", json!({}))?;
        }
        self.paid = Paid::default();
        self.read.clear();
        Ok(())
    }

    /// Ends the terminal of the work. What was paid until then.
    pub(crate) fn end(mut self) -> anyhow::Result<Paid> {
        let paid = std::mem::take(&mut self.paid);
        let (tool, id) = match self.tools {
            Tools::Session | Tools::TerminalMcp => ("session_close", "session_id"),
            Tools::Terminal | Tools::SmartTerminalMcp => ("terminal_stop", "sessionId"),
            Tools::Lean => ("term_close", "id"),
        };
        self.server.result(tool, &json!({ id: self.session }))?;
        Ok(paid)
    }

    /// Calls a tool with arguments, and pays for its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<String> {
        let result = self.server.result(tool, arguments)?;
        let mut text = String::new();
        for block in result["content"].as_array().into_iter().flatten() {
            text.push_str(block["text"].as_str().unwrap_or_default());
        }
        self.paid.tokens += self.count(&text);
        self.paid.calls += 1;
        self.read.push_str(&text);
        Ok(text)
    }

    /// Calls a tool about the terminal of the work.
    pub(crate) fn call_here(&mut self, tool: &str, mut arguments: Value) -> anyhow::Result<String> {
        arguments[self.id_name()] = self.session.clone();
        self.call(tool, &arguments)
    }

    /// Runs a command in the terminal of the work, by the set's own tool and its defaults.
    pub(crate) fn type_line(&mut self, line: &str) -> anyhow::Result<String> {
        match self.tools {
            Tools::Session | Tools::TerminalMcp => {
                self.call_here("session_interact", json!({ "input": line }))
            }
            Tools::Terminal | Tools::SmartTerminalMcp => {
                self.call_here("terminal_exec", json!({ "command": line }))
            }
            Tools::Lean => self.call_here("term_type", json!({ "text": line })),
        }
    }

    fn id_name(&self) -> &'static str {
        match self.tools {
            Tools::Session | Tools::TerminalMcp => "session_id",
            Tools::Terminal | Tools::SmartTerminalMcp => "sessionId",
            Tools::Lean => "id",
        }
    }

    fn count(&self, text: &str) -> usize {
        self.tokenizer.encode_ordinary(text).len()
    }
}

/// A result's facts, from its text where that is JSON.
fn facts(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| result["structuredContent"].clone())
}
