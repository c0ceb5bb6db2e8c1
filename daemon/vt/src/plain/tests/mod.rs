//! Plain text of given input, and properties for any input.

#![allow(clippy::format_collect, clippy::format_push_string)] // Inputs: nobody waits for them.

mod following;
mod programs;
mod properties;
mod screen;
mod styles;

use super::{PlainSize, PlainText};

/// The usual size.
const SIZE: PlainSize = PlainSize { cols: 80, rows: 24 };

fn text_at(size: PlainSize, raw: &[u8]) -> String {
    let mut plain = PlainText::new(size);
    let mut text = String::new();
    plain.feed(raw, &mut |part| text.push_str(part));
    text + &plain.finish()
}

fn text(raw: &str) -> String {
    text_at(SIZE, raw.as_bytes())
}

fn check(table: &[(&str, &str)]) {
    for (raw, want) in table {
        assert_eq!(text(raw), *want, "{raw:?}");
    }
}
