//! What is refused.

use super::DUMP_VERSION;
use crate::{Model, Scrollback, Size};

fn bounds() -> Scrollback {
    Scrollback::new(100, 1 << 20)
}

#[test]
fn another_version_and_damage_are_refused() {
    let mut model = Model::new(Size { cols: 10, rows: 3 }, bounds());
    model.feed("text 宽 \x1b[1mbold\r\n\r\n\r\n\x1b[".as_bytes());
    let dump = model.dump();
    assert!(Model::restored(bounds(), &dump).is_some());
    let mut other = dump.clone();
    other[5] = DUMP_VERSION + 1;
    assert!(Model::restored(bounds(), &other).is_none());
    for length in 0..dump.len() {
        assert!(Model::restored(bounds(), &dump[..length]).is_none());
    }
    let more = [&dump[..], b"x"].concat();
    assert!(Model::restored(bounds(), &more).is_none());
}

#[test]
fn a_sequence_goes_on_where_it_was_cut() {
    for (first, second) in [
        ("\x1b[1;3", "1mx"),
        ("\x1b]0;ti", "tle\x07x"),
        ("\x1b", "7x"),
        ("\x1b(", "0q\x1b(Bx"),
        ("\x1b/\x07", "Ax"),
        ("\x1b[1\x07", "mx"),
        ("\x1b]8;;http://e/\x1b", "\\x"),
    ] {
        let mut model = Model::new(Size { cols: 10, rows: 3 }, bounds());
        model.feed(first.as_bytes());
        let mut restored = Model::restored(bounds(), &model.dump()).unwrap();
        for model in [&mut model, &mut restored] {
            model.feed(second.as_bytes());
        }
        assert_eq!(restored.snapshot(), model.snapshot(), "{first:?}");
        assert_eq!(restored.row_text(0).chars().last(), Some('x'));
    }
}

#[test]
fn a_string_that_was_too_long_is_still_ignored() {
    let mut model = Model::new(Size { cols: 10, rows: 3 }, bounds());
    model.feed(format!("\x1b]0;{}", "t".repeat(100 << 10)).as_bytes());
    let mut restored = Model::restored(bounds(), &model.dump()).unwrap();
    for model in [&mut model, &mut restored] {
        model.feed(b"\x07");
    }
    assert_eq!(restored.snapshot(), model.snapshot());
}
