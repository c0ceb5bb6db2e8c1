//! Coding agents of npm that tests run with a scripted model.

use std::path::PathBuf;

use crate::packages::{NodeModules, Unavailable};

/// An agent as its users install it.
#[derive(Debug)]
pub struct CodingAgent {
    packages: NodeModules,
    /// The program, below `node_modules`.
    program: &'static str,
}

/// The program alone: the package `@anthropic-ai/claude-code` puts it into its place by a script,
/// which tests do not run.
pub static CLAUDE: CodingAgent = CodingAgent {
    packages: NodeModules::new(
        "claude-code",
        &["@anthropic-ai/claude-code-linux-x64@2.1.332"],
    ),
    program: "@anthropic-ai/claude-code-linux-x64/claude",
};

/// The native program, without the script that starts it.
pub static CODEX: CodingAgent = CodingAgent {
    packages: NodeModules::new("codex", &["@openai/codex@0.171.0"]),
    program: "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
};

/// Gemini CLI, a program of Node.
pub static GEMINI: CodingAgent = CodingAgent {
    packages: NodeModules::new("gemini-cli", &["@google/gemini-cli@0.61.0"]),
    program: ".bin/gemini",
};

/// The program alone. The package `opencode-ai` puts it into its place by a script, and fetches it
/// twice.
pub static OPENCODE: CodingAgent = CodingAgent {
    packages: NodeModules::new("opencode", &["opencode-linux-x64-baseline@1.18.33"]),
    program: "opencode-linux-x64-baseline/bin/opencode",
};

impl CodingAgent {
    /// The path of its program.
    pub fn program(&self) -> Result<PathBuf, Unavailable> {
        let program = self
            .packages
            .folder()?
            .join("node_modules")
            .join(self.program);
        if !program.is_file() {
            return Err(Unavailable::missing(&program));
        }
        Ok(program)
    }
}
