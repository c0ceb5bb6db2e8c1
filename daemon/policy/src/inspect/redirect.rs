//! A redirection that writes.

use termd_proto::policy::{Span, Verdict};

use super::inspection::Inspection;
use crate::danger::writes;
use crate::shell::choices::readings;
use crate::shell::expansion::{Scope, expand};

/// Notes a redirection that writes where it is dangerous.
pub(super) fn inspect_redirect(
    inspection: &mut Inspection,
    operator: &str,
    target: &str,
    span: Span,
) {
    if !operator.contains('>') {
        return;
    }
    let appends = operator.contains(">>");
    let scope = Scope::of(&inspection.state);
    let words = readings(|choices| expand(target, span, scope, choices));
    for word in words.into_iter().flat_map(|(words, _)| words) {
        if let Some(reason) = writes::danger(&word.text, appends) {
            inspection.note(Verdict::Dangerous, reason, span);
        }
    }
}
