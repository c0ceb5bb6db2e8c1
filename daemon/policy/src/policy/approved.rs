//! The commands that a person has approved for always, in approved.toml.
//!
//! The language is that of `[[policy.rules]]`, narrowed: a rule allows one whole command, to the letter,
//! and nothing in it is a pattern. It takes the place of the verdict alone; a rule of config.toml that
//! forbids or asks is stronger.

use serde::Deserialize;
use termd_proto::policy::Effect;
use toml::Spanned;

use super::error::PolicyError;
use crate::environment_hash::env_sha256;
use crate::request::Request;
use crate::rules::rule::Rule;
use crate::rules::rule_set::MAX_RULES;
use crate::rules::rule_spec::RuleSpec;

/// The longest command that is approved for always, in bytes. A question shows no more than that, and
/// no person approves what they have not seen.
pub(super) const MAX_COMMAND_BYTES: usize = 4_096;

/// approved.toml as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovedSpec {
    /// `[[rules]]`.
    pub rules: Vec<Spanned<RuleSpec>>,
}

/// approved.toml, compiled.
#[derive(Debug, Clone, Default)]
pub struct Approved {
    rules: Vec<Rule>,
}

impl Approved {
    /// Checks and compiles what is written. `line` gives the line of a byte of the file, from 1.
    pub fn compile(
        spec: &ApprovedSpec,
        line: &dyn Fn(usize) -> usize,
    ) -> Result<Self, PolicyError> {
        let mut rules = Vec::new();
        for (written, number) in spec.rules.iter().zip(1..) {
            let (rule, at) = (written.get_ref(), written.span().start);
            let problem = if number > MAX_RULES {
                Some(format!("there may be {MAX_RULES} rules at the most"))
            } else {
                fault(rule).map(|problem| format!("rule {number}: {problem}"))
            };
            if let Some(problem) = problem {
                return Err(PolicyError { at, problem });
            }
            rules.push(Rule {
                spec: rule.clone(),
                line: line(at),
                real_cwd: None,
            });
        }
        Ok(Self { rules })
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether nothing is approved.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The line of the last rule.
    pub fn last_line(&self) -> Option<usize> {
        self.rules.last().map(|rule| rule.line)
    }

    /// The first rule for a request: its number and its line, both from 1.
    pub(super) fn rule_for(&self, request: &Request<'_>, real_cwd: &str) -> Option<(usize, usize)> {
        let env = env_sha256(request.env);
        let is_for = |spec: &RuleSpec| {
            let command = spec.command.as_ref();
            let by_front = spec.front.as_ref();
            let by_client = spec.client.as_ref();
            command.is_some_and(|command| command.is(request.invocation))
                && by_front.is_none_or(|fronts| fronts.0.contains(&request.front))
                && by_client.is_none_or(|client| request.client == Some(client.as_str()))
                && spec.uid.is_none_or(|uid| request.uid == Some(uid))
                && spec.cwd.as_ref().is_none_or(|cwd| cwd.0 == real_cwd)
                && spec.env_sha256 == env
        };
        let mut numbered = self.rules.iter().zip(1..);
        let (rule, number) = numbered.find(|(rule, _)| is_for(&rule.spec))?;
        Some((number, rule.line))
    }
}

/// What is wrong with the keys of a rule together.
fn fault(rule: &RuleSpec) -> Option<String> {
    if rule.effect != Some(Effect::Allow) {
        return Some("`effect` must be \"allow\": other rules belong in config.toml".to_owned());
    }
    if rule.command.is_none() {
        return Some("it needs a `command`: other rules belong in config.toml".to_owned());
    }
    let others = [
        ("profile", rule.profile.is_some()),
        ("program", rule.program.is_some()),
        ("arguments", rule.arguments.is_some()),
        ("has", !rule.has.is_empty()),
        ("lacks", !rule.lacks.is_empty()),
        ("operands", !rule.operands.is_empty()),
        ("valued", !rule.valued.is_empty()),
    ];
    let other = others.into_iter().find(|(_, is_there)| *is_there);
    other.map(|(key, _)| format!("`{key}` belongs in config.toml: `command` says all of it here"))
}
