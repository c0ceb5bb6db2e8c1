//! How the text of a [`StyleRun`] falls into columns, so that every viewer cuts it alike.
//!
//! Pure. Widths are those of Unicode's East Asian Width with ambiguous characters narrow, as xterm
//! has it. A run does not say whether the terminal counted clusters (mode 2027) or characters: its
//! own width decides which reading is right.

use unicode_width::UnicodeWidthChar as _;

use crate::screen::StyleRun;

/// Zero width joiner: what follows it belongs to what is before it.
const ZWJ: char = '\u{200d}';
/// Variation selector 16: the character before it is an emoji, and wide.
const EMOJI_PRESENTATION: char = '\u{fe0f}';

/// Whether a character turns the reading direction of the text around it: Unicode's `Bidi_Control`.
pub fn is_direction_mark(c: char) -> bool {
    matches!(
        c,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// One character as a person sees it, and the columns it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<'a> {
    /// Its first column.
    pub column: u16,
    /// Columns, at least 1.
    pub width: u16,
    /// A character and what combines with it, as it was printed.
    pub text: &'a str,
}

impl<'a> Cell<'a> {
    /// Its characters, safe to show: controls and line separators as U+FFFD, and without the marks
    /// that turn the reading direction (CVE-2021-42574), for a grid is written from left to right.
    pub fn chars(&self) -> impl Iterator<Item = char> + use<'a> {
        self.text.chars().filter_map(|c| match c {
            '\u{2028}' | '\u{2029}' => Some(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => Some(char::REPLACEMENT_CHARACTER),
            c => (!is_direction_mark(c)).then_some(c),
        })
    }

    /// Whether nothing is drawn for it but its background.
    pub fn is_blank(&self) -> bool {
        self.text.chars().all(|c| c == ' ')
    }
}

/// How characters are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joining {
    /// A character with a width begins a cell; those without join it.
    Characters,
    /// Emoji sequences, flags and skin tones are one cell.
    Clusters,
}

/// The cells of a run, from left to right; see [`StyleRun::cells`].
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    rest: &'a str,
    column: u16,
    end: u16,
    joining: Joining,
}

impl StyleRun {
    /// Its cells. Their widths add up to the run's width whatever its text is: what is too much is
    /// left out, and what lacks is blank.
    pub fn cells(&self) -> Cells<'_> {
        let joining = [Joining::Clusters, Joining::Characters]
            .into_iter()
            .find(|&joining| width_of(&self.text, joining) == u64::from(self.width))
            .unwrap_or(Joining::Characters);
        Cells {
            rest: &self.text,
            column: self.column,
            end: self.column.saturating_add(self.width),
            joining,
        }
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        let left = self.end.saturating_sub(self.column);
        if left == 0 {
            return None;
        }
        let (bytes, width) = first_cell(self.rest, self.joining);
        let (text, rest) = self.rest.split_at(bytes);
        // Text that has ended, or a wide character that does not fit.
        let (text, width) = match width {
            0 => (" ", 1),
            width if width > left => (" ", left),
            width => (text, width),
        };
        self.rest = rest;
        let column = self.column;
        self.column = column.saturating_add(width);
        Some(Cell {
            column,
            width,
            text,
        })
    }
}

fn width_of(text: &str, joining: Joining) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    let mut rest = text;
    let mut sum = 0;
    while !rest.is_empty() {
        let (bytes, width) = first_cell(rest, joining);
        rest = rest.get(bytes..).unwrap_or_default();
        sum += u64::from(width);
    }
    sum
}

/// Bytes and columns of the first cell; no columns where there is none.
fn first_cell(text: &str, joining: Joining) -> (usize, u16) {
    let mut width = 0;
    let mut before = None;
    let mut flag_is_whole = false;
    for (at, c) in text.char_indices() {
        let own = column_count(c);
        let joins = match (joining, before) {
            _ if width == 0 || own == 0 => true,
            (Joining::Clusters, Some(ZWJ)) => true,
            (Joining::Clusters, Some(before)) => {
                is_skin_tone(c) || (is_flag_letter(before) && is_flag_letter(c) && !flag_is_whole)
            }
            _ => false,
        };
        if !joins {
            return (at, width);
        }
        flag_is_whole = before.is_some_and(is_flag_letter) && is_flag_letter(c);
        width = match joining {
            Joining::Clusters if c == EMOJI_PRESENTATION || flag_is_whole => 2,
            _ => width.max(own),
        };
        before = Some(c);
    }
    (text.len(), width)
}

/// Columns of one character by itself; a control character is one, and is not shown as what it is.
fn column_count(c: char) -> u16 {
    match c.width() {
        Some(0) => 0,
        Some(2..) => 2,
        Some(1) | None => 1,
    }
}

/// A regional indicator: two of them are a flag.
fn is_flag_letter(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

/// An emoji modifier (UTS #51).
fn is_skin_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Style;

    fn cells(text: &str, width: u16) -> Vec<(u16, u16, String)> {
        let run = StyleRun {
            column: 3,
            width,
            text: text.to_owned(),
            style: Style::default(),
        };
        run.cells()
            .map(|cell| (cell.column, cell.width, cell.text.to_owned()))
            .collect()
    }

    #[test]
    fn text_falls_into_columns() {
        type Want = &'static [(u16, u16, &'static str)];
        const FAMILY: &str = "👨\u{200d}👩";
        let table: [(&str, u16, Want); 13] = [
            ("ab", 2, &[(3, 1, "a"), (4, 1, "b")]),
            ("漢x", 3, &[(3, 2, "漢"), (5, 1, "x")]),
            ("e\u{301}x", 2, &[(3, 1, "e\u{301}"), (4, 1, "x")]),
            ("\u{301}x", 1, &[(3, 1, "\u{301}x")]),
            // By characters, and by clusters, as the run is wide.
            (FAMILY, 4, &[(3, 2, "👨\u{200d}"), (5, 2, "👩")]),
            (FAMILY, 2, &[(3, 2, FAMILY)]),
            ("❤\u{fe0f}", 1, &[(3, 1, "❤\u{fe0f}")]),
            ("❤\u{fe0f}", 2, &[(3, 2, "❤\u{fe0f}")]),
            ("🇩🇪🇫🇷", 4, &[(3, 2, "🇩🇪"), (5, 2, "🇫🇷")]),
            ("👍🏽", 2, &[(3, 2, "👍🏽")]),
            // Runs that contradict themselves.
            ("a", 3, &[(3, 1, "a"), (4, 1, " "), (5, 1, " ")]),
            ("abc", 2, &[(3, 1, "a"), (4, 1, "b")]),
            ("a漢", 2, &[(3, 1, "a"), (4, 1, " ")]),
        ];
        for (text, width, want) in table {
            let got = cells(text, width);
            let got: Vec<_> = got.iter().map(|(c, w, t)| (*c, *w, t.as_str())).collect();
            assert_eq!(got, want, "{text:?} in {width}");
        }
    }

    #[test]
    fn widths_add_up_whatever_the_text() {
        let pieces = [
            "a",
            "漢",
            "\u{301}",
            "\u{200d}",
            "🇩",
            "\u{1b}",
            "❤\u{fe0f}",
            "\u{202e}",
        ];
        for seed in 0_u64..4_000 {
            let mut state = seed;
            let mut text = String::new();
            for _ in 0..seed % 9 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(pieces[(state >> 40) as usize % pieces.len()]);
            }
            for width in [0_u16, 1, 2, 5, 12] {
                let sum: u16 = cells(&text, width).iter().map(|cell| cell.1).sum();
                assert_eq!(sum, width, "{text:?}");
            }
        }
    }

    #[test]
    fn nothing_that_controls_is_shown() {
        let text: String = ('\0'..='\u{ffff}').collect();
        let cell = Cell {
            column: 0,
            width: 1,
            text: &text,
        };
        let bad = |c: char| {
            c.is_control()
                || matches!(c, '\u{200e}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!cell.chars().any(bad));
        assert!(cell.chars().any(|c| c == ZWJ));
    }
}
