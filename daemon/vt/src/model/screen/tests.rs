//! The output screen of some bytes.

use termd_proto::screen::{
    Color, CommandState, CursorShape, LineSize, MouseEncoding, MouseMode, Screen, ScreenRow,
    ScreenRows, Style, StyleRun, Underline,
};

use crate::{Model, Scrollback, Size};

fn fed(cols: usize, rows: usize, input: &str) -> Model {
    let mut model = Model::new(Size { cols, rows }, Scrollback::new(100, 1 << 20));
    model.feed(input.as_bytes());
    model
}

fn screen(input: &str) -> Screen {
    fed(10, 3, input).screen(ScreenRows::default())
}

fn run(column: u16, width: u16, text: &str, style: Style) -> StyleRun {
    StyleRun {
        column,
        width,
        text: text.to_owned(),
        style,
    }
}

fn plain(column: u16, width: u16, text: &str) -> StyleRun {
    run(column, width, text, Style::default())
}

#[test]
fn cells_of_one_style_are_one_run() {
    let red = Style {
        foreground: Color::Indexed(1),
        ..Style::default()
    };
    let painted = Style {
        background: Color::Rgb(1, 2, 3),
        ..Style::default()
    };
    let decorated = Style {
        bold: true,
        italic: true,
        blink: true,
        overline: true,
        underline: Underline::Curly,
        underline_color: Color::Indexed(3),
        ..Style::default()
    };
    let linked = Style {
        hyperlink: Some("http://a".to_owned()),
        ..Style::default()
    };
    let table: &[(&str, Vec<StyleRun>)] = &[
        ("", vec![]),
        ("ab", vec![plain(0, 2, "ab")]),
        ("ab   ", vec![plain(0, 5, "ab   ")]),
        ("\x1b[4Gab", vec![plain(0, 5, "   ab")]),
        (
            "a\x1b[31mb\x1b[mc",
            vec![plain(0, 1, "a"), run(1, 1, "b", red), plain(2, 1, "c")],
        ),
        ("a字b", vec![plain(0, 4, "a字b")]),
        ("e\u{301}x", vec![plain(0, 2, "e\u{301}x")]),
        // Blanks with a background are no default blanks.
        (
            "a\x1b[48;2;1;2;3m\x1b[K",
            vec![plain(0, 1, "a"), run(1, 9, "         ", painted)],
        ),
        (
            "\x1b[1;3;6;53;4:3;58;5;3mx",
            vec![run(0, 1, "x", decorated)],
        ),
        (
            "\x1b]8;;http://a\x07xy\x1b]8;;\x07z",
            vec![run(0, 2, "xy", linked), plain(2, 1, "z")],
        ),
    ];
    for (input, want) in table {
        let got = screen(input);
        assert_eq!(got.lines[0].runs, *want, "{input:?}");
        assert_eq!(got.lines.len(), 3);
    }
}

#[test]
fn runs_leave_no_gaps() {
    let input = "\x1b[31ma\x1b[5G字\x1b[41m x\x1b[9G\x1b[K";
    let row = &screen(input).lines[0];
    let mut next = 0;
    for run in &row.runs {
        assert_eq!(run.column, next);
        next += run.width;
    }
    assert_eq!(next, 10);
}

#[test]
fn a_screen_has_titles_modes_and_shell_state() {
    let got = screen("");
    assert!(!got.full_screen && !got.alternate && got.cursor.visible && got.modes.autowrap);
    assert_eq!((got.cols, got.rows, got.bells), (10, 3, 0));
    assert_eq!(got.command_state, CommandState::Unknown);
    let input = concat!(
        "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h\x1b[?2026h\x1b[?5h\x1b[?7l\x1b[4h",
        "\x1b[20h\x1b[>5u\x1b[>4;2m\x1b[?25l\x1b[3 q\x07\x07\x1b]2;T\x07\x1b]7;file://h/d\x07",
        "\x1b]133;C\x07\x1b#6abcdefgh",
    );
    let got = screen(input);
    assert_eq!(got.end.0, input.len() as u64);
    assert!(got.full_screen && !got.alternate);
    assert_eq!((got.title.as_str(), got.cwd.as_deref()), ("T", Some("/d")));
    assert_eq!((got.bells, got.command_state), (2, CommandState::Running));
    let modes = got.modes;
    assert!(modes.application_cursor_keys && modes.application_keypad && modes.bracketed_paste);
    assert!(modes.focus_events && modes.synchronized_output && modes.reverse_video);
    assert!(!modes.autowrap && modes.insert && modes.line_feed_new_line);
    assert_eq!(
        (modes.mouse, modes.mouse_encoding),
        (MouseMode::Button, MouseEncoding::Sgr)
    );
    assert_eq!((modes.kitty_keyboard, modes.modify_other_keys), (5, 2));
    assert!(!got.cursor.visible && got.cursor.blinking);
    assert_eq!(got.cursor.shape, CursorShape::Underline);
    assert_eq!(got.lines[0].size, LineSize::DoubleWidth);
    let got = screen("0123456789");
    assert!(got.cursor.wrap_pending && !got.lines[0].wrapped);
    let got = screen("0123456789a\x1b[?1049h");
    assert!(got.alternate && got.full_screen && got.lines[0].runs.is_empty());
    assert!(screen("0123456789a").lines[0].wrapped);
}

fn numbers(rows: &[ScreenRow]) -> Vec<i64> {
    rows.iter().map(|row| row.row).collect()
}

#[test]
fn rows_by_number() {
    let model = fed(10, 3, "a\r\nb\r\nc\r\n\x1b[31md\r\ne");
    let rows = |from_row, to_row| {
        let options = ScreenRows {
            from_row,
            to_row,
            ..ScreenRows::default()
        };
        model.screen(options).lines
    };
    assert_eq!(numbers(&rows(None, None)), [0, 1, 2]);
    assert_eq!(numbers(&rows(Some(-1), None)), [-1, 0, 1, 2]);
    assert_eq!(
        numbers(&rows(Some(i64::MIN), Some(i64::MAX))),
        [-2, -1, 0, 1, 2]
    );
    assert_eq!(numbers(&rows(None, Some(0))), [0]);
    assert_eq!(numbers(&rows(Some(2), Some(1))), [0_i64; 0]);
    assert_eq!(numbers(&rows(None, Some(i64::MIN))), [0_i64; 0]);
    let texts: Vec<String> = rows(Some(-2), None)
        .iter()
        .map(|row| row.runs.iter().map(|run| run.text.as_str()).collect())
        .collect();
    assert_eq!(texts, ["a", "b", "c", "d", "e"]);
}

#[test]
fn only_changed_rows_are_returned() {
    let mut model = fed(10, 3, "a\r\nb\r\nc");
    let changed = |model: &Model, since| {
        let options = ScreenRows {
            since: Some(since),
            from_row: Some(-10),
            ..ScreenRows::default()
        };
        numbers(&model.screen(options).lines)
    };
    let seq = model.screen(ScreenRows::default()).seq;
    assert_eq!(changed(&model, seq), [0_i64; 0]);
    model.feed(b"\x1b[2;1Hx");
    assert_eq!(changed(&model, seq), [1]);
    assert_eq!(changed(&model, 0), [0, 1, 2]);
    let seq = model.screen(ScreenRows::default()).seq;
    model.feed(b"\x1b[3;1H\n");
    assert_eq!(changed(&model, seq), [-1, 0, 1, 2]);
    let seq = model.screen(ScreenRows::default()).seq;
    model.feed(b"\x1b[?1049h");
    assert_eq!(changed(&model, seq), [0, 1, 2]);
}

#[test]
fn a_long_scrollback_is_cut_to_the_newest_rows() {
    let mut model = Model::new(Size { cols: 4, rows: 2 }, Scrollback::new(20_000, 8 << 20));
    model.feed("x\r\n".repeat(15_000).as_bytes());
    let options = ScreenRows {
        from_row: Some(-100_000),
        ..ScreenRows::default()
    };
    let got = model.screen(options);
    assert_eq!(got.scrollback_rows, 14_999);
    assert_eq!(got.lines.len(), 10_000);
    assert_eq!(got.lines.last().map(|row| row.row), Some(1));
}
