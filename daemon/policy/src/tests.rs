//! The gate, by tables: texts and what they are.

mod agent_line;
mod agents_days;
mod approved;
mod code;
mod code_values;
mod corpus;
mod daemon;
mod dangerous_commands;
mod decisions;
mod deny;
mod forbidden;
mod layers;
mod line_discipline;
mod lines;
mod may_fit;
mod parameters;
mod place;
mod programs;
mod properties;
mod rules;
mod safe;
mod table;
mod typed;
mod typed_ahead;
mod unended;
mod unread;
mod variables;
mod work;
mod wrappers;
mod written;

use termd_proto::policy::{Judgement, Verdict};
use termd_proto::terminal::Front;

use crate::{CompiledGate, Invocation, Policy, Request, judge};

/// What a line of an agent's for a program is; `None`: a shell.
fn judged(line: &str, program: Option<&str>) -> Judgement {
    let request = Request {
        invocation: Invocation::Line(line),
        program,
        front: Front::Mcp,
        client: None,
        uid: None,
        cwd: None,
        env: &[],
    };
    judge(&request, &CompiledGate::default(), &Policy::default())
}

/// Judges every line, and names all that are not what they should be.
fn all_are(verdict: Verdict, program: Option<&str>, lines: &[&str]) {
    let wrong: Vec<String> = lines
        .iter()
        .map(|line| (line, judged(line, program)))
        .filter(|(_, judgement)| judgement.verdict != verdict)
        .map(|(line, judgement)| {
            let reason = judgement.reason.unwrap_or_default();
            format!("{line:?} is {:?} ({reason})", judgement.verdict)
        })
        .collect();
    assert!(wrong.is_empty(), "not {verdict:?}:\n{}", wrong.join("\n"));
}
