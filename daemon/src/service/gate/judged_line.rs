//! A typed line, judged, and several of them that are asked about together.

use termd_policy::OnlyOnceReason;
use termd_proto::policy::{Judgement, Span};

use crate::approval::Subject;

/// The reasons of several lines are joined up to about this many bytes: a person reads them.
const MAX_JOINED_REASON_BYTES: usize = 256;

/// One reading of a line, judged.
#[derive(Clone)]
pub(super) struct JudgedLine<'a> {
    pub(super) program: Option<&'a str>,
    pub(super) judgement: Judgement,
    pub(super) subject: Subject,
    /// Whether a person's denial of it holds.
    pub(super) is_denied: bool,
    pub(super) only_once: OnlyOnceReason,
}

impl JudgedLine<'_> {
    /// The reading of which less may run. Where only a person can agree to one of them, it is so for both.
    pub(super) fn stricter(self, other: Self) -> Self {
        let needs_person = self.judgement.needs_person || other.judgement.needs_person;
        let strictness = |line: &Self| {
            let judgement = &line.judgement;
            (judgement.effect, line.is_denied, judgement.verdict)
        };
        let mut line = if strictness(&other) > strictness(&self) {
            other
        } else {
            self
        };
        line.judgement.needs_person = needs_person;
        line
    }

    /// This line and the next one of its call that is asked about, as one.
    pub(super) fn joined(self, mut next: Self) -> Self {
        let subject = joined_subjects(self.subject.clone(), &next.subject);
        let reason = joined_reasons(&self.judgement, &next.judgement);
        let begins_at = self.subject.command.len() + 1;
        next.judgement.span = next.judgement.span.map(|span| Span {
            start: begins_at + span.start,
            end: begins_at + span.end,
        });
        let mut line = self.stricter(next);
        line.subject = subject;
        line.judgement.reason = reason;
        line
    }
}

/// Both lines, in their order. The lines before the last one include the first.
fn joined_subjects(first: Subject, next: &Subject) -> Subject {
    let program = match (&first.program, &next.program) {
        (Some(program), Some(next)) => Some(followed_by(program, next)),
        (first, next) => first.clone().or_else(|| next.clone()),
    };
    let mut parts = first.parts;
    parts.extend(next.parts.iter().cloned());
    Subject {
        program,
        cwd: followed_by(&first.cwd, &next.cwd),
        command: format!("{}\n{}", first.command, next.command),
        parts,
        earlier_sha256: next.earlier_sha256.clone(),
        ..first
    }
}

/// Where or by whom the lines are read, one after the other, for a person.
fn followed_by(first: &str, next: &str) -> String {
    let then = format!(", then {next}");
    if first == next || first.ends_with(&then) {
        first.to_owned()
    } else {
        format!("{first}{then}")
    }
}

fn joined_reasons(first: &Judgement, next: &Judgement) -> Option<String> {
    match (&first.reason, &next.reason) {
        (Some(reason), Some(next))
            if !reason.contains(next.as_str()) && reason.len() < MAX_JOINED_REASON_BYTES =>
        {
            Some(format!("{reason}; {next}"))
        }
        (first, next) => first.clone().or_else(|| next.clone()),
    }
}
