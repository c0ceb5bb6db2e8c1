//! Damaged dumps, unfinished sequences, and older dumps.

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
fn a_dump_with_less_scrollback_goes_on_alike() {
    let bounds = || Scrollback::new(10_000, 1 << 22);
    let size = |cols, rows| Size { cols, rows };
    let mut whole = Model::new(size(40, 10), bounds());
    for line in 0..5_000 {
        whole.feed(format!("\x1b[3{}mline {line}\x1b[m of many lines\r\n", line % 8).as_bytes());
    }
    let dump = whole.short_dump(50);
    assert!(dump.len() * 10 < whole.dump().len(), "{}", dump.len());
    let mut short = Model::restored(bounds(), &dump).unwrap();
    assert_eq!(short.lines().len(), 60);
    assert_eq!(short.rows_printed(), whole.rows_printed());
    for model in [&mut short, &mut whole] {
        model.resize(size(60, 50));
        model.feed(b"and one more\r\n");
    }
    for y in 0..50 {
        assert_eq!(short.row_text(y), whole.row_text(y));
    }
    assert_eq!(short.cursor(), whole.cursor());
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

/// Release 0.1.0 wrote this file. A change of the dump's form needs a new `DUMP_VERSION`.
#[test]
fn a_dump_of_version_1_is_still_read() {
    let written = include_bytes!("version_1.bin");
    let output = concat!(
        "\x1b]0;title\x07\x1b[22t\x1b]2;now\x07\x1b]7;file://h/srv\x07\x1b]9;4;1;40\x07",
        "\x1b]4;1;#123456\x07\x1b[#P\x1b]11;#fff\x07\x1b[>5u\x1b[>4;2m\x1b[0#y\x07",
        "\x1b]133;A\x07$ \x1b]133;B\x07make\r\n\x1b]133;C\x07\x1b[1;31mred\x1b[m ",
        "\x1b]8;id=x;http://e/\x07link\x1b]8;;\x07 宽 e\u{301} \x1b[48;2;1;2;3mx\x1b[K\r\n",
        "\x1b[ma long line that wraps over the edge of the screen\r\n\x1b[1#{",
        "\x1b[?7;25;1000s\x1b[?69h\x1b[2;9s\x1b[2;4r\x1b[5;5H\x1b7\x1b[?1049h",
        "\x1b[1\"qfull screen\x1bH\x1b[2;3H\x1b(0lq\x1b[?2l\x1b<\x1b[3",
    );
    let mut model = Model::new(Size { cols: 20, rows: 5 }, bounds());
    model.feed(output.as_bytes());
    let restored = Model::restored(bounds(), written).unwrap();
    assert_eq!(restored.snapshot(), model.snapshot());
    assert_eq!(restored.dump(), written);
}
