//! What is done about one command, by its verdict or by a rule, and the judgement of all of them.

use termd_proto::policy::{Effect, Judgement, Verdict};

use crate::inspect::finding::Finding;
use crate::inspect::gate::CompiledGate;
use crate::inspect::inspection::Inspection;
use crate::profile::name::ProfileName;
use crate::rules::rule_set::RuleMatch;

/// What decided an effect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DecidedBy {
    #[default]
    Verdict,
    Rule,
    /// A rule that may fit.
    PossibleRule,
}

/// What is done about one command.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) effect: Effect,
    pub(super) rule: Option<usize>,
    pub(super) by: DecidedBy,
    pub(super) profiles: Vec<ProfileName>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            effect: Effect::Allow,
            rule: None,
            by: DecidedBy::Verdict,
            profiles: Vec::new(),
        }
    }
}

impl Outcome {
    /// The outcome of a command with these rules and this finding.
    pub(super) fn of(matched: RuleMatch, finding: Option<&Finding>, gate: &CompiledGate) -> Self {
        let by_verdict = match finding {
            Some(finding) if gate.is_enabled() || finding.needs_person => Effect::Confirm,
            _ => Effect::Allow,
        };
        let profiles = matched.profiles;
        let by = if matched.effect.is_some() {
            DecidedBy::Rule
        } else {
            DecidedBy::Verdict
        };
        let effect = matched.effect.unwrap_or(by_verdict);
        match matched.may_fit {
            Some(number) if strictness(effect) < strictness(Effect::Confirm) => Self {
                effect: Effect::Confirm,
                rule: Some(number),
                by: DecidedBy::PossibleRule,
                profiles,
            },
            _ => Self {
                effect,
                rule: matched.fits,
                by,
                profiles,
            },
        }
    }
}

/// A reason in one line. It may name a program as an argv spells it, with any characters.
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

/// The judgement of a text: the first of its worst findings, and the strictest outcome.
pub(super) fn judgement(inspection: &Inspection, outcome: &Outcome) -> Judgement {
    let worst = inspection.findings().map(|finding| finding.verdict).max();
    let mut findings = inspection.findings();
    let first = findings.find(|finding| Some(finding.verdict) == worst);
    Judgement {
        verdict: worst.unwrap_or(Verdict::Safe),
        reason: first.map(|finding| in_one_line(&finding.reason)),
        span: first.map(|finding| finding.span),
        effect: outcome.effect,
        rule: outcome.rule,
        approved: None,
        needs_person: outcome.effect == Effect::Confirm
            && inspection.findings().any(|finding| finding.needs_person),
    }
}

/// How strict an effect is.
pub(super) fn strictness(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Confirm => 1,
        Effect::Deny => 2,
    }
}
