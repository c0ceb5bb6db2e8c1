//! `policy.*`: what the gate says, without anything being run.

use std::path::PathBuf;

use jsonrpsee::Extensions;
use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::policy::{Explanation, Judgement, MAX_EXPLAINED, PolicyQuery, PolicyServer};
use termd_proto::terminal::Front;

use super::caller::connection;
use super::error::invalid_params;
use crate::config::ConfigFile;
use crate::service::Terminals;
use crate::terminal::TerminalError;
use termd_policy::{Known, Request, What};

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
        let policy = self.terminals.policy();
        let decision = Terminals::decide(&policy, &request, Known::Whole, &context.gate());
        Ok(decision.judgement)
    }

    async fn explain(
        &self,
        ext: &Extensions,
        queries: Vec<PolicyQuery>,
        config: Option<String>,
    ) -> RpcResult<Vec<Explanation>> {
        let context = connection(ext)?;
        let introduction = context.introduction();
        if queries.len() > MAX_EXPLAINED {
            return Err(invalid_params("queries", "may be 1,000 at the most"));
        }
        let queries = queries.into_iter().map(|query| PolicyQuery {
            cwd: query.cwd.or_else(|| introduction.cwd.clone()),
            front: query.front.or(introduction.front),
            client: query.client.or_else(|| introduction.client.clone()),
            uid: query.uid.or(Some(context.peer.uid)),
            ..query
        });
        let queries: Vec<PolicyQuery> = queries.collect();
        for query in &queries {
            let is_one = match (&query.line, &query.argv) {
                (Some(_), None) => true,
                (None, Some(argv)) => !argv.is_empty(),
                _ => false,
            };
            if !is_one {
                let problem = "must each have a `line` or an `argv` that is not empty";
                return Err(invalid_params("queries", problem));
            }
        }
        let (terminals, file, gate) = (self.terminals.clone(), self.file.clone(), context.gate());
        // Patterns are compiled, and paths looked up.
        let explained = tokio::task::spawn_blocking(move || {
            let other = config.map(|text| ConfigFile::parse(text, &file).map(|file| file.policy));
            let other = other.transpose().map_err(|error| error.to_string())?;
            let explain = |query| terminals.explain(query, other.as_ref(), &gate, &file);
            Ok::<_, String>(queries.iter().map(explain).collect())
        });
        let explained = explained.await.map_err(|_| TerminalError::Stopping)?;
        explained.map_err(|problem| invalid_params("config", &format!("is refused: {problem}")))
    }
}
