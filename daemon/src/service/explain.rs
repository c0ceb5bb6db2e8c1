//! What would be decided of a command, told and not done.

use std::env;
use std::path::Path;

use termd_proto::policy::{ExplainedProfile, ExplainedSandbox, Explanation, PolicyQuery};
use termd_proto::terminal::Front;

use super::Terminals;
use super::confine::places;
use super::links::Ways;
use crate::terminal::lifecycle::launch::inherited_environment;
use termd_policy::{
    ByteSize, CompiledGate, Completeness, Invocation, Policy, Profile, Request, SandboxAccess,
    SandboxBuilder, SandboxKind, TemporaryFiles, TimeSpan,
};

impl Terminals {
    /// What is decided of a question that has a line or an argv; by another policy, where one is
    /// given. `file` is where the policy stands. It looks at the file system.
    pub fn explain(
        &self,
        query: &PolicyQuery,
        other: Option<&Policy>,
        gate: &CompiledGate,
        file: &Path,
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
        };
        let own = self.policy();
        let with_approved = other.map(|other| other.with_approved(own.approved().clone()));
        let policy = with_approved.as_ref().unwrap_or(&own);
        let decision = Self::decide(policy, &request, Completeness::Whole, gate);
        let filtered = decision
            .profile
            .env
            .apply(inherited_environment(env::vars_os()));
        let at = decision.rule_line;
        let approved = decision.judgement.approved;
        let file = match approved {
            Some(_) => &self.inner.options.approved.file,
            None => file,
        };
        Explanation {
            judgement: decision.judgement,
            why: decision.why,
            rule_at: at.map(|line| (file.to_string_lossy().into_owned(), line)),
            profile: self.explained(&decision.profile, query.cwd.as_deref()),
            env_dropped: filtered.dropped,
            env_set: filtered.set.into_keys().collect(),
        }
    }

    fn explained(&self, profile: &Profile, cwd: Option<&str>) -> Option<ExplainedProfile> {
        if profile.names.is_empty() {
            return None;
        }
        let places = places(
            &mut Ways::default(),
            Path::new(cwd.unwrap_or("/")),
            &self.inner.options.config_dir,
        );
        // Of a directory that is not there only the paths are not known.
        let walls = profile.sandbox_access(&places.unwrap_or_default());
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
            sandbox: walls.map(|walls| sandbox(profile.kinds(), &walls)),
        })
    }
}

fn sandbox(kinds: Vec<SandboxKind>, walls: &SandboxAccess) -> ExplainedSandbox {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let kinds = kinds.into_iter().map(|kind| kind.as_str().to_owned());
    ExplainedSandbox {
        kinds: kinds.collect(),
        writable: walls.writable.iter().map(|path| shown(path)).collect(),
        protected: walls
            .protected
            .iter()
            .map(|(path, _)| shown(path))
            .collect(),
        hidden: walls.hidden.iter().map(|path| shown(path)).collect(),
        network: walls.network,
        daemon_socket: walls.daemon_socket,
        best_effort: walls.best_effort,
        private_tmp: walls.temporary == TemporaryFiles::Private,
        bubblewrap: walls.builder == SandboxBuilder::Bubblewrap,
    }
}
