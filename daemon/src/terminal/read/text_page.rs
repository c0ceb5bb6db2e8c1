//! Plain text of a stretch of output whose end is known: a command's, or `session.read`'s `until`.
//! Pages join to the text of the whole; the last one has the line that is not ended, too.

use termd_proto::Offset;

use termd_vt::plain::{PlainText, Until};

/// Which part of the stretch a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// More may follow.
    First,
    /// Nothing follows.
    Last,
}

/// The plain text of a page, and the offset of what is not in it. `resolver` stands at the page's
/// start; at most `max_lines` lines are given.
pub(crate) fn page(
    resolver: PlainText,
    bytes: &[u8],
    part: Part,
    max_lines: Option<usize>,
) -> (String, Offset) {
    let mut resolver = resolver.with_every_anchor();
    let start = Offset(resolver.fed());
    resolver.advance(bytes);
    let mut end = start + bytes.len() as u64;
    resolver.give(match part {
        Part::First => Until::Lines,
        Part::Last => Until::Final,
    });
    let next = Offset(resolver.next());
    if part == Part::First && next > start {
        end = next;
    } else if part == Part::First {
        // One line longer than a page.
        resolver.give(Until::Settled);
    }
    let mut out = resolver.take();
    let Some(lines) = max_lines else {
        return (out.text, end);
    };
    let newlines = out.text.match_indices('\n').map(|(at, _)| at + 1);
    let cut = match lines.checked_sub(1) {
        None => Some(0),
        Some(nth) => newlines.into_iter().nth(nth),
    };
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
