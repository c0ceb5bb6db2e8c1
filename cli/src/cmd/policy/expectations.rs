//! A file of commands and the decisions that are expected of them.
//!
//! Pure: text in, queries out; answers in, a report out.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use termd_client::BadAnswer;
use termd_client::escape::{command_line, escaped};
use termd_proto::policy::{Effect, Explanation, PolicyQuery, Verdict};
use termd_proto::terminal::Front;
use toml::Spanned;

use crate::usage_error::UsageError;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    /// The defaults of all cases.
    default: Asking,
    case: Vec<Spanned<Case>>,
}

/// The caller and its directory.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asking {
    front: Option<Front>,
    client: Option<String>,
    cwd: Option<String>,
    uid: Option<u32>,
}

/// One `[[case]]`: the command, and the expected decision.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Case {
    line: Option<String>,
    argv: Option<Vec<String>>,
    program: Option<String>,
    front: Option<Front>,
    client: Option<String>,
    cwd: Option<String>,
    uid: Option<u32>,
    effect: Option<Effect>,
    verdict: Option<Verdict>,
    /// The rule's number; 0 is none.
    rule: Option<usize>,
    profile: Option<Profiles>,
}

/// One profile, or several that hold together. `"none"` is no profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Profiles {
    One(String),
    Several(Vec<String>),
}

impl Profiles {
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
        };
        names.retain(|name| *name != "none");
        names.sort_unstable();
        names
    }
}

/// The cases of a file, each with its line.
#[derive(Debug)]
pub(super) struct Expectations {
    file: String,
    cases: Vec<(usize, Case)>,
}

/// The result of a test.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    passed: usize,
    failed: Vec<Failure>,
}

/// A case with another decision than expected.
#[derive(Debug, Serialize)]
struct Failure {
    file: String,
    line: usize,
    command: String,
    differences: Vec<Difference>,
    why: String,
}

/// One difference of a decision.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Difference {
    what: &'static str,
    expected: String,
    found: String,
}

impl Expectations {
    /// Reads a file. `here` is the directory of cases that name none.
    pub(super) fn parse(text: &str, path: &Path, here: Option<&str>) -> Result<Self, UsageError> {
        let shown = path.display().to_string();
        let line = |span: Range<usize>| {
            let before = text.get(..span.start).unwrap_or(text);
            before.matches('\n').count() + 1
        };
        let refused = |line: usize, problem: &str| UsageError::Expectations {
            file: shown.clone(),
            line,
            problem: problem.lines().collect::<Vec<_>>().join(", "),
        };
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(1, line);
            refused(at, error.message())
        })?;
        let default = file.default;
        let mut cases = Vec::new();
        for spanned in file.case {
            let at = line(spanned.span());
            let case = spanned.into_inner();
            match (&case.line, &case.argv) {
                (Some(_), None) => {}
                (None, Some(argv)) if !argv.is_empty() => {}
                _ => {
                    let problem = "a case needs a `line` or an `argv`, not both";
                    return Err(refused(at, problem));
                }
            }
            let expects = case.effect.is_some() || case.verdict.is_some();
            if !expects && case.rule.is_none() && case.profile.is_none() {
                let problem = "a case needs an `effect`, `verdict`, `rule` or `profile` to expect";
                return Err(refused(at, problem));
            }
            let cwd = case.cwd.or_else(|| default.cwd.clone());
            let case = Case {
                front: case.front.or(default.front),
                client: case.client.or_else(|| default.client.clone()),
                cwd: cwd.or_else(|| here.map(str::to_owned)),
                uid: case.uid.or(default.uid),
                ..case
            };
            cases.push((at, case));
        }
        if cases.is_empty() {
            return Err(refused(
                1,
                "it holds no `[[case]]`: nothing would be tested",
            ));
        }
        Ok(Self { file: shown, cases })
    }

    /// The queries, in the order of the cases.
    pub(super) fn queries(&self) -> Vec<PolicyQuery> {
        let query = |(_, case): &(usize, Case)| PolicyQuery {
            line: case.line.clone(),
            argv: case.argv.clone(),
            program: case.program.clone(),
            cwd: case.cwd.clone(),
            front: case.front,
            client: case.client.clone(),
            uid: case.uid,
        };
        self.cases.iter().map(query).collect()
    }

    /// Compares the answers, one for each case.
    pub(super) fn compare(&self, answers: &[Explanation]) -> Result<Report, BadAnswer> {
        if answers.len() != self.cases.len() {
            return Err(BadAnswer::Missing("not an answer to each question"));
        }
        let mut failed = Vec::new();
        for ((line, case), answer) in self.cases.iter().zip(answers) {
            let differences = differences(case, answer);
            if !differences.is_empty() {
                failed.push(Failure {
                    file: self.file.clone(),
                    line: *line,
                    command: shown(case),
                    differences,
                    why: answer.why.clone(),
                });
            }
        }
        Ok(Report {
            passed: self.cases.len() - failed.len(),
            failed,
        })
    }
}

fn differences(case: &Case, answer: &Explanation) -> Vec<Difference> {
    let judgement = &answer.judgement;
    let mut found: Vec<&str> = match &answer.profile {
        Some(profile) => profile.names.iter().map(String::as_str).collect(),
        None => Vec::new(),
    };
    found.retain(|name| *name != "none");
    found.sort_unstable();
    let or_none = |names: &[&str]| match names {
        [] => "none".to_owned(),
        names => names.join(" and "),
    };
    let rule = |number: usize| match number {
        0 => "none".to_owned(),
        number => number.to_string(),
    };
    let compared = [
        (
            "effect",
            case.effect.map(|effect| word(effect).to_owned()),
            word(judgement.effect).to_owned(),
        ),
        (
            "verdict",
            case.verdict.map(|verdict| verdict.as_str().to_owned()),
            judgement.verdict.as_str().to_owned(),
        ),
        (
            "rule",
            case.rule.map(rule),
            rule(judgement.rule.unwrap_or(0)),
        ),
        (
            "profile",
            case.profile
                .as_ref()
                .map(|profiles| or_none(&profiles.names())),
            or_none(&found),
        ),
    ];
    let compared = compared.into_iter().filter_map(|(what, expected, found)| {
        let expected = expected.filter(|expected| *expected != found)?;
        Some(Difference {
            what,
            expected,
            found,
        })
    });
    compared.collect()
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Confirm => "confirm",
        Effect::Deny => "deny",
    }
}

fn shown(case: &Case) -> String {
    match (&case.line, &case.argv) {
        (Some(line), _) => escaped(line),
        (None, argv) => command_line(argv.as_deref().unwrap_or_default()),
    }
}

impl Report {
    pub(super) fn is_passed(&self) -> bool {
        self.failed.is_empty()
    }

    /// As diffs, and a count.
    pub(super) fn as_lines(&self) -> String {
        let mut out = String::new();
        for failure in &self.failed {
            let file = escaped(&failure.file);
            let _ = writeln!(out, "{file}:{}: {}", failure.line, failure.command);
            for difference in &failure.differences {
                let what = difference.what;
                let _ = writeln!(out, "- {what} = {}", escaped(&difference.expected));
                let _ = writeln!(out, "+ {what} = {}", escaped(&difference.found));
            }
            let _ = writeln!(out, "  {}", escaped(&failure.why));
        }
        let _ = writeln!(out, "{} passed, {} failed", self.passed, self.failed.len());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Expectations, UsageError> {
        Expectations::parse(text, Path::new("t.toml"), Some("/here"))
    }

    #[test]
    fn a_table_is_refused_with_its_line() {
        let table = [
            ("", "t.toml:1: it holds no `[[case]]`"),
            ("[[case]]\nline = 'x'", "t.toml:1: a case needs an `effect`"),
            (
                "\n[[case]]\neffect = 'allow'",
                "t.toml:2: a case needs a `line`",
            ),
            (
                "[[case]]\nline = 'x'\neffect = 'maybe'",
                "t.toml:3: unknown variant",
            ),
            ("[[case]]\nlien = 'x'", "t.toml:2: unknown field"),
        ];
        for (text, expected) in table {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn what_differs_is_shown_as_a_diff() {
        let table = "[default]\nfront = 'mcp'\n[[case]]\nline = 'ls'\neffect = 'deny'\nrule = 2\n\
                     [[case]]\nargv = ['ls']\ncwd = '/x'\neffect = 'allow'\nprofile = 'none'\nrule = 0";
        let expectations = parse(table).unwrap();
        let queries = expectations.queries();
        assert_eq!(queries[0].front, Some(Front::Mcp));
        assert_eq!(queries[0].cwd.as_deref(), Some("/here"));
        assert_eq!(queries[1].cwd.as_deref(), Some("/x"));
        let answer: Explanation = serde_json::from_value(serde_json::json!({
            "verdict": "safe", "reason": null, "span": null, "effect": "allow",
            "why": "no rule fits", "env_dropped": [], "env_set": [],
        }))
        .unwrap();
        let report = expectations
            .compare(&[answer.clone(), answer.clone()])
            .unwrap();
        assert_eq!(
            report.as_lines(),
            "t.toml:3: ls\n- effect = deny\n+ effect = allow\n- rule = 2\n+ rule = none\n  no rule \
             fits\n1 passed, 1 failed\n"
        );
        assert!(expectations.compare(&[answer]).is_err());
    }
}
