//! Plain text of a terminal's output. Escape sequences, carriage returns, backspaces and redraws
//! are resolved, so a progress bar is its last state.
//!
//! [`PlainText`] is fed raw output and emits text. It keeps a *live region*: the rows of the
//! screen, at most 64, in which programs move and redraw as on a terminal. A row that leaves the
//! region at the top is final. A line that autowrap spread over several rows is one line of text.
//!
//! **Promises.**
//! - Text without control characters comes out byte by byte as it came in. CR LF and LF become LF;
//!   a tab that nothing overwrote stays a tab; a last line without a newline stays without one.
//! - The text does not depend on how the input is cut. No input fails or panics. Memory is bounded
//!   by the screen: strings are not kept, and marks on a character are limited.
//! - Clearing loses nothing. What ED 2, RIS, or ED 0 right after a move home clears stays in the
//!   text, and what follows begins on a new line.
//! - The alternate screen (modes 47, 1047, 1049) is left out; the primary screen goes on after it.
//!   OSC, DCS, SOS, PM and APC strings are left out. SGR changes nothing, but where
//!   [styles](Styles) are kept.
//! - Blanks at a line's end that were printed stay. Blanks that only erasing or moving made do not;
//!   nor do spaces at the end of a line that was printed over, as programs erase with them.
//!
//! **A reader who follows** calls [`give`](PlainText::give) and gets each row once. A row that
//! changes after that comes a second time, as a line of its own:
//! - [`Until::Lines`]: lines that a line feed ended, up to the first line that the cursor was moved
//!   up over. From there on the region is being redrawn and is withheld.
//! - [`Until::Settled`]: everything, with an unfinished last line (a prompt) and withheld lines. If
//!   that line goes on, only its rest follows. If it is redrawn, it comes again when a line feed
//!   has ended it; any other row when it leaves the region.
//! - [`Until::Final`]: everything, and nothing follows. What changed since it came comes again.
//!
//! [`next`](PlainText::next) is the raw offset at which a reader continues: the start of the first
//! row that the reader does not have, or the end of what was processed. A `PlainText` that was kept
//! continues exactly. [`resume`](PlainText::resume) makes a new one from some output before that
//! offset; it may not recognise a redraw of rows from before that output.
//!
//! Not supported: origin mode, tab stops other than each eighth, left and right margins. A bare LF
//! goes to the first column, as programs that switch the tty's translation off mean lines by it.
//!
//! **Invariant:** it knows neither terminals nor where output is stored.

mod dump;
mod edit;
mod emitter;
mod execute;
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

/// The terminal's size in character cells. It decides where lines wrap, and how far up the cursor
/// moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainSize {
    /// Columns; fewer than 2 count as 2.
    pub cols: u16,
    /// Rows; 0 counts as 1.
    pub rows: u16,
}

/// How much a reader who follows gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Lines that have ended and are not being redrawn.
    Lines,
    /// Everything: the terminal is quiet.
    Settled,
    /// Everything, and nothing follows.
    Final,
}

/// Whether text has its styles, as SGR sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Styles {
    /// SGR changes nothing.
    #[default]
    Dropped,
    /// Each line begins and ends in the default style. Text that is hidden (SGR 8) is shown.
    Kept,
}

/// Which of a terminal's two screens is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Screen {
    /// The screen that text is read from.
    #[default]
    Primary,
    /// The screen of full-screen programs.
    Alternate,
}

/// A character set in G0 or G1.
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

/// The longest unfinished character.
const MAX_PART_BYTES: usize = 3;

/// Turns raw output into plain text. See the [module](self).
#[derive(Debug, Clone)]
pub struct PlainText {
    region: Region,
    sequences: Sequences,
    /// The raw offset of the next byte.
    fed: u64,
    /// Where the unfinished sequence began.
    sequence_start: u64,
    /// The unfinished character.
    part: Vec<u8>,
    /// Where the unfinished character began.
    part_start: u64,
    screen: Screen,
    g0: Charset,
    g1: Charset,
    shift: Shift,
    /// For REP.
    last_printed: Option<char>,
    /// CUP has moved the cursor home, and nothing was done since.
    just_homed: bool,
}

impl PlainText {
    /// Begins at the start of a terminal's output.
    pub fn new(size: PlainSize) -> Self {
        Self::at(size, 0, Screen::Primary)
    }

    /// Begins at this raw offset, on this screen, on an empty line.
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

    /// Makes [`Output`] have an anchor for every row from now on.
    #[must_use]
    pub fn with_every_anchor(mut self) -> Self {
        self.region.emitter.out.every_anchor();
        self
    }

    /// Keeps or drops styles from now on.
    #[must_use]
    pub fn with_styles(mut self, styles: Styles) -> Self {
        self.region.styles = styles;
        self
    }

    /// Whether styles are kept.
    pub fn styles(&self) -> Styles {
        self.region.styles
    }

    /// Begins for a reader who has everything up to the end of `before`, which is the output from
    /// `offset` on. It knows what is on the screen, and emits what comes after.
    pub fn resume(size: PlainSize, offset: u64, screen: Screen, before: &[u8]) -> Self {
        Self::at(size, offset, screen).resumed(|plain| plain.advance(before))
    }

    /// Begins for a reader who has everything up to the end of what `feed` feeds.
    #[must_use]
    pub fn resumed(self, feed: impl FnOnce(&mut Self)) -> Self {
        let mut plain = self;
        feed(&mut plain);
        plain.region.emitter.out.clear();
        let used = plain.region.used();
        let (rows, emitter) = plain.region.rows_and_giver();
        let mut above = emitter.last_left();
        for (index, row) in rows.iter_mut().enumerate().take(used) {
            row.held = false;
            // Nothing was emitted of an empty last line.
            if index + 1 < used || !row.is_blank() {
                emitter.know(row, above, end_of(row.end, index + 1 < used));
            }
            above = Some(row.id);
        }
        plain
    }

    /// Takes another size. Rows stay as they are.
    pub fn resize(&mut self, size: PlainSize) {
        self.region.resize(size);
    }

    /// Returns the size.
    pub fn size(&self) -> PlainSize {
        self.region.size()
    }

    /// Takes output. Text that is final goes to `sink`, in order and once.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl FnMut(&str)) {
        self.advance(bytes);
        let out = &mut self.region.emitter.out;
        if !out.text.is_empty() {
            sink(&out.text);
        }
        out.clear();
    }

    /// Takes output. Its text is kept until [`take`](Self::take) or the next [`feed`](Self::feed).
    pub fn advance(&mut self, bytes: &[u8]) {
        self.run(bytes);
    }

    /// Returns the text that is ready since the last call, and where it came from.
    pub fn take(&mut self) -> Output {
        self.region.emitter.out.take()
    }

    /// Returns how many bytes of text [`take`](Self::take) would return.
    pub fn waiting(&self) -> usize {
        self.region.emitter.out.text.len()
    }

    /// Whether the text that [`take`](Self::take) would return ends with a whole line, or is empty.
    pub fn waits_with_whole_lines(&self) -> bool {
        let text = &self.region.emitter.out.text;
        text.is_empty() || text.ends_with('\n')
    }

    /// Returns how many lines of text [`take`](Self::take) would return.
    pub fn waiting_lines(&self) -> usize {
        let text = &self.region.emitter.out.text;
        text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Emits rows of the live region for a reader who follows.
    pub fn give(&mut self, until: Until) {
        if until == Until::Final {
            self.end_part();
        }
        let cursor = self.region.cursor().row;
        let used = self.region.used();
        let (rows, emitter) = self.region.rows_and_giver();
        // While the alternate screen is shown, the primary one stands still.
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
        let mut above = emitter.last_left();
        for (index, row) in rows.iter_mut().enumerate().take(ready) {
            let end = end_of(row.end, index + 1 < used);
            match until {
                Until::Lines if row.held && row.emitted.is_none() => break,
                Until::Lines => emitter.emit_early(row, above, end),
                Until::Settled => {
                    // An empty line is emitted when something follows it.
                    if index + 1 < used || row.end != RowEnd::Open || !row.is_blank() {
                        emitter.emit_early(row, above, end);
                    }
                    row.held = false;
                }
                Until::Final => {
                    emitter.emit_final(row, above, end);
                    row.emitted = emitter.known(row);
                }
            }
            above = Some(row.id);
        }
    }

    /// Returns the raw offset at which a reader continues who has what was emitted here.
    pub fn next(&self) -> u64 {
        let cursor = self.region.cursor().row;
        let rows = self.region.rows().iter().take(self.region.used());
        let waiting = rows
            .enumerate()
            .find(|(index, row)| row.emitted.is_none() && !(*index >= cursor && row.is_blank()));
        match (waiting, self.screen) {
            (Some((_, row)), Screen::Primary) => row.start.min(self.end()),
            _ => self.end(),
        }
    }

    /// Returns the raw offset of the next byte to be fed.
    pub fn fed(&self) -> u64 {
        self.fed
    }

    /// Returns the raw offset up to which output was processed: before an unfinished sequence or
    /// character.
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

    /// Skips output that this reader does not need, but that offsets count.
    pub fn skip(&mut self, bytes: u64) {
        self.fed += bytes;
    }

    /// Returns the text of the live region, which follows what was emitted so far.
    pub fn pending(&self) -> String {
        self.pending_output().text
    }

    /// As [`pending`](Self::pending), with where the text came from.
    pub fn pending_output(&self) -> Output {
        let mut emitter = self.region.emitter.rest();
        let used = self.region.used();
        let mut above = emitter.last_left();
        for (index, row) in self.region.rows().iter().enumerate().take(used) {
            emitter.emit_final(row, above, end_of(row.end, index + 1 < used));
            above = Some(row.id);
        }
        emitter.out
    }

    /// Ends the output and returns the rest of the text. An unfinished character becomes U+FFFD.
    pub fn finish(mut self) -> String {
        self.end_part();
        let mut text = std::mem::take(&mut self.region.emitter.out.text);
        text.push_str(&self.pending());
        text
    }
}

/// How a row ended, with or without rows below it.
fn end_of(end: RowEnd, has_more_below: bool) -> RowEnd {
    if has_more_below && end == RowEnd::Open {
        RowEnd::Line
    } else {
        end
    }
}
