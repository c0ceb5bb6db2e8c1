//! A line of termctl's own in the last row of an attached person's tty. The next picture takes it away.

use std::time::Duration;

use termd_client::escape::escaped;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::arg_types::Size;

/// Longer than a person leaves a line waiting.
const UNTIL_A_KEY: Duration = Duration::from_hours(24);

/// The line, and how long it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) until: Instant,
    pub(crate) kind: NoticeKind,
}

/// What a line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// It tells something.
    Tells,
    /// The same, and a key takes it away.
    Greets,
    /// It waits for a key. Output stands still meanwhile, and does not draw over it.
    Asks,
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

/// The notice that is to be shown. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Notices(watch::Sender<Option<Notice>>);

impl Notices {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Notice>> {
        self.0.subscribe()
    }

    /// Shows a line for a moment.
    pub(crate) fn show(&self, text: String, time: Duration) {
        self.set(text, time, NoticeKind::Tells);
    }

    /// Shows a line for a moment, or until a key is pressed.
    pub(crate) fn show_until_key(&self, text: String, time: Duration) {
        self.set(text, time, NoticeKind::Greets);
    }

    /// Shows a line that waits for a key, until it is [taken](Self::take) away.
    pub(crate) fn ask(&self, text: String) {
        self.set(text, UNTIL_A_KEY, NoticeKind::Asks);
    }

    fn set(&self, text: String, time: Duration, kind: NoticeKind) {
        self.0.send_replace(Some(Notice {
            text,
            until: Instant::now() + time,
            kind,
        }));
    }

    /// Takes away what waits for a key.
    pub(crate) fn answered(&self) {
        self.take_where(|notice| notice.kind == NoticeKind::Asks);
    }

    /// Takes away what a key takes away.
    pub(crate) fn key_pressed(&self) {
        self.take_where(|notice| notice.kind == NoticeKind::Greets);
    }

    /// Takes this line away, unless another one has taken its place.
    pub(crate) fn take(&self, text: &str) {
        self.take_where(|notice| notice.text == text);
    }

    /// Whether this line is shown.
    pub(crate) fn shows(&self, text: &str) -> bool {
        let notice = self.0.borrow();
        notice.as_ref().is_some_and(|notice| notice.text == text)
    }

    fn take_where(&self, is_over: impl Fn(&Notice) -> bool) {
        self.0.send_if_modified(|notice| {
            let ends = notice.as_ref().is_some_and(&is_over);
            if ends {
                *notice = None;
            }
            ends
        });
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
                kind: NoticeKind::Greets,
            };
            let bytes = String::from_utf8(notice.bytes(Size { cols, rows: 24 })).unwrap();
            let line = bytes.split("\x1b[2K").nth(1).unwrap();
            assert_eq!(line, format!("{want}\x1b[m\x1b8"), "{text:?} on {cols}");
            assert!(bytes.contains("\x1b[24;1H"), "{bytes:?}");
        }
    }
}
