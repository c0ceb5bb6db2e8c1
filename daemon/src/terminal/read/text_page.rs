//! A page of plain text from a range whose end is known: a command's output, or what
//! `session.read` with `until` reads. Pages join to the text of the whole range; the last page has an
//! unfinished line, too.

use termd_proto::Offset;
use termd_vt::plain::{PlainText, Until};

use super::text::{Completeness, after_lines};

/// The plain text of a page, and the offset that the next page begins at. `resolver` stands at the
/// page's start. At most `max_lines` lines are given.
pub(crate) fn text_page(
    resolver: PlainText,
    bytes: &[u8],
    completeness: Completeness,
    max_lines: Option<u64>,
) -> (String, Offset) {
    let mut resolver = resolver.with_every_anchor();
    let start = Offset(resolver.fed());
    resolver.advance(bytes);
    let mut end = start + bytes.len() as u64;
    resolver.give(match completeness {
        Completeness::MayGrow => Until::Lines,
        Completeness::Final => Until::Final,
    });
    if completeness == Completeness::MayGrow {
        let next = Offset(resolver.next());
        if next > start {
            end = next;
        } else {
            // One line is longer than a page.
            resolver.give(Until::Settled);
        }
    }
    let mut out = resolver.take();
    let cut = max_lines.and_then(|lines| after_lines(out.text.as_bytes(), lines));
    match cut {
        Some(0) => (String::new(), start),
        Some(cut) if cut < out.text.len() => {
            let behind = out.anchors.iter().find(|anchor| anchor.text >= cut);
            let behind = behind.map_or(end, |anchor| Offset(anchor.raw));
            out.text.truncate(cut);
            (out.text, behind)
        }
        _ => (out.text, end),
    }
}
