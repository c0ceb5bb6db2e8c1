//! The decision: what is done about a request, by which rule, and what the command runs under.
//!
//! Of several commands in a text the strictest outcome holds, and the intersection of their profiles.
//! Who enforces a profile is not known here.

pub(crate) mod always_rule;
pub(crate) mod approved;
pub(crate) mod decision;
pub(crate) mod error;
pub(crate) mod only_once;
mod outcome;
pub(crate) mod spec;
pub(crate) mod toml_string;

use std::collections::BTreeMap;
use std::sync::Arc;

use termd_proto::policy::{Effect, Judgement};
use termd_proto::terminal::Front;
use toml::Spanned;

use crate::daemon::Daemon;
use crate::inspect::cwd::PossibleCwd;
use crate::inspect::gate::CompiledGate;
use crate::inspect::inspect;
use crate::inspect::inspection::Inspection;
use crate::profile::Profile;
use crate::profile::environment::{EnvRules, EnvSpec};
use crate::profile::name::ProfileName;
use crate::profile::sandbox::SandboxKind;
use crate::profile::spec::ProfileSpec;
use crate::program::table::Programs;
use crate::request::{Completeness, Request};
use crate::rules::MAX_ENTRIES;
use crate::rules::rule::{Rule, RuleContext, Subject};
use crate::rules::rule_set::{MAX_RULES, RuleSet};
use crate::rules::rule_spec::RuleSpec;
use crate::shell::state::ShellState;
use crate::shell::state::place::Place;
use crate::typed::TypedLine;
use crate::work;
use approved::Approved;
use decision::Decision;
use error::PolicyError;
use only_once::OnlyOnceReason;
use outcome::{DecidedBy, Outcome, judgement};
use spec::{ConfirmedSpec, ForeignTerminals, FrontSpec, PolicySpec, Unlisted};

/// Profiles of a configuration.
const MAX_PROFILES: usize = 256;

/// `[policy]` of the configuration, compiled. The default has no rules and no profiles.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: RuleSet,
    profiles: BTreeMap<ProfileName, ProfileSpec>,
    acp: FrontSpec,
    mcp: FrontSpec,
    shell: FrontSpec,
    cli: FrontSpec,
    programs: Programs,
    unlisted: Unlisted,
    foreign_terminals: ForeignTerminals,
    hide_secrets: bool,
    /// The commands that are approved for always.
    approved: Approved,
    home: Option<Arc<str>>,
}

/// The file that rules are read from, and the directories that they name.
pub struct RuleSource<'a> {
    /// The line of a byte of the file, from 1.
    pub line: &'a dyn Fn(usize) -> usize,
    /// A directory with links resolved, if it exists.
    pub resolve: &'a dyn Fn(&str) -> Option<String>,
    /// The home of the user that commands run as, absolute.
    pub home: Option<&'a str>,
}

fn refused<T>(at: usize, problem: String) -> Result<T, PolicyError> {
    Err(PolicyError { at, problem })
}

impl Policy {
    /// Checks and compiles what is written.
    pub fn compile(spec: &PolicySpec, source: &RuleSource<'_>) -> Result<Self, PolicyError> {
        if let Some(over) = spec.rules.get(MAX_RULES) {
            let problem = format!("there may be {MAX_RULES} rules at the most");
            return refused(over.span().start, problem);
        }
        let mut profiles = BTreeMap::new();
        for (name, profile) in &spec.profiles {
            let at = name.span().start;
            if name.get_ref().built_in().is_some() {
                let name = name.get_ref().as_str();
                return refused(
                    at,
                    format!("the profile {name} is built in: give it another name"),
                );
            }
            if profiles.len() == MAX_PROFILES {
                return refused(
                    at,
                    format!("there may be {MAX_PROFILES} profiles at the most"),
                );
            }
            profiles.insert(name.get_ref().clone(), profile.clone());
        }
        let check_exists = |name: &Option<Spanned<ProfileName>>| match name {
            Some(name) if !profiles.contains_key(name.get_ref()) => {
                let text = name.get_ref().as_str();
                match name.get_ref().built_in() {
                    Some(_) => Ok(()),
                    None => refused(name.span().start, format!("there is no profile {text}")),
                }
            }
            _ => Ok(()),
        };
        let fronts = &spec.fronts;
        for front in [&fronts.acp, &fronts.mcp, &fronts.shell, &fronts.cli] {
            check_exists(&front.profile)?;
        }
        let mut rules = Vec::new();
        for (written, number) in spec.rules.iter().zip(1..) {
            let (rule, at) = (written.get_ref(), written.span().start);
            if let Some(problem) = fault(rule) {
                return refused(at, format!("rule {number}: {problem}"));
            }
            check_exists(&rule.profile)?;
            let cwd = rule.cwd.as_ref().map(|cwd| cwd.0.as_str());
            rules.push(Rule {
                spec: rule.clone(),
                line: (source.line)(at),
                real_cwd: cwd.and_then(|cwd| (source.resolve)(cwd)),
            });
        }
        Ok(Self {
            rules: RuleSet { rules },
            profiles,
            acp: spec.fronts.acp.clone(),
            mcp: spec.fronts.mcp.clone(),
            shell: spec.fronts.shell.clone(),
            cli: spec.fronts.cli.clone(),
            programs: Programs::with(&spec.programs),
            unlisted: spec.unlisted,
            foreign_terminals: spec.foreign_terminals,
            hide_secrets: spec.hide_secrets,
            approved: Approved::default(),
            home: source.home.map(Into::into),
        })
    }

    /// Decides what is done about a request.
    pub fn decide(
        &self,
        request: &Request<'_>,
        completeness: Completeness,
        gate: &CompiledGate,
    ) -> Decision {
        self.decide_from(&PossibleCwd::at(request.cwd), request, completeness, gate)
    }

    /// Decides about a request that starts in `start`, and not in the directory that it names.
    pub fn decide_from(
        &self,
        start: &PossibleCwd,
        request: &Request<'_>,
        completeness: Completeness,
        gate: &CompiledGate,
    ) -> Decision {
        self.decide_in(&ShellState::default(), start, request, completeness, gate)
    }

    /// Decides about a line that was typed where `start` says, after the earlier lines of its terminal.
    pub fn decide_typed(
        &self,
        start: &PossibleCwd,
        line: &TypedLine,
        request: &Request<'_>,
        gate: &CompiledGate,
    ) -> Decision {
        self.decide_in(&line.state, start, request, line.completeness, gate)
    }

    fn decide_in(
        &self,
        state: &ShellState,
        start: &PossibleCwd,
        request: &Request<'_>,
        completeness: Completeness,
        gate: &CompiledGate,
    ) -> Decision {
        work::within_budget(|| self.decide_within(state, start, request, completeness, gate))
    }

    fn decide_within(
        &self,
        state: &ShellState,
        start: &PossibleCwd,
        request: &Request<'_>,
        completeness: Completeness,
        gate: &CompiledGate,
    ) -> Decision {
        let unlisted = self.front(request.front).unlisted.unwrap_or(self.unlisted);
        let asks_unlisted = unlisted == Unlisted::Ask;
        let mut state = state.clone();
        state.place = Place::new(self.home.as_deref(), start.candidates());
        let inspection = inspect(
            request,
            completeness,
            gate,
            &state,
            &self.programs,
            asks_unlisted,
        );
        let outcomes = self.outcomes(start, &inspection, request, completeness, gate);
        let strictest = strictest(&outcomes);
        let profile = self.profile(request.front, &outcomes);
        let by_rule = |outcome: &'_ Outcome| {
            let all = outcome.profiles.iter().chain(&outcome.possible_profiles);
            all.cloned().collect::<Vec<_>>()
        };
        let names = outcomes.iter().flat_map(by_rule);
        let mut profiles_by_rule: Vec<String> =
            names.map(|name| name.as_str().to_owned()).collect();
        profiles_by_rule.sort();
        profiles_by_rule.dedup();
        let asking_rule = outcomes
            .iter()
            .filter(|outcome| outcome.by != DecidedBy::Verdict && outcome.effect != Effect::Allow)
            .find_map(|outcome| outcome.rule);
        let only_once = match asking_rule {
            Some(number) => Some(OnlyOnceReason::Rule {
                number,
                line: self.rules.line(number).unwrap_or_default(),
            }),
            None if asks_unlisted => {
                // A command that no table lists is as well known as another one.
                let listed = inspect(request, completeness, gate, &state, &self.programs, false);
                OnlyOnceReason::of(&listed, completeness)
            }
            None => OnlyOnceReason::of(&inspection, completeness),
        };
        let mut judgement = judgement(&inspection, &strictest);
        if let Some(named) = self.possible_rule(&strictest) {
            judgement.reason = Some(match judgement.reason {
                Some(reason) => format!("{reason}; {named}"),
                None => named,
            });
        }
        Decision {
            rule_line: judgement.rule.and_then(|number| self.rules.line(number)),
            why: self.why(&judgement, &strictest),
            judgement,
            profile,
            profiles_by_rule,
            only_once,
            next_cwd: start.behind_text(&inspection, completeness),
            dangerous: inspection.dangerous,
        }
    }

    /// What is done about each command of a text, and about each finding of the text itself.
    fn outcomes(
        &self,
        start: &PossibleCwd,
        inspection: &Inspection,
        request: &Request<'_>,
        completeness: Completeness,
        gate: &CompiledGate,
    ) -> Vec<Outcome> {
        let cwd = start.within_text(inspection);
        let context = RuleContext {
            front: request.front,
            client: request.client,
            uid: request.uid,
            cwd: &cwd,
            invocation: request.invocation,
            completeness,
        };
        let mut outcomes = Vec::new();
        for command in inspection
            .commands
            .iter()
            .chain(&inspection.unordered.commands)
        {
            let cwd = cwd.of_command(command);
            let context = RuleContext {
                cwd: &cwd,
                ..context
            };
            let matched = self.rules.ask(Subject::Command(command), context);
            outcomes.push(Outcome::of(matched, command.finding.as_ref(), gate));
        }
        for finding in &inspection.text_findings {
            let matched = self.rules.ask(Subject::Finding(finding), context);
            outcomes.push(Outcome::of(matched, Some(finding), gate));
        }
        // The rules judge every text at least once, also one without a command.
        if outcomes.is_empty() {
            let matched = self.rules.ask(Subject::Empty, context);
            outcomes.push(Outcome::of(matched, None, gate));
        }
        outcomes
    }

    /// This policy with these approvals for always, in place of its own.
    #[must_use]
    pub fn with_approved(&self, approved: Approved) -> Self {
        let mut policy = self.clone();
        policy.approved = approved;
        policy
    }

    /// This policy as one of this daemon.
    #[must_use]
    pub fn with_daemon(mut self, daemon: Arc<Daemon>) -> Self {
        self.programs = self.programs.with_daemon(daemon);
        self
    }

    /// The daemon that judges by it.
    pub fn daemon(&self) -> &Arc<Daemon> {
        self.programs.daemon()
    }

    /// When the `confirmed` of an agent counts that comes through this front.
    pub fn confirmed(&self, front: Front) -> ConfirmedSpec {
        self.front(front).confirmed
    }

    /// Whether an agent may use a terminal that is not its own.
    pub fn foreign_terminals(&self) -> ForeignTerminals {
        self.foreign_terminals
    }

    /// The profile of this front's commands to which no rule gives another one.
    pub fn profile_of(&self, front: Front) -> Option<&str> {
        let profile = self.front(front).profile.as_ref();
        profile.map(|name| name.get_ref().as_str())
    }

    /// The approvals for always.
    pub fn approved(&self) -> &Approved {
        &self.approved
    }

    /// Allows the command of a decision that asks, if the command is approved for always. `real_cwd` is
    /// its directory with links resolved.
    #[must_use]
    pub fn approve(&self, decision: Decision, request: &Request<'_>, real_cwd: &str) -> Decision {
        // A typed line runs wherever its program is by then.
        let asks = decision.judgement.effect == Effect::Confirm && request.program.is_none();
        if !asks || decision.only_once.is_some() {
            return decision;
        }
        let Some((number, line)) = self.approved.rule_for(request, real_cwd) else {
            return decision;
        };
        let mut judgement = decision.judgement;
        judgement.effect = Effect::Allow;
        judgement.rule = None;
        judgement.approved = Some(number);
        Decision {
            judgement,
            rule_line: Some(line),
            why: format!("rule {number} of approved.toml (line {line}) fits to the letter"),
            ..decision
        }
    }

    /// The profile in which every command of a text may run. A command without a profile by a rule has
    /// that of its client's kind.
    fn profile(&self, front: Front, outcomes: &[Outcome]) -> Profile {
        let default = self.front(front).profile.as_ref();
        let mut names: Vec<Option<&ProfileName>> = Vec::new();
        for outcome in outcomes {
            if outcome.profiles.is_empty() {
                names.push(default.map(Spanned::get_ref));
            }
            names.extend(outcome.profiles.iter().map(Some));
            names.extend(outcome.possible_profiles.iter().map(Some));
        }
        let mut distinct: Vec<Option<&ProfileName>> = Vec::new();
        for name in names {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        let profiles = distinct.into_iter().map(|name| self.named(name, front));
        profiles.reduce(Profile::merge).unwrap_or_default()
    }

    /// The profiles of these names together, for a client of this kind. `None` where there is no such
    /// profile any more.
    pub fn profile_named(&self, names: &[String], front: Front) -> Option<Profile> {
        let mut merged = Profile::default();
        for name in names {
            let name = ProfileName::parse(name)?;
            let exists = name.built_in().is_some() || self.profiles.contains_key(&name);
            merged = merged.merge(exists.then(|| self.named(Some(&name), front))?);
        }
        Some(merged)
    }

    fn named(&self, name: Option<&ProfileName>, front: Front) -> Profile {
        let written = self.front(front);
        let Some(name) = name else {
            let env = EnvRules::of(&written.env, &EnvSpec::default());
            return Profile::bare(env);
        };
        let built_in = name.built_in().map(ProfileSpec::built_in);
        let spec = self.profiles.get(name).cloned().or(built_in);
        // Compiling the policy has looked up each name.
        let spec = spec.unwrap_or_else(|| ProfileSpec::built_in(SandboxKind::ReadOnly));
        let env = EnvRules::of(&written.env, &spec.env);
        Profile::of(name, &spec, env)
    }

    /// Whether ACP agents and MCP clients are shown secrets in output by their names alone.
    pub fn hides_secrets(&self) -> bool {
        self.hide_secrets
    }

    fn front(&self, front: Front) -> &FrontSpec {
        match front {
            Front::Acp => &self.acp,
            Front::Mcp => &self.mcp,
            Front::Shell => &self.shell,
            Front::Cli | Front::Daemon => &self.cli,
        }
    }

    /// Names the rule that may fit and decides.
    fn possible_rule(&self, outcome: &Outcome) -> Option<String> {
        let number = outcome.rule?;
        if outcome.by != DecidedBy::PossibleRule {
            return None;
        }
        let line = self.rules.line(number).unwrap_or_default();
        let what = match (self.rules.effect(number), outcome.needs_person) {
            (Some(Effect::Deny), _) => "forbid it",
            (_, true) => "hold it to another profile",
            (_, false) => "want it asked",
        };
        Some(format!(
            "rule {number} of config.toml (line {line}) may {what}: not all of it is known"
        ))
    }

    fn why(&self, judgement: &Judgement, outcome: &Outcome) -> String {
        let named = |number: usize| match self.rules.line(number) {
            Some(line) => format!("rule {number} (line {line})"),
            None => format!("rule {number}"),
        };
        match (judgement.rule, outcome.by) {
            (Some(number), DecidedBy::Rule) => format!("{} fits", named(number)),
            (Some(number), DecidedBy::PossibleRule) => {
                format!("{} may fit: not all of the command is known", named(number))
            }
            (Some(number), DecidedBy::Verdict) => {
                let verdict = judgement.verdict.as_str();
                format!(
                    "{} fits and leaves it to the verdict, {verdict}",
                    named(number)
                )
            }
            (None, _) => format!(
                "no rule fits; the verdict is {}",
                judgement.verdict.as_str()
            ),
        }
    }
}

/// The strictest outcome. Of equally strict ones, the first by a rule.
fn strictest(outcomes: &[Outcome]) -> Outcome {
    let mut strictest = Outcome::default();
    let weight = |outcome: &Outcome| (outcome.effect, outcome.needs_person);
    for (at, outcome) in outcomes.iter().enumerate() {
        let stricter = weight(outcome) > weight(&strictest);
        let equal = weight(outcome) == weight(&strictest);
        if at == 0 || stricter || (equal && strictest.rule.is_none()) {
            strictest = outcome.clone();
        }
    }
    strictest
}

/// What is wrong with the keys of a rule together.
fn fault(rule: &RuleSpec) -> Option<String> {
    if rule.effect.is_none() && rule.profile.is_none() {
        return Some("it needs an `effect` or a `profile`".to_owned());
    }
    if rule.env_sha256.is_some() {
        return Some("`env_sha256` belongs in approved.toml".to_owned());
    }
    let lists = [
        ("has", rule.has.len()),
        ("lacks", rule.lacks.len()),
        ("operands", rule.operands.len()),
        ("valued", rule.valued.len()),
    ];
    let long = lists.into_iter().find(|(_, length)| *length > MAX_ENTRIES);
    long.map(|(key, _)| format!("`{key}` may hold {MAX_ENTRIES} entries at the most"))
}
