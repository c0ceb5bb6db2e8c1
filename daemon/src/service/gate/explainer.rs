//! What would be decided of a command, explained and not done.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use termd_proto::policy::{ExplainedProfile, Explanation, PolicyQuery};
use termd_proto::terminal::Front;

use super::policy_in_force::{PolicyInForce, decide};
use crate::service::sandbox::Sandboxes;
use crate::terminal::lifecycle::launch::{Creator, inherited_environment};
use termd_policy::{
    ByteSize, CompiledGate, Completeness, Invocation, Policy, Profile, Request, TimeSpan,
};

/// A policy that is not in force, and its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherPolicy<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) file: &'a Path,
}

/// Explains decisions.
#[derive(Debug)]
pub(crate) struct Explainer {
    policy: Arc<PolicyInForce>,
    sandboxes: Sandboxes,
    config_file: PathBuf,
    approved_file: PathBuf,
}

impl Explainer {
    /// Rules are explained with the file that they stand in.
    pub(crate) fn new(
        policy: Arc<PolicyInForce>,
        sandboxes: Sandboxes,
        config_file: PathBuf,
        approved_file: PathBuf,
    ) -> Self {
        Self {
            policy,
            sandboxes,
            config_file,
            approved_file,
        }
    }

    /// Explains a query that has a line or an argv; by another policy, where one is given. Looks at
    /// the file system.
    pub(crate) fn explain(
        &self,
        query: &PolicyQuery,
        other: Option<OtherPolicy<'_>>,
        gate: &CompiledGate,
    ) -> Explanation {
        let what = match (&query.line, &query.argv) {
            (Some(line), _) => Invocation::Line(line),
            (None, argv) => Invocation::Argv(argv.as_deref().unwrap_or_default()),
        };
        let request = Request {
            invocation: what,
            program: query.program.as_deref(),
            front: query.front.unwrap_or(Front::Cli),
            client: query.client.as_deref(),
            uid: query.uid,
            cwd: query.cwd.as_deref(),
            env: &[],
        };
        let own = self.policy.get();
        let with_approved = other.map(|other| {
            let policy = other.policy.with_approved(own.approved().clone());
            policy.with_daemon(Arc::clone(own.daemon()))
        });
        let policy = with_approved.as_ref().unwrap_or(&own);
        let decision = decide(policy, &request, Completeness::Whole, gate);
        let inherited = inherited_environment(env::vars_os());
        let filtered =
            (decision.profile.env).apply(inherited, Creator::of(request.front, None).secrets());
        let file = match decision.judgement.approved {
            Some(_) => self.approved_file.as_path(),
            None => other.map_or(self.config_file.as_path(), |other| other.file),
        };
        let file = file.to_string_lossy().into_owned();
        Explanation {
            judgement: decision.judgement,
            why: decision.why,
            rule_at: decision.rule_line.map(|line| (file, line)),
            profile: self.explain_profile(&decision.profile, query.cwd.as_deref()),
            env_dropped: filtered.dropped,
            env_set: filtered.set.into_keys().collect(),
        }
    }

    fn explain_profile(&self, profile: &Profile, cwd: Option<&str>) -> Option<ExplainedProfile> {
        if profile.names.is_empty() {
            return None;
        }
        let limits = &profile.limits;
        Some(ExplainedProfile {
            names: profile.names.clone(),
            timeout_ms: profile.timeout.map(TimeSpan::ms),
            idle_timeout_ms: profile.idle_timeout.map(TimeSpan::ms),
            output_bytes: profile.output_bytes.map(ByteSize::get),
            terminal_quota: profile.terminal_quota.map(ByteSize::get),
            cpu_seconds: limits.cpu_time.map(TimeSpan::seconds),
            address_space: limits.address_space.map(ByteSize::get),
            open_files: limits.open_files,
            processes: limits.processes,
            file_bytes: limits.file_bytes.map(ByteSize::get),
            scope: limits.scope(),
            sandbox: self
                .sandboxes
                .explain(profile, Path::new(cwd.unwrap_or("/"))),
        })
    }
}
