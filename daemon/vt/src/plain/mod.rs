//! Plain text of a terminal's output: escape sequences resolved, carriage returns, backspaces and
//! redraws applied, so that a progress bar is its last state.
//!
//! [`PlainText`] is fed raw output and gives text. It keeps a *live region*, the screen's rows (64
//! at the most), in which programs move and redraw as they would on the terminal; a row that leaves
//! it at the top is final and goes to the reader. A line that autowrap spread over several rows is
//! one line of text.
//!
//! **Promises.**
//! - Text without control characters comes out as it came in, byte by byte; CR LF and LF are LF; a
//!   tab that nothing overwrote is a tab; a last line without a newline stays without one.
//! - However the input is cut, the text is the same. No input fails or panics, and memory is bounded
//!   by the screen: strings are not kept, marks on a character are capped.
//! - Nothing is lost by clearing: what ED 2, RIS or ED 0 from a just homed cursor clears stays in
//!   the text, and what follows begins on a new line.
//! - What is drawn on the alternate screen (modes 47, 1047, 1049) is left out; the primary goes on
//!   after it. OSC, DCS, SOS, PM and APC strings are left out, SGR changes nothing.
//! - Blanks at a line's end that were printed stay. Those that only erasing or moving made do not,
//!   and where a line was printed over, spaces at its end do not: programs erase by them.
//!
//! **For a reader who follows** ([`give`](PlainText::give)) each row is given once, and a second
//! time only if it changed after that, as a line of its own:
//! - [`Until::Lines`]: lines that a line feed ended, up to the first over which the cursor was moved
//!   up since it began. From there on the region is being redrawn and is held.
//! - [`Until::Settled`]: all there is, an unfinished last line (a prompt) and held ones included.
//!   What was given is not repeated: if the line goes on, the rest of it follows. If it is redrawn,
//!   it is given again when a line feed has ended it; any other row when it leaves the region.
//! - [`Until::Final`]: nothing follows. What changed since it was given is given again.
//!
//! [`next`](PlainText::next) is the raw offset that a reader goes on from: the start of the first
//! row that was not given, or else the end of what was obeyed, before an unfinished sequence or
//! character. A resolver that was kept goes on exactly; a new one is made by
//! [`resume`](PlainText::resume) from some output before that offset. Not promised after that: that
//! a redraw of rows from before that output is recognised as such.
//!
//! What is not obeyed: origin mode, tab stops other than each eighth, left and right margins, and a
//! bare LF keeps no column (programs with the tty's translation off mean lines by it).
//!
//! Must not know: terminals, offsets' storage, tokio.

mod edit;
mod execute;
mod giver;
mod output;
mod region;
mod row;
mod screen_switch;
mod sequence;
#[cfg(test)]
mod tests;

pub use output::{Anchor, Output};
pub use screen_switch::{first_switch, last_switch};

use region::Region;
use row::RowEnd;
use sequence::Sequences;

/// The terminal's size in character cells: where lines wrap, and how far up a cursor gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainSize {
    /// Columns; fewer than 2 count as 2.
    pub cols: u16,
    /// Rows; 0 counts as 1.
    pub rows: u16,
}

/// How much a reader who follows is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Lines that are ended and not being redrawn.
    Lines,
    /// All there is: the terminal has been quiet.
    Settled,
    /// All there is, and nothing follows.
    Final,
}

/// Which screen is on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Screen {
    /// The one that text is read from.
    #[default]
    Primary,
    /// Full-screen programs'.
    Alternate,
}

/// A character set that G0 or G1 holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Charset {
    #[default]
    Ascii,
    /// DEC special graphics: line drawing.
    Graphics,
}

/// Which of G0 and G1 is in use (SI, SO).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shift {
    #[default]
    G0,
    G1,
}

/// The longest beginning of a character.
const MAX_PART_BYTES: usize = 3;

/// Resolves raw output to plain text.
#[derive(Debug, Clone)]
pub struct PlainText {
    region: Region,
    sequences: Sequences,
    /// The raw offset of the next byte.
    fed: u64,
    /// Where the open sequence began.
    sequence_start: u64,
    /// The beginning of a character that is not all there.
    part: Vec<u8>,
    /// Where that began.
    part_start: u64,
    screen: Screen,
    g0: Charset,
    g1: Charset,
    shift: Shift,
    /// For REP.
    last_printed: Option<char>,
    /// The cursor was moved home by CUP, and nothing was done since.
    just_homed: bool,
}

impl PlainText {
    /// A resolver at the start of a terminal's output.
    pub fn new(size: PlainSize) -> Self {
        Self::at(size, 0, Screen::Primary)
    }

    /// A resolver that begins at this raw offset, on this screen, on an empty line.
    pub fn at(size: PlainSize, offset: u64, screen: Screen) -> Self {
        Self {
            region: Region::new(size, offset),
            sequences: Sequences::default(),
            fed: offset,
            sequence_start: offset,
            part: Vec::new(),
            part_start: offset,
            screen,
            g0: Charset::default(),
            g1: Charset::default(),
            shift: Shift::default(),
            last_printed: None,
            just_homed: false,
        }
    }

    /// From now on [`Output`] has an anchor for every row.
    #[must_use]
    pub fn with_every_anchor(mut self) -> Self {
        self.region.giver.out.every_anchor();
        self
    }

    /// A resolver for a reader who was given everything up to the end of `before`, which is the
    /// output from `offset` on: it knows what stands on the screen, and gives what comes after.
    pub fn resume(size: PlainSize, offset: u64, screen: Screen, before: &[u8]) -> Self {
        Self::resume_after(size, offset, screen, |plain| plain.advance(before))
    }

    /// The same where `feed` is what gives it that output.
    pub fn resume_after(
        size: PlainSize,
        offset: u64,
        screen: Screen,
        feed: impl FnOnce(&mut Self),
    ) -> Self {
        let mut plain = Self::at(size, offset, screen);
        feed(&mut plain);
        plain.region.giver.out.clear();
        let used = plain.region.used();
        let (rows, giver) = plain.region.rows_and_giver();
        let mut above = giver.last_left();
        for (index, row) in rows.iter_mut().enumerate().take(used) {
            row.held = false;
            // An empty last line is one that nothing was given of.
            if index + 1 < used || !row.is_blank() {
                giver.know(row, above, end_of(row.end, index + 1 < used));
            }
            above = Some(row.id);
        }
        plain
    }

    /// Takes another size from here on.
    pub fn resize(&mut self, size: PlainSize) {
        self.region.resize(size);
    }

    /// The size it works at.
    pub fn size(&self) -> PlainSize {
        self.region.size()
    }

    /// Takes output; text that is final for good goes to the sink, in order, once.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(&str)) {
        self.advance(bytes);
        let out = &mut self.region.giver.out;
        if !out.text.is_empty() {
            sink(&out.text);
        }
        out.clear();
    }

    /// Takes output; its text is kept until [`take`](Self::take) or the next [`feed`](Self::feed).
    pub fn advance(&mut self, bytes: &[u8]) {
        self.run(bytes);
    }

    /// What went out since the last call, and where it came from.
    pub fn take(&mut self) -> Output {
        self.region.giver.out.take()
    }

    /// Bytes of text that [`take`](Self::take) would return.
    pub fn waiting(&self) -> usize {
        self.region.giver.out.text.len()
    }

    /// Lines of text that [`take`](Self::take) would return.
    pub fn waiting_lines(&self) -> usize {
        let text = &self.region.giver.out.text;
        text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Gives rows of the live region to a reader who follows.
    pub fn give(&mut self, until: Until) {
        if until == Until::Final {
            self.end_part();
        }
        let cursor = self.region.cursor().row;
        let used = self.region.used();
        let (rows, giver) = self.region.rows_and_giver();
        // On the alternate screen the primary one stands still.
        let until = match (until, self.screen) {
            (Until::Lines, Screen::Alternate) => Until::Settled,
            (until, _) => until,
        };
        let ready = match until {
            Until::Lines => {
                let open = rows.iter().take(cursor).rev();
                cursor - open.take_while(|row| row.end == RowEnd::Wrap).count()
            }
            Until::Settled | Until::Final => used,
        };
        let mut above = giver.last_left();
        for (index, row) in rows.iter_mut().enumerate().take(ready) {
            let end = end_of(row.end, index + 1 < used);
            match until {
                Until::Lines if row.held && row.given.is_none() => break,
                Until::Lines => giver.give_early(row, above, end),
                Until::Settled => {
                    // An empty line is given when something follows it.
                    if index + 1 < used || row.end != RowEnd::Open || !row.is_blank() {
                        giver.give_early(row, above, end);
                    }
                    row.held = false;
                }
                Until::Final => {
                    giver.give_final(row, above, end);
                    row.given = giver.known(row);
                }
            }
            above = Some(row.id);
        }
    }

    /// Where a reader goes on from who was given what this one gave: a raw offset.
    pub fn next(&self) -> u64 {
        let cursor = self.region.cursor().row;
        let rows = self.region.rows().iter().take(self.region.used());
        let waiting = rows
            .enumerate()
            .find(|(index, row)| row.given.is_none() && !(*index >= cursor && row.is_blank()));
        match (waiting, self.screen) {
            (Some((_, row)), Screen::Primary) => row.start.min(self.end()),
            _ => self.end(),
        }
    }

    /// The raw offset of the next byte to be fed.
    pub fn fed(&self) -> u64 {
        self.fed
    }

    /// The raw offset up to which output was obeyed: before an unfinished sequence or character.
    pub fn end(&self) -> u64 {
        if self.sequences.is_ground() {
            self.part_or_fed()
        } else {
            self.sequence_start
        }
    }

    fn part_or_fed(&self) -> u64 {
        if self.part.is_empty() {
            self.fed
        } else {
            self.part_start
        }
    }

    /// So many bytes of output come here that are not this reader's: offsets count them.
    pub fn skip(&mut self, bytes: u64) {
        self.fed += bytes;
    }

    /// The live region's text as it stands: what follows the text that went out so far.
    pub fn pending(&self) -> String {
        self.pending_output().text
    }

    /// As [`pending`](Self::pending), with where it came from.
    pub fn pending_output(&self) -> Output {
        let mut giver = self.region.giver.rest();
        let used = self.region.used();
        let mut above = giver.last_left();
        for (index, row) in self.region.rows().iter().enumerate().take(used) {
            giver.give_final(row, above, end_of(row.end, index + 1 < used));
            above = Some(row.id);
        }
        giver.out
    }

    /// The output is at its end: the rest of the text. A character cut off is a bad one.
    pub fn finish(mut self) -> String {
        self.end_part();
        let mut text = std::mem::take(&mut self.region.giver.out.text);
        text.push_str(&self.pending());
        text
    }
}

/// How a row ended, with others below it or not.
fn end_of(end: RowEnd, has_more_below: bool) -> RowEnd {
    if has_more_below && end == RowEnd::Open {
        RowEnd::Line
    } else {
        end
    }
}
