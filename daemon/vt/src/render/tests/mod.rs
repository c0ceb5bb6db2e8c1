//! Expected renderings.

mod properties;

use std::num::NonZero;

use termd_proto::Offset;
use termd_proto::screen::{
    Color, CommandState, Cursor, CursorShape, LineSize, MouseEncoding, MouseMode, Screen,
    ScreenModes, ScreenRow, Style, StyleRun, Underline,
};
use unicode_width::UnicodeWidthStr as _;

use super::*;

/// A screen of these rows; each is a list of texts and their styles.
fn screen(cols: u16, rows: &[&[(&str, Style)]]) -> Screen {
    let lines = (0..).zip(rows).map(|(row, runs)| {
        let mut column = 0;
        let runs = runs.iter().map(|(text, style)| {
            let width = u16::try_from(text.width()).unwrap();
            let run = StyleRun {
                column,
                width,
                text: (*text).to_owned(),
                style: style.clone(),
            };
            column += width;
            run
        });
        ScreenRow {
            row,
            seq: 1,
            wrapped: false,
            size: LineSize::Single,
            runs: runs.collect(),
        }
    });
    Screen {
        seq: 1,
        end: Offset(0),
        cols,
        rows: u16::try_from(rows.len()).unwrap(),
        alternate: false,
        full_screen: false,
        cursor: Cursor {
            row: 0,
            column: 0,
            visible: false,
            shape: CursorShape::Block,
            blinking: false,
            wrap_pending: false,
        },
        title: String::new(),
        cwd: None,
        command_state: CommandState::Unknown,
        progress: None,
        bells: 0,
        echo: None,
        canonical: None,
        modes: ScreenModes {
            autowrap: true,
            ..ScreenModes::default()
        },
        scrollback_rows: 0,
        lines: lines.collect(),
    }
}

/// vt100 as another terminal.
fn client(rows: u16, cols: u16) -> vt100::Parser {
    let size = |count| NonZero::new(count).unwrap();
    vt100::Parser::new(size(rows), size(cols), 0)
}

fn plain() -> Style {
    Style::default()
}

fn red() -> Style {
    Style {
        foreground: Color::Indexed(1),
        ..Style::default()
    }
}

fn linked(target: &str) -> Style {
    Style {
        hyperlink: Some(target.to_owned()),
        ..Style::default()
    }
}

#[track_caller]
fn same(got: &str, want: &str) {
    assert_eq!(
        got.escape_debug().to_string(),
        want.escape_debug().to_string()
    );
}

#[test]
fn text_is_a_line_a_row() {
    let screen = screen(
        8,
        &[
            &[("a ", plain()), ("b  ", red())],
            &[],
            &[("漢字", plain())],
            &[("\u{1b}x\u{202e}", plain())],
        ],
    );
    same(
        &text(&screen, WrappedLines::Apart),
        "a b\n\n漢字\n\u{fffd}x\n",
    );
}

#[test]
fn wrapped_lines_are_joined_on_demand() {
    type Rows = &'static [(&'static str, bool)];
    let table: [(Rows, &str); 5] = [
        (&[("abcd", true), ("ef", false)], "abcdef\n"),
        // Blanks that were printed, and left out of the row, stand between the words.
        (&[("ab", true), ("cd", false)], "ab  cd\n"),
        // A wide character that did not fit left a column, and no blank.
        (&[("abc", true), ("漢", false)], "abc漢\n"),
        // What the last row goes on in is not given.
        (&[("abcd", false), ("efgh", true)], "abcd\nefgh\n"),
        (&[("abcd", true), ("", false), ("x", false)], "abcd\nx\n"),
    ];
    for (rows, want) in table {
        let lines: Vec<_> = rows.iter().map(|row| vec![(row.0, plain())]).collect();
        let lines: Vec<_> = lines.iter().map(Vec::as_slice).collect();
        let mut screen = screen(4, &lines);
        for (line, row) in screen.lines.iter_mut().zip(rows) {
            line.wrapped = row.1;
        }
        same(&text(&screen, WrappedLines::Joined), want);
        let apart = rows.iter().map(|row| format!("{}\n", row.0));
        same(
            &text(&screen, WrappedLines::Apart),
            &apart.collect::<String>(),
        );
    }
}

#[test]
fn ansi_draws_rows_styles_links_and_the_cursor() {
    let mut drawn = screen(
        10,
        &[
            &[("ok ", plain()), ("bad", red())],
            &[("site", linked("https://a.example/"))],
            &[("e\u{301}x", plain())],
        ],
    );
    drawn.lines[2].size = LineSize::DoubleWidth;
    drawn.cursor = Cursor {
        row: 1,
        column: 4,
        visible: true,
        shape: CursorShape::Bar,
        blinking: false,
        wrap_pending: false,
    };
    same(
        &ansi(&drawn),
        "ok \x1b[31mbad\x1b[m\r\n\
         \x1b]8;;https://a.example/\x1b\\site\x1b]8;;\x1b\\\r\n\
         \x1b#6e\u{301}\x1b[2Gx\x1b[1A\x1b[5G\x1b[6 q\x1b[?25h",
    );
    // With scrollback and without the cursor's row; a row between two is not given.
    let mut part = screen(10, &[&[("old", plain())], &[("new", plain())]]);
    part.lines[0].row = -3;
    part.lines[1].row = -1;
    same(&ansi(&part), "old\r\n\r\nnew\x1b[2 q\x1b[?25l");
}

#[test]
fn attach_depends_on_nothing_before() {
    let mut drawn = screen(6, &[&[("one", red())], &[], &[("sixsix", plain())]]);
    drawn.alternate = true;
    drawn.cursor.row = 2;
    drawn.cursor.column = 5;
    drawn.cursor.visible = true;
    drawn.cursor.wrap_pending = true;
    drawn.modes = ScreenModes {
        application_cursor_keys: true,
        application_keypad: true,
        bracketed_paste: true,
        focus_events: true,
        mouse: MouseMode::Button,
        mouse_encoding: MouseEncoding::Sgr,
        autowrap: true,
        kitty_keyboard: 5,
        modify_other_keys: 2,
        ..ScreenModes::default()
    };
    same(
        &attach(&drawn, View { cols: 6, rows: 3 }),
        "\x18\x1b[?2026h\x1b[?1049h\
         \x1b[m\x1b]8;;\x1b\\\x0f\x1b(B\x1b)B\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[?7l\
         \x1b[?5l\x1b[H\x1b[2J\
         \x1b[1H\x1b[31mone\x1b[m\x1b[2H\x1b[3Hsixsix\x1b[?7h\x1b[3;6Hx\
         \x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\
         \x1b[?9;1000;1001;1002;1003;1005;1006;1015;1016l\x1b[?1002h\x1b[?1006h\
         \x1b[4l\x1b[20l\x1b[=5u\x1b[>4;2m\x1b[2 q\x1b[?25h\x1b[?2026l",
    );
}

#[test]
fn a_smaller_client_sees_the_part_with_the_cursor() {
    let rows: [&[(&str, Style)]; 3] = [
        &[("abcdef", plain())],
        &[("漢字ij", plain())],
        &[("uvwxyz", plain())],
    ];
    // Cursor's row and column, the client's size, what it shows, where its cursor is.
    let table = [
        ((0, 0), (3, 2), ["abc", "漢 "].as_slice(), (0, 0)),
        ((2, 5), (3, 2), &[" ij", "xyz"], (1, 2)),
        ((1, 3), (3, 1), &[" 字"], (0, 2)),
        ((1, 0), (9, 4), &["abcdef", "漢字ij", "uvwxyz", ""], (1, 0)),
    ];
    for ((row, column), (cols, rows_seen), want, cursor) in table {
        let mut screen = screen(6, &rows);
        screen.cursor.row = row;
        screen.cursor.column = column;
        let mut seen_by = client(rows_seen, cols);
        seen_by.process(b"\x1b[2;3r\x1b[41mrubbish\x1b[5;5H\x1b(0more\x1b]0;cut");
        let view = View {
            cols,
            rows: rows_seen,
        };
        seen_by.process(attach(&screen, view).as_bytes());
        let shown: Vec<String> = seen_by.screen().rows(0, cols).collect();
        assert_eq!(shown, want, "{row};{column}");
        assert_eq!(seen_by.screen().cursor_position(), cursor);
    }
}

#[test]
fn html_is_spans_in_a_pre() {
    let styled = Style {
        bold: true,
        italic: true,
        underline: Underline::Curly,
        underline_color: Color::Rgb(1, 2, 3),
        crossed_out: true,
        background: Color::Indexed(4),
        ..Style::default()
    };
    let mut drawn = screen(
        8,
        &[&[("a<b", plain()), ("漢", red())], &[("x", styled)], &[]],
    );
    drawn.cursor.row = 2;
    drawn.cursor.column = 1;
    drawn.cursor.visible = true;
    let html = html(&drawn);
    let (_, rows) = html.split_once("\">").unwrap();
    assert_eq!(
        rows,
        "a&lt;b<span style=\"color:#cd0000;display:inline-block;width:2ch\">漢</span>\n\
         <span style=\"background:#0000ee;font-weight:bold;font-style:italic;\
         text-decoration:underline line-through;text-decoration-style:wavy;\
         text-decoration-color:#010203\">x</span>\n \
         <span style=\"color:#000000;background:#e5e5e5\"> </span>\n</pre>\n"
    );
}

#[test]
fn reverse_video_inverse_and_faint_are_colours() {
    let inverse = Style {
        inverse: true,
        ..plain()
    };
    let faint = Style {
        faint: true,
        ..plain()
    };
    let mut drawn = screen(4, &[&[("i", inverse), ("f", faint)]]);
    drawn.modes.reverse_video = true;
    let html = html(&drawn);
    assert!(
        html.contains("color:#000000;background:#e5e5e5\">"),
        "{html}"
    );
    assert!(
        html.contains("<span style=\"color:#e5e5e5;background:#000000\">i</span>"),
        "{html}"
    );
    assert!(
        html.contains("<span style=\"color:#727272\">f</span>"),
        "{html}"
    );
}

#[test]
fn nothing_a_program_prints_is_run_by_a_browser() {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&lt;\u{0}\u{1b}";
    let links = [
        ("https://a.example/?q=\"><script>", true),
        ("HTTP://a.example/'onmouseover='x", true),
        ("mailto:a@b.example", true),
        ("file:///etc/hosts", true),
        ("javascript:alert(1)", false),
        ("JaVaScRiPt:alert(1)", false),
        (" javascript:alert(1)", false),
        ("java\nscript:alert(1)", false),
        ("data:text/html,<script>alert(1)</script>", false),
        ("vbscript:x", false),
        ("//a.example/", false),
        ("httpsx:a", false),
        ("", false),
    ];
    for (target, is_link) in links {
        let html = html(&screen(80, &[&[(evil, linked(target))]]));
        assert_eq!(html.contains("<a "), is_link, "{target}");
        // Only these elements, and of attributes only these.
        for tag in html.split('<').skip(1) {
            let known = [
                "pre ",
                "/pre>",
                "span ",
                "/span>",
                "a rel=\"noreferrer\" ",
                "/a>",
            ];
            assert!(known.iter().any(|known| tag.starts_with(known)), "{html}");
            let (inside, _) = tag.split_once('>').unwrap();
            let names = inside.split('"').step_by(2).map(str::trim);
            for name in names.filter_map(|part| part.strip_suffix('=')) {
                let name = name.rsplit(' ').next().unwrap();
                assert!(["style", "dir", "rel", "href"].contains(&name), "{html}");
            }
        }
    }
}
