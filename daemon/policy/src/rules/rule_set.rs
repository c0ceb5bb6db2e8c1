//! The rules of a configuration, in their order.
//!
//! The first rule that fits a command decides. Of the rules that may fit, one that forbids or asks is
//! never skipped, and one that allows is.

use termd_proto::policy::Effect;

use super::rule::{Rule, RuleContext, Subject};
use crate::fit::Fit;
use crate::profile::name::ProfileName;

/// Rules of a configuration. Each is tried for each command.
pub(crate) const MAX_RULES: usize = 256;

/// The rules of a configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet {
    pub(crate) rules: Vec<Rule>,
}

/// What the rules say of one subject. Rules are numbered from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RuleMatch {
    /// The rule that fits.
    pub(crate) fits: Option<usize>,
    /// The effect of the rule that fits.
    pub(crate) effect: Option<Effect>,
    /// The first rule before it that forbids or asks, and may fit.
    pub(crate) may_fit: Option<usize>,
    /// The first rule before it that forbids, and may fit.
    pub(crate) may_deny: Option<usize>,
    /// The first rule before it that gives a profile, and may fit.
    pub(crate) may_confine: Option<usize>,
    /// The profiles of the rules that fit.
    pub(crate) profiles: Vec<ProfileName>,
    /// The profiles of the rules that may fit.
    pub(crate) possible_profiles: Vec<ProfileName>,
}

impl RuleSet {
    /// The line of the rule with this number. Both are counted from 1.
    pub(crate) fn line(&self, number: usize) -> Option<usize> {
        let rule = self.rules.get(number.checked_sub(1)?)?;
        Some(rule.line)
    }

    /// The effect of a rule, by its number.
    pub(crate) fn effect(&self, number: usize) -> Option<Effect> {
        self.rules.get(number.checked_sub(1)?)?.spec.effect
    }

    /// What the rules say of a subject.
    pub(crate) fn ask(&self, subject: Subject<'_>, context: RuleContext<'_>) -> RuleMatch {
        let mut matched = RuleMatch::default();
        for (rule, number) in self.rules.iter().zip(1..) {
            let fit = rule.fits(subject, context);
            let allows = rule.spec.effect == Some(Effect::Allow);
            let profile = rule
                .spec
                .profile
                .as_ref()
                .map(|name| name.get_ref().clone());
            match fit {
                Fit::No => {}
                Fit::Maybe => {
                    if profile.is_some() {
                        matched.may_confine.get_or_insert(number);
                    }
                    matched.possible_profiles.extend(profile);
                    if !allows && rule.spec.effect.is_some() {
                        matched.may_fit.get_or_insert(number);
                    }
                    if rule.spec.effect == Some(Effect::Deny) {
                        matched.may_deny.get_or_insert(number);
                    }
                }
                Fit::Yes => {
                    matched.fits = Some(number);
                    matched.effect = rule.spec.effect;
                    matched.profiles.extend(profile);
                    break;
                }
            }
        }
        matched
    }
}
