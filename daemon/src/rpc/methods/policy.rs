//! `policy.*`: what the gate says, without anything being run.

use std::path::PathBuf;
use std::sync::Arc;

use termd_proto::policy::{
    CheckPolicy, ExplainPolicy, Explanation, Judgement, MAX_EXPLAINED, PolicyQuery,
};
use termd_proto::terminal::Front;

use crate::config::ConfigFile;
use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{Explainer, OtherPolicy, PolicyInForce, decide};
use crate::terminal::TerminalError;
use termd_policy::{Completeness, Invocation, Request};

/// Serves `policy.*`.
#[derive(Debug)]
pub struct PolicyHandler {
    pub(crate) policy: Arc<PolicyInForce>,
    pub(crate) explainer: Arc<Explainer>,
    /// config.toml.
    pub(crate) file: PathBuf,
}

impl PolicyHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.sync_method(&handler, Self::check);
        api.method(&handler, Self::explain);
    }
}

impl PolicyHandler {
    fn check(&self, params: CheckPolicy, context: &ConnectionContext) -> RpcResult<Judgement> {
        let CheckPolicy {
            line,
            argv,
            program,
            cwd,
            front,
        } = params;
        let introduction = context.introduction();
        let what = match (&line, &argv) {
            (Some(line), None) => Invocation::Line(line),
            (None, Some(argv)) if argv.is_empty() => {
                return Err(RpcError::invalid_params("argv", "may not be empty"));
            }
            (None, Some(argv)) => Invocation::Argv(argv),
            _ => {
                return Err(RpcError::invalid_params(
                    "line",
                    "or `argv` must be given, and not both",
                ));
            }
        };
        let request = Request {
            invocation: what,
            program: program.as_deref(),
            front: front.or(introduction.front).unwrap_or(Front::Cli),
            client: introduction.client.as_deref(),
            uid: Some(context.peer.uid),
            cwd: cwd.as_deref().or(introduction.cwd.as_deref()),
            env: &[],
        };
        let policy = self.policy.get();
        let decision = decide(&policy, &request, Completeness::Whole, &context.gate());
        Ok(decision.judgement)
    }

    async fn explain(
        self: Arc<Self>,
        params: ExplainPolicy,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<Vec<Explanation>> {
        let ExplainPolicy {
            queries,
            config,
            config_path,
        } = params;
        let introduction = context.introduction();
        if queries.len() > MAX_EXPLAINED {
            return Err(RpcError::invalid_params(
                "queries",
                "may be 1,000 at the most",
            ));
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
                return Err(RpcError::invalid_params("queries", problem));
            }
        }
        let explainer = Arc::clone(&self.explainer);
        let file = config_path.map_or_else(|| self.file.clone(), PathBuf::from);
        let gate = context.gate();
        let turn = context.check_turn().await;
        // Patterns are compiled, and paths looked up.
        let explained = tokio::task::spawn_blocking(move || {
            let other = config.map(|text| ConfigFile::parse(text, &file).map(|file| file.policy));
            let other = other.transpose().map_err(|error| error.to_string())?;
            let other = other.as_ref().map(|policy| OtherPolicy {
                policy,
                file: &file,
            });
            let explain = |query| explainer.explain(query, other, &gate);
            let wanted = queries
                .iter()
                .take_while(|_| !context.closed.is_cancelled());
            let explained = wanted.map(explain).collect();
            drop(turn);
            Ok::<_, String>(explained)
        });
        let explained = explained.await.map_err(|_| TerminalError::Stopping)?;
        explained.map_err(|problem| {
            RpcError::invalid_params("config", &format!("is refused: {problem}"))
        })
    }
}
