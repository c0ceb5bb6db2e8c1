//! `policy.*`: what the gate says, without anything being run.

use std::path::PathBuf;

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::policy::{Judgement, PolicyServer};
use termd_proto::terminal::Front;

use super::caller::connection;
use super::error::invalid_params;
use crate::policy::{Request, What, judge};
use crate::terminal::Terminals;

/// Serves `policy.*`.
#[derive(Debug)]
pub struct PolicyHandler {
    terminals: Terminals,
    file: PathBuf,
}

impl PolicyHandler {
    /// By the policy of these terminals, which stands in this file.
    pub fn new(terminals: Terminals, file: PathBuf) -> Self {
        Self { terminals, file }
    }
}

#[async_trait]
impl PolicyServer for PolicyHandler {
    async fn check(
        &self,
        ext: &Extensions,
        line: Option<String>,
        argv: Option<Vec<String>>,
        program: Option<String>,
        cwd: Option<String>,
        front: Option<Front>,
    ) -> RpcResult<Judgement> {
        let context = connection(ext)?;
        let introduction = context.introduction();
        let what = match (&line, &argv) {
            (Some(line), None) => What::Line(line),
            (None, Some(argv)) if argv.is_empty() => {
                return Err(invalid_params("argv", "may not be empty"));
            }
            (None, Some(argv)) => What::Argv(argv),
            _ => {
                return Err(invalid_params(
                    "line",
                    "or `argv` must be given, and not both",
                ));
            }
        };
        let request = Request {
            what,
            program: program.as_deref(),
            front: front.or(introduction.front).unwrap_or(Front::Cli),
            client: introduction.client.as_deref(),
            uid: Some(context.peer.uid),
            cwd: cwd.as_deref().or(introduction.cwd.as_deref()),
        };
        Ok(judge(&request, &context.gate(), self.terminals.policy()))
    }
}
