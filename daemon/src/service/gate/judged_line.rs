//! A typed line, judged, and several of them that are asked about together.

use termd_policy::OnlyOnceReason;
use termd_proto::policy::{Effect, Judgement, Span};

use crate::approval::Subject;

/// The reasons of several lines are joined up to about this many bytes: a person reads them.
const MAX_JOINED_REASON_BYTES: usize = 256;

/// The lines of one call are shown whole up to this many bytes.
const MAX_SHOWN_LINES_BYTES: usize = 2_048;

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

    /// All lines of a call as one, for a question: what is asked about may depend on the others. Beyond a
    /// bound only those are shown that are asked about. `None`: none is.
    pub(super) fn all_joined(lines: &[Self]) -> Option<Self> {
        let is_asked = |line: &&Self| line.judgement.effect == Effect::Confirm;
        let bytes: usize = lines
            .iter()
            .map(|line| line.subject.command.len() + 1)
            .sum();
        // The first lines of a construct stand in the next one, too.
        let is_begun = |(at, line): (usize, &Self)| {
            let next = lines.get(at + 1);
            next.is_some_and(|next| next.subject.command.starts_with(&line.subject.command))
        };
        let shown = lines.iter().enumerate().filter(|(at, line)| {
            is_asked(line) || (bytes <= MAX_SHOWN_LINES_BYTES && !is_begun((*at, line)))
        });
        lines.iter().find(is_asked)?;
        shown.map(|(_, line)| line.clone()).reduce(Self::joined)
    }

    /// This line and the next one of its call, as one. Of a line that is not asked about only the text counts.
    fn joined(mut self, mut next: Self) -> Self {
        for line in [&mut self, &mut next] {
            if line.judgement.effect != Effect::Confirm {
                line.subject.parts.clear();
                line.subject.values.clear();
                line.judgement.reason = None;
                line.judgement.span = None;
            }
        }
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
    let (mut parts, mut values) = (first.parts, first.values);
    parts.extend(next.parts.iter().cloned());
    values.extend(next.values.iter().cloned());
    Subject {
        program,
        cwd: followed_by(&first.cwd, &next.cwd),
        command: format!("{}\n{}", first.command, next.command),
        parts,
        values,
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
