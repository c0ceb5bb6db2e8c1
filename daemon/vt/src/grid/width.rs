//! How many columns a character takes.

use std::sync::OnceLock;

use unicode_width::UnicodeWidthChar;

/// Code points below this are in the table; the few above are looked up.
const TABLE_END: usize = 0x2_0000;

/// CJK unified ideographs, which are all wide and take three bytes.
pub(crate) const HAN_FIRST: char = '\u{4e00}';
pub(crate) const HAN_LAST: char = '\u{9fff}';

/// Two bits a code point: 32 KiB in all.
type Table = [u8; TABLE_END / 4];

/// The table of widths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths(&'static Table);

impl Widths {
    /// The table, which is made on first use.
    #[inline]
    pub(crate) fn get() -> Self {
        static TABLE: OnceLock<Box<Table>> = OnceLock::new();
        Self(TABLE.get_or_init(table))
    }

    /// Columns that a character takes: 0, 1 or 2.
    #[inline]
    pub(crate) fn of(self, c: char) -> usize {
        // Han is frequent.
        if let HAN_FIRST..=HAN_LAST = c {
            return 2;
        }
        let code = c as usize;
        match self.0.get(code / 4) {
            Some(four) => usize::from(four >> (code % 4 * 2) & 3),
            None => c.width().unwrap_or(0),
        }
    }
}

/// Columns that a character takes: 0, 1 or 2.
#[inline]
pub(crate) fn width(c: char) -> usize {
    Widths::get().of(c)
}

#[allow(clippy::large_stack_arrays)] // Once, on its way to the heap.
fn table() -> Box<Table> {
    let mut table = Box::new([0; TABLE_END / 4]);
    for c in '\0'..=char::MAX {
        let code = c as usize;
        let Some(four) = table.get_mut(code / 4) else {
            break;
        };
        let width = c.width().unwrap_or(0).min(2);
        *four |= u8::try_from(width).unwrap_or(2) << (code % 4 * 2);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{UnicodeWidthChar, width};

    #[test]
    fn each_character_has_the_width_that_unicode_gives_it() {
        for c in '\0'..=char::MAX {
            assert_eq!(width(c), c.width().unwrap_or(0).min(2), "{c:?}");
        }
    }
}
