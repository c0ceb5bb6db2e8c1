//! What a person has agreed to for always: whole commands, to the letter, in approved.toml.
//!
//! The language is that of `[[policy.rules]]`, narrowed: a rule here allows one whole command, by
//! `command`, and of what else it says nothing is a pattern. It takes the place of the verdict and
//! of nothing else: a rule of config.toml that forbids or asks stays stronger. What is only known
//! when it runs is never agreed to for always. Pure; must not know files, or who has agreed.

use std::fmt::Write as _;

use serde::Deserialize;
use termd_proto::policy::{Effect, Verdict};
use termd_proto::terminal::Front;
use thiserror::Error;
use toml::Spanned;

use crate::inspect::inspector::Inspector;
use crate::policy::{Decision, Policy, PolicyError};
use crate::rules::rule_set::{MAX_RULES, Rule};
use crate::rules::spec::{ExactCommand, RuleSpec};
use crate::{Known, Request};

/// Longest command that is agreed to for always, in bytes: a question shows no more than that, and
/// nobody agrees to what they have not seen.
pub(crate) const MAX_COMMAND_BYTES: usize = 4_096;

/// approved.toml as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovedSpec {
    /// `[[rules]]`.
    pub rules: Vec<Spanned<RuleSpec>>,
}

/// approved.toml, ready to decide by.
#[derive(Debug, Clone, Default)]
pub struct Approved {
    rules: Vec<Rule>,
}

/// Why something can be agreed to once, and not for always.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OnlyOnce {
    /// A person's own rule is stronger.
    #[error("rule {number} of config.toml (line {line}) asks each time")]
    Rule {
        /// Which, from 1.
        number: usize,
        /// Where it stands.
        line: usize,
    },
    /// A rule wants it held to more than its terminal is.
    #[error("a rule wants it in a terminal that is held to another profile")]
    Profile,
    /// The same text may be another command the next time.
    #[error("what it does is only known when it runs")]
    Computed,
    /// Where its program is by then is not known.
    #[error("what is typed runs wherever its program is by then")]
    Typed,
    /// Anybody could be who asked.
    #[error("whoever asks has not said a name")]
    Unnamed,
    /// The file would keep it.
    #[error("it seems to hold a secret")]
    Secret,
    /// Nobody has seen all of it.
    #[error("it is longer than is shown ({MAX_COMMAND_BYTES} bytes)")]
    Long,
    /// The directory cannot be named.
    #[error("its directory cannot be written down")]
    Directory,
}

impl OnlyOnce {
    /// What stands in the way in the text itself.
    pub(crate) fn of(inspector: &Inspector, known: Known) -> Option<Self> {
        let mut seen = inspector.seen.iter();
        let findings = inspector
            .seen
            .iter()
            .filter_map(|seen| seen.finding.as_ref());
        let mut findings = findings.chain(&inspector.findings);
        let unclear = known != Known::Whole
            || seen.any(|seen| seen.computed || seen.args.iter().any(|word| !word.is_known()))
            || findings.any(|finding| finding.verdict == Verdict::Unknown);
        unclear.then_some(Self::Computed)
    }
}

impl Approved {
    /// Checks what is written, and makes it ready. `line` tells the line of a byte of the file.
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

    /// Whether nothing was agreed to.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The line of the last rule.
    pub fn last_line(&self) -> Option<usize> {
        self.rules.last().map(|rule| rule.line)
    }

    /// The first rule that is for this: its number and its line, both from 1.
    fn of(&self, request: &Request<'_>, real_cwd: &str) -> Option<(usize, usize)> {
        let is_for = |spec: &RuleSpec| {
            let command = spec.command.as_ref();
            let by_front = spec.front.as_ref();
            let by_client = spec.client.as_ref();
            command.is_some_and(|command| command.is(request.what))
                && by_front.is_none_or(|fronts| fronts.0.contains(&request.front))
                && by_client.is_none_or(|client| request.client == Some(client.as_str()))
                && spec.uid.is_none_or(|uid| request.uid == Some(uid))
                && spec.cwd.as_ref().is_none_or(|cwd| cwd.0 == real_cwd)
        };
        let mut numbered = self.rules.iter().zip(1..);
        let (rule, number) = numbered.find(|(rule, _)| is_for(&rule.spec))?;
        Some((number, rule.line))
    }
}

/// What is wrong with a rule as a whole.
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

impl Policy {
    /// The same with these rules for always, in place of those it has.
    #[must_use]
    pub fn with_approved(&self, approved: Approved) -> Self {
        let mut policy = self.clone();
        policy.approved = approved;
        policy
    }

    /// What was agreed to for always.
    pub fn approved(&self) -> &Approved {
        &self.approved
    }

    /// What is decided of a new terminal's command, where somebody may have agreed to it for always.
    /// `real_cwd`: its directory with links resolved.
    #[must_use]
    pub fn approve(&self, decision: Decision, request: &Request<'_>, real_cwd: &str) -> Decision {
        // What is typed for a program runs wherever that is by then.
        let asks = decision.judgement.effect == Effect::Confirm && request.program.is_none();
        if !asks || decision.only_once.is_some() {
            return decision;
        }
        let Some((number, line)) = self.approved.of(request, real_cwd) else {
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
}

/// A rule that allows one command for always: what is asked about, and nothing beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlwaysRule {
    front: Front,
    client: String,
    uid: Option<u32>,
    cwd: String,
    command: ExactCommand,
}

impl AlwaysRule {
    /// The rule for a new terminal's command; `real_cwd` is its directory with links resolved.
    pub fn of(
        decision: &Decision,
        request: &Request<'_>,
        real_cwd: Option<&str>,
    ) -> Result<Self, OnlyOnce> {
        if let Some(only_once) = &decision.only_once {
            return Err(only_once.clone());
        }
        if request.program.is_some() {
            return Err(OnlyOnce::Typed);
        }
        let client = request.client.filter(|name| !name.is_empty());
        let rule = Self {
            front: request.front,
            client: client.ok_or(OnlyOnce::Unnamed)?.to_owned(),
            uid: request.uid,
            cwd: real_cwd.ok_or(OnlyOnce::Directory)?.to_owned(),
            command: request.what.into(),
        };
        let bytes = match &rule.command {
            ExactCommand::Line(line) => line.len(),
            ExactCommand::Argv(argv) => crate::command_text(argv).len(),
        };
        if bytes > MAX_COMMAND_BYTES {
            return Err(OnlyOnce::Long);
        }
        Ok(rule)
    }

    /// The command's words, or its line, for whoever looks for secrets in it.
    pub fn words(&self) -> &[String] {
        match &self.command {
            ExactCommand::Line(line) => std::slice::from_ref(line),
            ExactCommand::Argv(argv) => argv,
        }
    }

    /// As it stands in the file, a line a key. Nothing in it can end a line.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("[[rules]]\neffect = \"allow\"\n");
        // A string takes whatever is written.
        let _ = writeln!(text, "front = {}", quoted(self.front.as_str()));
        let _ = writeln!(text, "client = {}", quoted(&self.client));
        if let Some(uid) = self.uid {
            let _ = writeln!(text, "uid = {uid}");
        }
        let _ = writeln!(text, "cwd = {}", quoted(&self.cwd));
        let command = match &self.command {
            ExactCommand::Line(line) => quoted(line),
            ExactCommand::Argv(argv) => {
                let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
                format!("[{}]", words.join(", "))
            }
        };
        let _ = writeln!(text, "command = {command}");
        text
    }
}

/// A basic string of TOML in which nothing is hidden: control characters, and those that change the
/// direction of text or cannot be seen, are written by their numbers.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || is_unseen(c) => {
                // A string takes whatever is written.
                let _ = write!(quoted, "\\U{:08X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters of Unicode's `Bidi_Control`, `Default_Ignorable_Code_Point` and spaces that pass for
/// nothing or for another space.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}
