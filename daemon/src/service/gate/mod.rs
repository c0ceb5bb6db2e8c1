//! The gate before everything that runs something: judged, recorded, and only then done.

mod approved_rules;
mod approver;
mod asker;
mod explainer;
mod input;
mod judged_line;
mod past_answers;
mod policy_in_force;
mod ruling;
mod terminal_use;
mod typist;

use std::path::Path;
use std::sync::Arc;

use termd_proto::approval::ApprovalId;
use termd_proto::policy::{Effect, Judgement};
use termd_proto::terminal::{Front, Owner};

use self::policy_in_force::decide_by_names;
use self::ruling::Consent;
use super::audit_log::AuditLog;
use super::random::random_bits;
use crate::approval::{Always, Approvals, Doubt, Part, Standing, Subject, WaitingAsker};
use crate::keeper_client::KeeperClient;
use crate::terminal::error::{Refusal, TerminalError};
use termd_policy::{
    CompiledGate, Completeness, DangerousCommand, Decision, Invocation, Profile, Request,
    command_text, env_sha256, program,
};

pub(crate) use self::approved_rules::ApprovedRules;
pub(crate) use self::approver::{Answerer, Approver};
pub(crate) use self::asker::Asker;
pub(crate) use self::explainer::{Explainer, OtherPolicy};
pub(crate) use self::policy_in_force::{PolicyInForce, decide};
pub(crate) use self::ruling::Ruling;
pub(crate) use self::terminal_use::TerminalUse;
pub(crate) use self::typist::Typist;

/// How much of a command an error or a record shows, in bytes.
const MAX_SHOWN_BYTES: usize = 4_096;

/// Judges commands, and knows whether a person has agreed to them.
#[derive(Debug)]
pub(crate) struct Gate {
    policy: Arc<PolicyInForce>,
    approvals: Approvals,
    rules: Arc<ApprovedRules>,
    audit: AuditLog,
    keeper: KeeperClient,
}

/// What a new terminal would run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewCommand<'a> {
    pub(crate) asker: Asker<'a>,
    /// The shell line as it was given, where a shell of ours is put before it.
    pub(crate) line: Option<&'a str>,
    pub(crate) argv: &'a [String],
    /// What an agent has asked its shell to run, where the argv is that and a wrapper.
    pub(crate) agent_line: Option<&'a str>,
    pub(crate) cwd: &'a Path,
    /// The variables that are judged and shown, sorted.
    pub(crate) env: &'a [(String, String)],
    /// The variables that an approval is for, sorted: those and others.
    pub(crate) all_env: &'a [(String, String)],
    /// What the connection has set for the gate.
    pub(crate) gate: &'a CompiledGate,
}

impl NewCommand<'_> {
    /// What policy is asked about; `cwd` is the directory as text.
    fn request<'b>(&'b self, cwd: &'b str) -> Request<'b> {
        let owner = self.asker.owner;
        let (front, client) = owner.judged_as();
        Request {
            invocation: self
                .line
                .map_or(Invocation::Argv(self.argv), Invocation::Line),
            program: None,
            front,
            client,
            uid: Some(owner.uid),
            cwd: Some(cwd),
            env: self.env,
        }
    }
}

impl Gate {
    /// Counts a caller that waits for the answer to its question, where somebody sees the question now.
    pub(crate) fn wait_as_asker(&self, refusal: &Refusal) -> Option<WaitingAsker> {
        let question = refusal.approval.as_ref()?;
        let is_watched = *self.approvals.watched().borrow();
        is_watched.then(|| self.approvals.wait_as_asker(question.id.clone()))
    }

    pub(crate) fn new(
        policy: Arc<PolicyInForce>,
        approvals: Approvals,
        rules: Arc<ApprovedRules>,
        audit: AuditLog,
        keeper: KeeperClient,
    ) -> Self {
        Self {
            policy,
            approvals,
            rules,
            audit,
            keeper,
        }
    }

    /// Judges what a new terminal would run. Returns the profile that it would run under.
    pub(crate) fn judge_creation(
        &self,
        command: &NewCommand<'_>,
    ) -> Result<(Ruling, Profile), TerminalError> {
        let (owner, cwd) = (command.asker.owner, command.cwd.to_string_lossy());
        let request = command.request(&cwd);
        let text = match command.line {
            Some(line) => line.to_owned(),
            None => command_text(command.argv),
        };
        let decision = self.decide_command(command, &request);
        let subject = Subject {
            env_sha256: env_sha256(command.all_env),
            parts: parts(&decision.dangerous, None),
            agent_line: command.agent_line.map(str::to_owned),
            ..subject(owner, &cwd, &text)
        };
        let judgement = self.held_by_denial(decision.judgement.clone(), &subject);
        let always = || self.rules.offer(&decision, &request);
        let env = self.rules.shown_env(command.env);
        let consent = self.consent(&judgement, subject, command.asker, env, always)?;
        let ruling = self.ruling(judgement, Some(shown(&text)), consent, command.asker);
        Ok((ruling, decision.profile))
    }

    /// The profile that a new terminal would run this under, if it may run. Asks no question.
    pub(crate) fn profile_of(&self, command: &NewCommand<'_>) -> Profile {
        let cwd = command.cwd.to_string_lossy();
        let request = command.request(&cwd);
        self.decide_command(command, &request).profile
    }

    fn decide_command(&self, command: &NewCommand<'_>, request: &Request<'_>) -> Decision {
        let policy = self.policy.get();
        decide_by_names(command.asker.owner, |front, client| {
            let request = Request {
                front,
                client,
                ..*request
            };
            decide(&policy, &request, Completeness::Whole, command.gate)
        })
    }

    /// A denial holds where the gate is switched off, too, and only a rule of the person's is stronger.
    fn held_by_denial(&self, mut judgement: Judgement, subject: &Subject) -> Judgement {
        let is_by_rule = judgement.rule.is_some() || judgement.approved.is_some();
        if judgement.effect == Effect::Allow && !is_by_rule && self.approvals.is_denied(subject) {
            judgement.effect = Effect::Confirm;
        }
        judgement
    }

    /// Whether somebody has agreed to what the gate wants agreed to: the caller itself, where its word
    /// counts, or a person. A question is asked where nobody has. A person's denial is stronger than
    /// any word of the caller's.
    fn consent(
        &self,
        judgement: &Judgement,
        subject: Subject,
        asker: Asker<'_>,
        env: Vec<(String, String)>,
        always: impl FnOnce() -> Always,
    ) -> Result<Consent, TerminalError> {
        if judgement.effect != Effect::Confirm {
            return Ok(Consent::None);
        }
        if asker.confirmed && self.is_word_enough(judgement, asker) {
            return Ok(match self.approvals.confirm(&subject, asker.owner) {
                Ok(()) if asker.is_agent() => Consent::ByModel,
                Ok(()) => Consent::ByPerson,
                Err(denial) => Consent::Denied(*denial),
            });
        }
        let doubt = Doubt {
            verdict: judgement.verdict,
            reason: judgement.reason.clone(),
            always: always(),
            env,
        };
        let id = ApprovalId::from_random(random_bits()?);
        Ok(match self.approvals.ask(subject, asker.owner, doubt, id) {
            Standing::Granted(info) => Consent::Approved(info),
            Standing::Asked(info) => Consent::Pending(info),
            Standing::Denied(info) => Consent::Denied(info),
            Standing::Full => Consent::None,
            Standing::TooLong(bytes) => Consent::TooLong(bytes),
        })
    }

    fn is_word_enough(&self, judgement: &Judgement, asker: Asker<'_>) -> bool {
        asker.is_word_enough(judgement, &self.policy.get(), &self.approvals)
    }

    fn ruling(
        &self,
        judgement: Judgement,
        command: Option<String>,
        consent: Consent,
        asker: Asker<'_>,
    ) -> Ruling {
        // An agent's `termctl` names no way round the person.
        let is_agents_cli = asker.is_agent() && asker.owner.front == Front::Cli;
        Ruling {
            needs_person: is_agents_cli || !self.is_word_enough(&judgement, asker),
            judgement,
            command,
            consent,
            claimed: asker.confirmed,
        }
    }
}

fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    text.get(..end).unwrap_or_default().to_owned()
}

/// What an approval of this command in a new terminal would be for.
fn subject(asker: &Owner, cwd: &str, command: &str) -> Subject {
    Subject {
        front: asker.front,
        uid: asker.uid,
        client: asker.client.clone(),
        session: asker.session.clone(),
        agent: asker.agent().map(|agent| (agent.pid, agent.started)),
        terminal: None,
        program: None,
        cwd: cwd.to_owned(),
        command: command.to_owned(),
        parts: Vec::new(),
        values: Vec::new(),
        env_sha256: None,
        earlier_sha256: None,
        earlier_text: String::new(),
        agent_line: None,
    }
}

/// The dangerous commands of a text that this program reads, in each directory in which they may run. What
/// another program than a shell starts runs in one of this machine.
fn parts(dangerous: &[DangerousCommand], program: Option<&str>) -> Vec<Part> {
    let program = program.filter(|program| program::reads_shell_lines(program));
    let part = |command: &DangerousCommand, cwd: &String| Part {
        program: program.map(str::to_owned),
        cwd: cwd.clone(),
        command: command.text.clone(),
    };
    let parts = dangerous.iter().flat_map(|command| {
        let directories = command.directories.iter();
        directories.map(move |cwd| part(command, cwd))
    });
    parts.collect()
}
