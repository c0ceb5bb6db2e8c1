//! Plain text of a stretch of output whose end is known: a command's, or `session.read`'s `until`.
//! Pages join to the text of the whole; the last one has the line that is not ended, too.

use termd_proto::Offset;

use crate::term::plain::PlainText;

/// Which part of the stretch a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// More may follow.
    First,
    /// Nothing follows.
    Last,
}

/// The plain text of a page, and the offset of what is not in it. `resolver` stands at the page's
/// start; at most `max_lines` lines are given.
pub(super) fn page(
    resolver: PlainText,
    bytes: &[u8],
    part: Part,
    max_lines: Option<usize>,
) -> (String, Offset) {
    let mut resolver = resolver.with_every_anchor();
    let start = Offset(resolver.fed());
    resolver.advance(bytes);
    let mut out = resolver.take();
    let mut end = start + bytes.len() as u64;
    let next = Offset(resolver.next());
    if part == Part::Last || next <= start {
        // The end, or one line longer than a page.
        let before = out.text.len();
        let rest = resolver.pending_output();
        out.text.push_str(&rest.text);
        let anchors = rest.anchors.into_iter();
        out.anchors.extend(anchors.map(|mut anchor| {
            anchor.text += before;
            anchor
        }));
        if part == Part::Last {
            // A character that is cut off at the end is a bad one.
            let whole = resolver.finish();
            if let Some(more) = whole.get(rest.text.len()..) {
                out.text.push_str(more);
            }
        }
    } else {
        end = next;
    }
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
