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
    /// Whether only a person can agree.
    pub(super) needs_person: bool,
    pub(super) profiles: Vec<ProfileName>,
    /// The profiles of rules that may fit.
    pub(super) possible_profiles: Vec<ProfileName>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            effect: Effect::Allow,
            rule: None,
            by: DecidedBy::Verdict,
            needs_person: false,
            profiles: Vec::new(),
            possible_profiles: Vec::new(),
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
        let by = if matched.effect.is_some() {
            DecidedBy::Rule
        } else {
            DecidedBy::Verdict
        };
        let effect = matched.effect.unwrap_or(by_verdict);
        let mut outcome = Self {
            effect,
            rule: matched.fits,
            by,
            needs_person: false,
            profiles: matched.profiles,
            possible_profiles: matched.possible_profiles,
        };
        if effect == Effect::Deny {
            return outcome;
        }
        // What a rule would forbid, or hold to a profile, an agent cannot agree to by itself.
        let for_person = matched.may_deny.or(matched.may_confine);
        let asks = matched.may_fit.filter(|_| effect == Effect::Allow);
        if let Some(number) = for_person.or(asks) {
            outcome.effect = Effect::Confirm;
            outcome.rule = Some(number);
            outcome.by = DecidedBy::PossibleRule;
            outcome.needs_person = for_person.is_some();
        }
        outcome
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
        needs_person: outcome.needs_person
            || (outcome.effect == Effect::Confirm
                && inspection.findings().any(|finding| finding.needs_person)),
    }
}
