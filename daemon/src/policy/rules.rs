//! Rules of config.toml: what a person has decided about commands, before anybody asks.
//!
//! The first rule that fits decides. It must not know files, or where a rule was read.

use regex::Regex;
use serde::Deserialize;
use termd_proto::policy::Effect;
use termd_proto::terminal::Front;
use thiserror::Error;

use super::inspect::Seen;

/// Most rules: more are a fault, and would be tried for each command.
pub const MAX_RULES: usize = 256;

/// One `[[policy.rules]]` of config.toml. What is absent fits everything.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// What is done.
    pub effect: Effect,
    /// The command's program: the last part of its path, to the letter.
    pub program: Option<String>,
    /// A regular expression that is found in its arguments, joined by one space.
    pub arguments: Option<String>,
    /// The directory that it is run in, or one above; absolute.
    pub cwd: Option<String>,
    /// What it came through.
    pub front: Option<Front>,
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("rule {number}: {problem}")]
pub struct RuleError {
    /// Which, from 1.
    pub number: usize,
    /// What is wrong with it.
    pub problem: String,
}

#[derive(Debug, Clone)]
struct Rule {
    spec: RuleSpec,
    arguments: Option<Regex>,
}

/// All rules, their patterns compiled.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// Where a command is to run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances<'a> {
    pub(super) front: Front,
    pub(super) cwd: Option<&'a str>,
}

impl Rules {
    /// Checks and compiles them.
    pub fn compile(specs: &[RuleSpec]) -> Result<Self, RuleError> {
        if specs.len() > MAX_RULES {
            let problem = format!("there may be {MAX_RULES} rules at the most");
            let number = MAX_RULES + 1;
            return Err(RuleError { number, problem });
        }
        let compile = |(at, spec): (usize, &RuleSpec)| {
            let refused = |problem| RuleError {
                number: at + 1,
                problem,
            };
            if spec.cwd.as_ref().is_some_and(|cwd| !cwd.starts_with('/')) {
                return Err(refused("cwd must be an absolute path".to_owned()));
            }
            if spec
                .program
                .as_deref()
                .is_some_and(|name| name.is_empty() || name.contains('/'))
            {
                return Err(refused("program must be a name without a path".to_owned()));
            }
            let arguments = spec.arguments.as_deref().map(Regex::new).transpose();
            let arguments = arguments.map_err(|error| {
                let said = error.to_string();
                let last = said.lines().last().unwrap_or_default().trim();
                refused(format!("arguments: {last}"))
            })?;
            let spec = spec.clone();
            Ok(Rule { spec, arguments })
        };
        let rules = specs
            .iter()
            .enumerate()
            .map(compile)
            .collect::<Result<_, _>>()?;
        Ok(Self { rules })
    }

    /// The first rule that fits a command, or a text that is none (`seen` is `None`): its number
    /// from 1, and what it does.
    pub(super) fn first(
        &self,
        seen: Option<&Seen>,
        circumstances: Circumstances<'_>,
    ) -> Option<(usize, Effect)> {
        let fits = |rule: &&Rule| rule.fits(seen, circumstances);
        let mut numbered = self.rules.iter().zip(1..);
        let (rule, number) = numbered.find(|(rule, _)| fits(rule))?;
        Some((number, rule.spec.effect))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Rule {
    fn fits(&self, seen: Option<&Seen>, circumstances: Circumstances<'_>) -> bool {
        let program = self.spec.program.as_deref();
        let by_program = program.is_none_or(|name| seen.is_some_and(|seen| seen.program == name));
        let arguments = self.arguments.as_ref();
        let by_arguments =
            arguments.is_none_or(|regex| seen.is_some_and(|seen| regex.is_match(&seen.arguments)));
        let by_front = self
            .spec
            .front
            .is_none_or(|front| front == circumstances.front);
        let by_cwd = self
            .spec
            .cwd
            .as_deref()
            .is_none_or(|above| circumstances.cwd.is_some_and(|cwd| is_within(cwd, above)));
        by_program && by_arguments && by_front && by_cwd
    }
}

/// Whether a directory is another, or below it; both absolute.
fn is_within(cwd: &str, above: &str) -> bool {
    let above = above.trim_end_matches('/');
    cwd.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
