//! A redirection that writes.

use termd_proto::policy::{Span, Verdict};

use super::inspection::Inspection;
use crate::danger::writes;
use crate::shell::expansion::expand;

/// Notes a redirection that writes where it is dangerous.
pub(super) fn inspect_redirect(
    inspection: &mut Inspection,
    operator: &str,
    target: &str,
    span: Span,
) {
    if operator == "<" {
        let words = expand(target, span, &inspection.variables, 0);
        let files = inspection.programs.files();
        let reads = words
            .iter()
            .any(|word| writes::is_credential(files, &word.text));
        inspection.reads_secrets |= reads;
        return;
    }
    if !operator.contains('>') {
        return;
    }
    let appends = operator.contains(">>");
    for word in expand(target, span, &inspection.variables, 0) {
        let stays =
            !word.text.starts_with(['/', '~']) && !word.text.split('/').any(|part| part == "..");
        let is_device = word.text.starts_with("/dev/") || word.text.starts_with("/tmp/");
        if inspection.asks_unlisted && !stays && !is_device {
            inspection.note(Verdict::Unknown, "it writes outside of its directory", span);
        }
        if let Some(reason) = writes::danger(inspection.programs.files(), &word.text, appends) {
            inspection.note(Verdict::Dangerous, reason, span);
        }
    }
}
