//! The text that a terminal shows at one moment.

use super::terminal::Exit;

/// Most text that is shown, in bytes: many screens, and still cheap to send whole ten times a second.
pub(crate) const MAX_VIEW_BYTES: usize = 64 << 10;

/// A terminal at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    /// The end of the output as plain text.
    pub(crate) text: String,
    /// About how many bytes of output precede the text. Output that was read is counted as text,
    /// without its escape sequences.
    pub(crate) left_out: u64,
    pub(crate) life: Life,
}

/// Whether a terminal's command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Life {
    Running,
    /// The command has ended; how, if that is known. The text holds the end of the output.
    Over(Option<Exit>),
}

impl View {
    /// Cuts text that was made of the output from offset `start` on to a view.
    pub(crate) fn of(text: String, start: u64, life: Life) -> Self {
        let mut view = Self {
            text,
            left_out: start,
            life,
        };
        let excess = view.text.len().saturating_sub(MAX_VIEW_BYTES);
        if excess > 0 || start > 0 {
            let cut = line_start(&view.text, excess);
            view.text.drain(..cut);
            view.left_out += cut as u64;
        }
        view
    }
}

/// Finds the first whole line at or after an offset, or the first character if there is no line.
fn line_start(text: &str, from: usize) -> usize {
    // A line also starts at the offset if a line ends just before it.
    let search = text.floor_char_boundary(from.saturating_sub(1));
    let rest = text.get(search..).unwrap_or_default();
    match rest.find('\n').map(|at| search + at + 1) {
        Some(start) if start < text.len() => start,
        _ => text.ceil_char_boundary(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_shown_from_a_lines_start_on() {
        let line = "0123456789abcde\n";
        let count = MAX_VIEW_BYTES / line.len();
        let view = |text: String, start| View::of(text, start, Life::Running);
        // All of it fits.
        let whole = view(line.repeat(count), 0);
        assert_eq!((whole.text.len(), whole.left_out), (MAX_VIEW_BYTES, 0));
        // One line too many: exactly that is left out.
        let cut = view(line.repeat(count + 1), 0);
        assert_eq!((cut.text, cut.left_out), (line.repeat(count), 16));
        // A byte too many: a whole line is left out.
        let cut = view(format!("{}x", line.repeat(count)), 0);
        assert_eq!(cut.text, format!("{}x", line.repeat(count - 1)));
        // It begins within a line.
        let cut = view(format!("rest\n{line}"), 100);
        assert_eq!((cut.text.as_str(), cut.left_out), (line, 105));
        // One line of more than that: cut between characters.
        let cut = view("é".repeat(MAX_VIEW_BYTES), 0);
        assert_eq!(cut.text, "é".repeat(MAX_VIEW_BYTES / 2));
        assert_eq!(cut.left_out, MAX_VIEW_BYTES as u64);
        // Its only line, of which the beginning is gone.
        let cut = view("a rest\n".to_owned(), 3);
        assert_eq!((cut.text.as_str(), cut.left_out), ("a rest\n", 3));
    }
}
