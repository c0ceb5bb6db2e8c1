//! A line of termctl's own in the last row of an attached person's tty. The next picture takes it away.

use termd_client::escape::escaped;
use tokio::time::Instant;

use crate::arg_types::Size;

/// The line, and how long it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) until: Instant,
    /// A key takes it away, too.
    pub(crate) ends_by_key: bool,
}

impl Notice {
    /// The bytes that show it on a tty of this size. Cursor and rendition stay as they are.
    pub(crate) fn bytes(&self, size: Size) -> Vec<u8> {
        // A character that is not ASCII may take two columns. A line that wraps would scroll.
        let mut columns = usize::from(size.cols).saturating_sub(1);
        let text: String = escaped(&self.text)
            .chars()
            .take_while(|character| {
                let width = if character.is_ascii() { 1 } else { 2 };
                let fits = columns >= width;
                columns = columns.saturating_sub(width);
                fits
            })
            .collect();
        // DECSC and DECRC around it; within them no origin mode and no other character set.
        let row = size.rows;
        format!("\x1b7\x1b[?6l\x1b[{row};1H\x0f\x1b(B\x1b[0;7m\x1b[2K{text}\x1b[m\x1b8")
            .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_that_fits_and_controls_nothing() {
        let table = [
            ("ctrl-] detaches", 80, "ctrl-] detaches"),
            ("ctrl-] detaches", 7, "ctrl-]"),
            ("\x1b[2J", 80, "\\x1b[2J"),
            ("漢字漢字", 6, "漢字"),
            ("a", 1, ""),
        ];
        for (text, cols, want) in table {
            let notice = Notice {
                text: text.to_owned(),
                until: Instant::now(),
                ends_by_key: true,
            };
            let bytes = String::from_utf8(notice.bytes(Size { cols, rows: 24 })).unwrap();
            let line = bytes.split("\x1b[2K").nth(1).unwrap();
            assert_eq!(line, format!("{want}\x1b[m\x1b8"), "{text:?} on {cols}");
            assert!(bytes.contains("\x1b[24;1H"), "{bytes:?}");
        }
    }
}
