//! What a model is shown of a long output: the head as it comes, and at the end the tail, what looks like an
//! error in the part that is left out, and where all of it can be read.
//!
//! These stand last, because a client that cuts the middle of a long text leaves its end.

use std::collections::VecDeque;
use std::fmt::Write as _;

use termd_excerpt::ErrorLines;
use termd_proto::byte_count::bytes;

/// How many bytes of output a byte of its text may take: colours and redraws take most of some.
const BYTES_OF_TEXT: u64 = 16;

/// The excerpt of one stream.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// Names the terminal in the line that says how to read the rest.
    terminal: String,
    /// How many bytes of the head are still to be shown.
    head_left: usize,
    /// Whether the head ends within a line.
    is_in_line: bool,
    /// How many bytes of the tail are kept.
    max_tail: usize,
    /// Whole lines from the end of the output, the last one perhaps unended.
    tail: VecDeque<String>,
    tail_bytes: usize,
    left_out: u64,
    /// How much of that was looked through for errors.
    searched: u64,
    /// How much of it was not read.
    unread: u64,
    /// The lines of the left out part that look like errors.
    errors: ErrorLines,
}

impl Excerpt {
    /// Of an output of which at most `limit` bytes are shown.
    pub(crate) fn new(limit: u64, terminal: &str) -> Self {
        let half = usize::try_from(limit / 2).unwrap_or(usize::MAX);
        Self {
            terminal: terminal.to_owned(),
            head_left: half,
            is_in_line: false,
            max_tail: half,
            tail: VecDeque::new(),
            tail_bytes: 0,
            left_out: 0,
            searched: 0,
            unread: 0,
            errors: ErrorLines::new(half / 2),
        }
    }

    /// Takes more output. Returns what is shown of it now.
    pub(crate) fn push<'a>(&mut self, text: &'a str) -> &'a str {
        let mut cut = text.floor_char_boundary(self.head_left.min(text.len()));
        if cut < text.len()
            && let Some(newline) = text.get(..cut).and_then(|head| head.rfind('\n'))
        {
            cut = newline + 1;
        }
        let (head, rest) = text.split_at(cut);
        if let Some(last) = head.chars().next_back() {
            self.is_in_line = last != '\n';
        }
        self.head_left = if rest.is_empty() {
            self.head_left - cut
        } else {
            0
        };
        for piece in rest.split_inclusive('\n') {
            self.keep(piece);
        }
        head
    }

    /// Whether some of the output is not shown yet.
    pub(crate) fn withholds(&self) -> bool {
        self.tail_bytes > 0 || self.left_out > 0
    }

    /// Counts output that the daemon does not keep any more.
    pub(crate) fn lose(&mut self, bytes: u64) {
        self.left_out += bytes;
    }

    /// How much output surely holds the tail.
    pub(crate) fn bytes_of_tail(&self) -> u64 {
        (self.max_tail as u64).saturating_mul(BYTES_OF_TEXT)
    }

    /// How much of what is left out was looked through for errors.
    pub(crate) fn searched(&self) -> u64 {
        self.searched
    }

    /// Counts output that comes next and is not read. What was the tail is left out.
    pub(crate) fn skip(&mut self, bytes: u64) {
        for line in std::mem::take(&mut self.tail) {
            self.leave_out(&line);
        }
        self.tail_bytes = 0;
        self.left_out += bytes;
        self.unread += bytes;
    }

    fn keep(&mut self, piece: &str) {
        self.tail_bytes += piece.len();
        match self.tail.back_mut().filter(|last| !last.ends_with('\n')) {
            Some(last) => last.push_str(piece),
            None => self.tail.push_back(piece.to_owned()),
        }
        while self.tail_bytes > self.max_tail {
            if let [line] = self.tail.make_contiguous() {
                // Of a line that is longer than the tail the end is kept.
                let cut = line.ceil_char_boundary(line.len() - self.max_tail);
                self.left_out += cut as u64;
                self.searched += cut as u64;
                line.drain(..cut);
                self.tail_bytes -= cut;
                break;
            }
            let Some(first) = self.tail.pop_front() else {
                break;
            };
            self.tail_bytes -= first.len();
            self.leave_out(&first);
        }
    }

    fn leave_out(&mut self, line: &str) {
        self.left_out += line.len() as u64;
        self.searched += line.len() as u64;
        self.errors.feed(line.trim_end_matches(['\n', '\r']));
    }

    /// The end: what is shown beside the head.
    pub(crate) fn finish(self) -> String {
        let tail = String::from_iter(self.tail);
        if self.left_out == 0 {
            return tail;
        }
        let (size, terminal) = (bytes(self.left_out), &self.terminal);
        let line_end = |is_in_line: bool| if is_in_line { "\n" } else { "" };
        let mut text = format!(
            "{}[termd: {size} left out here]\n{tail}{}",
            line_end(self.is_in_line),
            line_end(!tail.is_empty() && !tail.ends_with('\n'))
        );
        let errors = self.errors.finish();
        // Writing to a string does not fail.
        if !errors.is_empty() {
            let _ = writeln!(
                text,
                "[termd: errors in what is left out, by their look:]\n{}",
                errors.trim_end()
            );
        }
        if self.unread > 0 {
            let unread = bytes(self.unread);
            let _ = writeln!(
                text,
                "[termd: {unread} of it were not looked through for errors; `termctl read {terminal} --errors` does that]"
            );
        }
        let _ = writeln!(
            text,
            "[termd: `termctl read {terminal} --grep REGEX` finds lines of the {size} left out]"
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of an output that comes in pieces of this length.
    fn shown(output: &str, piece: usize, limit: u64) -> String {
        let mut excerpt = Excerpt::new(limit, "term_x");
        let mut shown = String::new();
        let mut rest = output;
        while !rest.is_empty() {
            let cut = rest.ceil_char_boundary(piece.min(rest.len()));
            let (now, later) = rest.split_at(cut);
            shown.push_str(excerpt.push(now));
            rest = later;
        }
        shown.push_str(&excerpt.finish());
        shown
    }

    #[test]
    fn a_short_output_is_whole() {
        for output in ["", "one\ntwo", "forty bytes are shown whole, ä as this"] {
            for piece in [1, 7, 100] {
                assert_eq!(shown(output, piece, 40), output);
            }
        }
    }

    #[test]
    fn of_a_long_one_head_errors_and_tail_are_shown() {
        let filler = "some line\n".repeat(10);
        let output = format!("{filler}\nerror: no disk\n\n{filler}");
        for piece in [1, 5, 1_000] {
            assert_eq!(
                shown(&output, piece, 120),
                format!(
                    "{head}\
                     [termd: 97 B left out here]\n\
                     {tail}\
                     [termd: errors in what is left out, by their look:]\n\
                     ... [5 lines left out] ...\n\
                     error: no disk\n\
                     ... [5 lines left out] ...\n\
                     [termd: `termctl read term_x --grep REGEX` finds lines of the 97 B left out]\n",
                    head = "some line\n".repeat(6),
                    tail = "some line\n".repeat(6),
                ),
                "{piece}"
            );
        }
    }

    #[test]
    fn what_is_not_read_is_said() {
        let mut excerpt = Excerpt::new(120, "term_x");
        let head = "some line\n".repeat(6);
        assert_eq!(excerpt.push(&head), head);
        excerpt.push("some line\n");
        excerpt.push("error: early\n");
        excerpt.skip(5_000);
        excerpt.push("late\n");
        assert_eq!(excerpt.searched(), 23);
        assert_eq!(
            excerpt.finish(),
            "[termd: 4.9 KiB left out here]\n\
             late\n\
             [termd: errors in what is left out, by their look:]\n\
             some line\n\
             error: early\n\
             [termd: 4.8 KiB of it were not looked through for errors; `termctl read term_x --errors` does that]\n\
             [termd: `termctl read term_x --grep REGEX` finds lines of the 4.9 KiB left out]\n"
        );
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut excerpt = Excerpt::new(40, "term_x");
        for _ in 0..1_000 {
            excerpt.push("0123456789");
        }
        assert_eq!(excerpt.tail_bytes, 20);
        assert_eq!(
            excerpt.finish(),
            "\n[termd: 9.7 KiB left out here]\n01234567890123456789\n\
             [termd: `termctl read term_x --grep REGEX` finds lines of the 9.7 KiB left out]\n"
        );
    }
}
