//! A program that a rule denies, and lines that may start it.

use termd_proto::policy::{Effect, Judgement};
use termd_proto::terminal::Front;

use super::rules::rules;
use crate::{CompiledGate, Invocation, Request, judge};

pub(super) struct Forbidden(pub(super) &'static str);

impl Forbidden {
    /// What a line of an agent's is, typed into `program`; `None`: a shell.
    fn judged(&self, program: Option<&str>, lines: &[&str]) -> Vec<(String, Judgement)> {
        let policy = rules(&format!(
            "[[rules]]\neffect = 'deny'\nprogram = '{}'",
            self.0
        ))
        .unwrap();
        let judged = |line: &&str| {
            let request = Request {
                program,
                front: Front::Mcp,
                ..Request::from(Invocation::Line(line))
            };
            (
                (*line).to_owned(),
                judge(&request, &CompiledGate::default(), &policy),
            )
        };
        lines.iter().map(judged).collect()
    }

    /// Asserts that each line is refused, or left to a person.
    pub(super) fn all_are_stopped(&self, program: Option<&str>, lines: &[&str]) {
        let mut passing = self.judged(program, lines);
        passing.retain(|(_, judgement)| {
            let is_asked = judgement.effect == Effect::Confirm && judgement.needs_person;
            judgement.effect != Effect::Deny && !is_asked
        });
        let (count, all) = (passing.len(), lines.len());
        assert!(passing.is_empty(), "{count} of {all}: {passing:#?}");
    }

    /// Asserts that no line is a question.
    pub(super) fn none_is_asked_about(&self, program: Option<&str>, lines: &[&str]) {
        let mut asked = self.judged(program, lines);
        asked.retain(|(_, judgement)| judgement.effect != Effect::Allow);
        assert!(asked.is_empty(), "{asked:#?}");
    }
}
