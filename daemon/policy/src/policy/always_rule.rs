//! A rule for approved.toml.

use std::fmt::Write as _;

use termd_proto::terminal::Front;

use super::approved::MAX_COMMAND_BYTES;
use super::decision::Decision;
use super::only_once::OnlyOnceReason;
use super::toml_string::quoted_toml;
use crate::environment_hash::env_sha256;
use crate::request::Request;
use crate::rules::exact_command::ExactCommand;
use crate::shell::text::quote::command_text;

/// A rule that allows one command for always, and nothing beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlwaysRule {
    front: Front,
    client: String,
    uid: Option<u32>,
    cwd: String,
    command: ExactCommand,
    env_sha256: Option<String>,
}

impl AlwaysRule {
    /// The rule for the command of a request. `real_cwd` is its directory with links resolved.
    pub fn of(
        decision: &Decision,
        request: &Request<'_>,
        real_cwd: Option<&str>,
    ) -> Result<Self, OnlyOnceReason> {
        if let Some(only_once) = &decision.only_once {
            return Err(only_once.clone());
        }
        if request.program.is_some() {
            return Err(OnlyOnceReason::Typed);
        }
        let client = request.client.filter(|name| !name.is_empty());
        let rule = Self {
            front: request.front,
            client: client.ok_or(OnlyOnceReason::Unnamed)?.to_owned(),
            uid: request.uid,
            cwd: real_cwd.ok_or(OnlyOnceReason::Directory)?.to_owned(),
            command: request.invocation.into(),
            env_sha256: env_sha256(request.env),
        };
        let bytes = match &rule.command {
            ExactCommand::Line(line) => line.len(),
            ExactCommand::Argv(argv) => command_text(argv).len(),
        };
        if bytes > MAX_COMMAND_BYTES {
            return Err(OnlyOnceReason::Long);
        }
        Ok(rule)
    }

    /// The words of the command, or its line.
    pub fn words(&self) -> &[String] {
        match &self.command {
            ExactCommand::Line(line) => std::slice::from_ref(line),
            ExactCommand::Argv(argv) => argv,
        }
    }

    /// The rule as it stands in the file, a line a key. No value can end its line.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("[[rules]]\neffect = \"allow\"\n");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "front = {}", quoted_toml(self.front.as_str()));
        let _ = writeln!(text, "client = {}", quoted_toml(&self.client));
        if let Some(uid) = self.uid {
            let _ = writeln!(text, "uid = {uid}");
        }
        let _ = writeln!(text, "cwd = {}", quoted_toml(&self.cwd));
        let command = match &self.command {
            ExactCommand::Line(line) => quoted_toml(line),
            ExactCommand::Argv(argv) => {
                let words: Vec<String> = argv.iter().map(|word| quoted_toml(word)).collect();
                format!("[{}]", words.join(", "))
            }
        };
        let _ = writeln!(text, "command = {command}");
        if let Some(hash) = &self.env_sha256 {
            let _ = writeln!(text, "env_sha256 = {}", quoted_toml(hash));
        }
        text
    }
}
