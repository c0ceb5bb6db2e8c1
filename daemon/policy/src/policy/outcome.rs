//! What is done about one command, by its verdict or by a rule; and what is said of all of them. Pure.

use termd_proto::policy::{Effect, Judgement, Verdict};

use crate::inspect::gate::CompiledGate;
use crate::inspect::inspector::{Finding, Inspector};
use crate::profile::ProfileName;
use crate::rules::rule_set::Ruled;

/// What decided an effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum By {
    #[default]
    Verdict,
    Rule,
    MayFit,
}

/// What is done about one command.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) effect: Effect,
    pub(crate) rule: Option<usize>,
    pub(crate) by: By,
    pub(crate) profiles: Vec<ProfileName>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            effect: Effect::Allow,
            rule: None,
            by: By::Verdict,
            profiles: Vec::new(),
        }
    }
}

impl Outcome {
    pub(crate) fn of(ruled: Ruled, finding: Option<&Finding>, gate: &CompiledGate) -> Self {
        let by_verdict = match finding {
            Some(_) if gate.is_enabled() => Effect::Confirm,
            _ => Effect::Allow,
        };
        let profiles = ruled.profiles;
        let by = if ruled.effect.is_some() {
            By::Rule
        } else {
            By::Verdict
        };
        let effect = ruled.effect.unwrap_or(by_verdict);
        match ruled.may_fit {
            Some(number) if strictness(effect) < strictness(Effect::Confirm) => Self {
                effect: Effect::Confirm,
                rule: Some(number),
                by: By::MayFit,
                profiles,
            },
            _ => Self {
                effect,
                rule: ruled.fits,
                by,
                profiles,
            },
        }
    }
}

/// A reason may name a program as it is spelled, and an argv may spell it with anything.
fn in_one_line(reason: &str) -> String {
    let mut line = String::with_capacity(reason.len());
    for character in reason.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

pub(crate) fn judgement(inspector: Inspector, outcome: &Outcome) -> Judgement {
    let of_commands = inspector.seen.into_iter().filter_map(|seen| seen.finding);
    let all: Vec<Finding> = of_commands.chain(inspector.findings).collect();
    let worst = all.iter().map(|finding| finding.verdict).max();
    let first = all
        .into_iter()
        .find(|finding| Some(finding.verdict) == worst);
    Judgement {
        verdict: worst.unwrap_or(Verdict::Safe),
        reason: first.as_ref().map(|finding| in_one_line(&finding.reason)),
        span: first.map(|finding| finding.span),
        effect: outcome.effect,
        rule: outcome.rule,
        approved: None,
    }
}

pub(crate) fn strictness(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Confirm => 1,
        Effect::Deny => 2,
    }
}
