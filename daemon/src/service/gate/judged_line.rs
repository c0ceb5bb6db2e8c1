//! One reading of a typed line, judged.

use termd_policy::OnlyOnceReason;
use termd_proto::policy::Judgement;

use crate::approval::Subject;

/// One reading of a line, judged.
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
}
