//! The decision: what is done about a request, by which rule, and what it runs under.
//!
//! One pure function: (request, policy) → [`Decision`]. Of several commands in a text the strictest
//! outcome holds, and what all of their profiles together allow. It must not know files, clocks,
//! terminals, or how a profile is enforced.

pub(crate) mod approved;
pub(crate) mod outcome;

use std::collections::BTreeMap;

use termd_proto::policy::{Effect, Judgement};
use termd_proto::terminal::Front;
use thiserror::Error;
use toml::Spanned;

use crate::inspect::cwd::Whereabouts;
use crate::inspect::gate::CompiledGate;
use crate::inspect::inspected;
use crate::policy::approved::{Approved, OnlyOnce};
use crate::policy::outcome::{By, Outcome, judgement, strictness};
use crate::profile::environment::{EnvRules, EnvSpec, Secrets};
use crate::profile::{Profile, ProfileName, ProfileSpec};
use crate::rules::rule_set::{Circumstances, MAX_RULES, Rule, Rules, Subject};
use crate::rules::spec::{FrontSpec, MAX_ENTRIES, PolicySpec, RuleSpec};
use crate::{Known, Request};

/// Most profiles: more are a fault.
pub(crate) const MAX_PROFILES: usize = 256;

/// Why a policy is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{problem}")]
pub struct PolicyError {
    /// Where: a byte of the file.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

/// `[policy]`, ready to decide by.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Rules,
    profiles: BTreeMap<ProfileName, ProfileSpec>,
    acp: FrontSpec,
    mcp: FrontSpec,
    cli: FrontSpec,
    /// What stands in approved.toml.
    pub(crate) approved: Approved,
}

/// What is done about a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What it is, and what is done about it.
    pub judgement: Judgement,
    /// The rule that decided the effect stands there in the file.
    pub rule_line: Option<usize>,
    /// Why the effect is what it is, in one line.
    pub why: String,
    /// What it is to run under.
    pub profile: Profile,
    /// The names of profiles that rules gave, not those of the front.
    pub profiles_by_rule: Vec<String>,
    /// Why nobody may agree to it for always; `None`: somebody may.
    pub only_once: Option<OnlyOnce>,
    /// Where the next text starts that the same shell reads.
    pub leads_to: Whereabouts,
}

/// Where a rule comes from.
pub struct Origin<'a> {
    /// The line of a byte of the file, from 1.
    pub line: &'a dyn Fn(usize) -> usize,
    /// A directory with links resolved, where it is there.
    pub resolve: &'a dyn Fn(&str) -> Option<String>,
}

fn refused<T>(at: usize, problem: String) -> Result<T, PolicyError> {
    Err(PolicyError { at, problem })
}

impl Policy {
    /// Checks what is written, and makes it ready.
    pub fn compile(spec: &PolicySpec, origin: &Origin<'_>) -> Result<Self, PolicyError> {
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
        let known = |name: &Option<Spanned<ProfileName>>| match name {
            Some(name) if !profiles.contains_key(name.get_ref()) => {
                let text = name.get_ref().as_str();
                match name.get_ref().built_in() {
                    Some(_) => Ok(()),
                    None => refused(name.span().start, format!("there is no profile {text}")),
                }
            }
            _ => Ok(()),
        };
        for front in [&spec.fronts.acp, &spec.fronts.mcp, &spec.fronts.cli] {
            known(&front.profile)?;
        }
        let mut rules = Vec::new();
        for (written, number) in spec.rules.iter().zip(1..) {
            let (rule, at) = (written.get_ref(), written.span().start);
            if let Some(problem) = fault(rule) {
                return refused(at, format!("rule {number}: {problem}"));
            }
            known(&rule.profile)?;
            let cwd = rule.cwd.as_ref().map(|cwd| cwd.0.as_str());
            rules.push(Rule {
                spec: rule.clone(),
                line: (origin.line)(at),
                real_cwd: cwd.and_then(|cwd| (origin.resolve)(cwd)),
            });
        }
        Ok(Self {
            rules: Rules { rules },
            profiles,
            acp: spec.fronts.acp.clone(),
            mcp: spec.fronts.mcp.clone(),
            cli: spec.fronts.cli.clone(),
            approved: Approved::default(),
        })
    }

    /// What is decided of a request.
    pub fn decide(&self, request: &Request<'_>, known: Known, gate: &CompiledGate) -> Decision {
        self.decide_from(&Whereabouts::at(request.cwd), request, known, gate)
    }

    /// The same of one that starts here, in place of the directory that it names.
    pub fn decide_from(
        &self,
        start: &Whereabouts,
        request: &Request<'_>,
        known: Known,
        gate: &CompiledGate,
    ) -> Decision {
        let inspector = inspected(request, known, gate);
        let whereabouts = start.within_text(&inspector.seen);
        let leads_to = start.behind_text(&inspector, known);
        let circumstances = Circumstances {
            front: request.front,
            client: request.client,
            uid: request.uid,
            whereabouts: &whereabouts,
            text: (request.what, known),
        };
        let mut outcomes = Vec::new();
        for seen in &inspector.seen {
            let whereabouts = whereabouts.of_command(seen);
            let circumstances = Circumstances {
                whereabouts: &whereabouts,
                ..circumstances
            };
            let ruled = self.rules.ask(Subject::Command(seen), circumstances);
            outcomes.push(Outcome::of(ruled, seen.finding.as_ref(), gate));
        }
        for finding in &inspector.findings {
            let ruled = self.rules.ask(Subject::Finding(finding), circumstances);
            outcomes.push(Outcome::of(ruled, Some(finding), gate));
        }
        // Every text is judged by the rules once, also one without a command.
        if outcomes.is_empty() {
            let ruled = self.rules.ask(Subject::Nothing, circumstances);
            outcomes.push(Outcome::of(ruled, None, gate));
        }
        let mut strictest = Outcome::default();
        for (at, outcome) in outcomes.iter().enumerate() {
            let stricter = strictness(outcome.effect) > strictness(strictest.effect);
            let equal = strictness(outcome.effect) == strictness(strictest.effect);
            if at == 0 || stricter || (equal && strictest.rule.is_none()) {
                strictest = outcome.clone();
            }
        }
        let profile = self.profile(request.front, &outcomes);
        let names = outcomes.iter().flat_map(|outcome| &outcome.profiles);
        let mut profiles_by_rule: Vec<String> =
            names.map(|name| name.as_str().to_owned()).collect();
        profiles_by_rule.sort();
        profiles_by_rule.dedup();
        let by_rule = outcomes
            .iter()
            .filter(|outcome| outcome.by != By::Verdict && outcome.effect != Effect::Allow)
            .find_map(|outcome| outcome.rule);
        let only_once = match by_rule {
            Some(number) => Some(OnlyOnce::Rule {
                number,
                line: self.rules.line(number).unwrap_or_default(),
            }),
            None => OnlyOnce::of(&inspector, known),
        };
        let judgement = judgement(inspector, &strictest);
        Decision {
            rule_line: judgement.rule.and_then(|number| self.rules.line(number)),
            why: self.why(&judgement, &strictest),
            judgement,
            profile,
            profiles_by_rule,
            only_once,
            leads_to,
        }
    }

    /// What every command of a text is allowed to: those without a profile by a rule have their
    /// front's.
    fn profile(&self, front: Front, outcomes: &[Outcome]) -> Profile {
        let default = self.front(front).profile.as_ref();
        let mut names: Vec<Option<&ProfileName>> = Vec::new();
        for outcome in outcomes {
            if outcome.profiles.is_empty() {
                names.push(default.map(Spanned::get_ref));
            }
            names.extend(outcome.profiles.iter().map(Some));
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

    fn named(&self, name: Option<&ProfileName>, front: Front) -> Profile {
        let written = self.front(front);
        let secrets = default_secrets(front);
        let Some(name) = name else {
            let env = EnvRules::of(secrets, &written.env, &EnvSpec::default());
            return Profile::bare(env);
        };
        let built_in = name.built_in().map(ProfileSpec::built_in);
        let spec = self.profiles.get(name).cloned().or(built_in);
        // Each name was looked up when the policy was compiled.
        let spec = spec.unwrap_or_else(|| ProfileSpec::built_in(crate::SandboxKind::ReadOnly));
        let env = EnvRules::of(secrets, &written.env, &spec.env);
        Profile::of(name, &spec, env)
    }

    fn front(&self, front: Front) -> &FrontSpec {
        match front {
            Front::Acp => &self.acp,
            Front::Mcp => &self.mcp,
            Front::Cli | Front::Daemon => &self.cli,
        }
    }

    fn why(&self, judgement: &Judgement, outcome: &Outcome) -> String {
        let place = |number: usize| match self.rules.line(number) {
            Some(line) => format!("rule {number} (line {line})"),
            None => format!("rule {number}"),
        };
        match (judgement.rule, outcome.by) {
            (Some(number), By::Rule) => format!("{} fits", place(number)),
            (Some(number), By::MayFit) => {
                format!("{} may fit: not all of the command is known", place(number))
            }
            (Some(number), By::Verdict) => {
                let verdict = judgement.verdict.as_str();
                format!(
                    "{} fits and leaves it to the verdict, {verdict}",
                    place(number)
                )
            }
            (None, _) => format!(
                "no rule fits; the verdict is {}",
                judgement.verdict.as_str()
            ),
        }
    }
}

/// What an agent's client starts has no secrets of the environment; a person's own has.
fn default_secrets(front: Front) -> Secrets {
    match front {
        Front::Acp | Front::Mcp => Secrets::Drop,
        Front::Cli | Front::Daemon => Secrets::Pass,
    }
}

/// What is wrong with a rule as a whole.
fn fault(rule: &RuleSpec) -> Option<String> {
    if rule.effect.is_none() && rule.profile.is_none() {
        return Some("it needs an `effect` or a `profile`".to_owned());
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
