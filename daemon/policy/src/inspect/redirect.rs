//! A redirection that writes, and what else writes a file that a text names.

use termd_proto::policy::{Span, Verdict};

use super::inspection::Inspection;
use crate::danger::own_files;
use crate::danger::writes::{self, Files};
use crate::shell::expansion::choices::readings;
use crate::shell::expansion::{Scope, expand};
use crate::shell::word::Word;

/// Notes a redirection that writes where it is dangerous.
pub(super) fn inspect_redirect(
    inspection: &mut Inspection,
    operator: &str,
    target: &str,
    span: Span,
) {
    let reads = operator == "<";
    if !reads && !operator.contains('>') {
        return;
    }
    let appends = operator.contains(">>");
    let scope = Scope::of(&inspection.state);
    let words = readings(|choices| expand(target, span, scope, choices));
    let words = words.into_iter().flat_map(|(words, _)| words);
    let mut words: Vec<Word> = words.collect();
    let links = inspection.written.links();
    let led: Vec<String> = words
        .iter()
        .flat_map(|word| links.targets(&word.path()))
        .collect();
    words.extend(led.iter().map(|path| Word::literal(path, span)));
    for word in words {
        if reads {
            let files = Files::new(inspection.programs.files(), &inspection.state.place);
            let is_secret =
                writes::is_credential(files, &word.text) || writes::is_private(files, &word.text);
            if is_secret {
                inspection.secret_flow.add_read(span);
            }
            continue;
        }
        note_write(inspection, &word, appends, span);
    }
}

/// Notes a file that is written where that is dangerous.
pub(super) fn note_write(inspection: &mut Inspection, word: &Word, appends: bool, span: Span) {
    if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
        inspection.secret_flow.add_send(span);
    }
    let stays =
        !word.text.starts_with(['/', '~']) && !word.text.split('/').any(|part| part == "..");
    let is_device = word.text.starts_with("/dev/") || word.text.starts_with("/tmp/");
    if inspection.asks_unlisted && !stays && !is_device {
        inspection.note_doubt("it writes outside of its directory", span);
    }
    let place = &inspection.state.place;
    if let Some(reason) = own_files::of_target(&inspection.programs, place, word) {
        inspection.note_for_person(reason, span);
    }
    let files = Files::new(inspection.programs.files(), &inspection.state.place);
    if let Some(reason) = writes::danger(files, &word.text, appends) {
        inspection.note(Verdict::Dangerous, reason, span);
    }
}
