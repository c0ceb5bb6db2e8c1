//! One screen with everything on it. `TERMD_PICTURES=DIR cargo test -p termctl gallery` keeps its
//! pictures there, with the system's fonts, for a person to look at.

use super::*;
use termd_proto::screen::Underline;

const COLS: u16 = 72;

/// A row of characters of one column each.
fn text(text: &str) -> Vec<(u16, u16, String, Style)> {
    let width = u16::try_from(text.chars().count()).unwrap();
    row(&[(text, width, plain())])
}

fn gallery() -> Screen {
    let rows = [geometry(), colours(), letters(), sizes()].concat();
    let mut screen = screen(COLS, rows);
    let count = screen.lines.len();
    screen.lines[count - 4].size = LineSize::DoubleHeightTop;
    screen.lines[count - 3].size = LineSize::DoubleHeightBottom;
    screen.lines[count - 2].size = LineSize::DoubleWidth;
    screen.cursor.visible = true;
    screen.cursor.row = u16::try_from(count - 1).unwrap();
    screen.cursor.column = 18;
    screen
}

fn geometry() -> Rows {
    vec![
        text("╭──────╮┌──┬──┐╔══╦══╗┏━━┳━━┓╒══╤══╕╓──╥──╖┎──┰──┒ ╱╲ ┄┄┄ ┅┅┅ ╌╌ ┊┋"),
        text("│ round│├──┼──┤╠══╬══╣┣━━╋━━┫╞══╪══╡╟──╫──╢┠──╂──┨╱  ╲ ┈┈┈ ┉┉┉ ╍╍ ┆┇"),
        text("╰──────╯└──┴──┘╚══╩══╝┗━━┻━━┛╘══╧══╛╙──╨──╜┖──┸──┚╲  ╱ ╼━╾ ╴╵╶╷ ╸╹╺╻"),
        text("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐▀▔▕ ░▒▓█ ▖▗▘▙▚▛▜▝▞▟ ⠁⠃⠇⡇⣇⣧⣷⣿⣀⠤⠒⠉ 🬀🬁🬂🬞🬻🬹 ╳╳"),
        text("░░▒▒▓▓██ ▄▀▄▀▄▀ █▄▄█▀▀█ gjpqy|_{}[]@ ÀÉÎõü ΑΒΓ Привет → ⇒ ∀∃∑ ✓ ✗ λ"),
    ]
}

fn colours() -> Rows {
    let mut rows = Rows::new();
    let mut sixteen = Vec::new();
    for index in 0..16_u8 {
        let text = format!("{index:>3}");
        sixteen.push((u16::from(index) * 4, 3, text, ink(Color::Indexed(index))));
    }
    rows.push(sixteen);
    for base in [16_u8, 52, 88, 124, 160, 196] {
        let mut cube: Vec<_> = (0..36_u8)
            .map(|step| {
                (
                    u16::from(step),
                    1,
                    " ".to_owned(),
                    on(Color::Indexed(base + step)),
                )
            })
            .collect();
        if base == 16 {
            cube.extend((0..24_u8).map(|step| {
                (
                    40 + u16::from(step),
                    1,
                    "x".to_owned(),
                    on(Color::Indexed(232 + step)),
                )
            }));
        }
        rows.push(cube);
    }
    let gradient = (0..COLS).map(|column| {
        let level = u8::try_from(column * 255 / COLS).unwrap();
        (
            column,
            1,
            "▄".to_owned(),
            Style {
                foreground: Color::Rgb(level, 255 - level, 128),
                background: Color::Rgb(255 - level, 64, level),
                ..plain()
            },
        )
    });
    rows.push(gradient.collect());
    rows
}

fn letters() -> Rows {
    let mut rows = Rows::new();
    rows.push(row(&[
        ("bold ", 5, styled(|s| s.bold = true)),
        ("italic ", 7, styled(|s| s.italic = true)),
        ("both ", 5, styled(|s| (s.bold, s.italic) = (true, true))),
        ("faint ", 6, styled(|s| s.faint = true)),
        ("inverse", 7, styled(|s| s.inverse = true)),
        (" ", 1, plain()),
        ("hidden", 6, styled(|s| s.invisible = true)),
        (" ", 1, plain()),
        ("crossed", 7, styled(|s| s.crossed_out = true)),
        (" ", 1, plain()),
        ("over", 4, styled(|s| s.overline = true)),
        (" fi -> != ===", 13, plain()),
    ]));
    let line = |underline, color| Style {
        underline,
        underline_color: color,
        ..plain()
    };
    rows.push(row(&[
        ("single", 6, line(Underline::Single, Color::Default)),
        (" ", 1, plain()),
        ("double", 6, line(Underline::Double, Color::Indexed(2))),
        (" ", 1, plain()),
        ("curly gjp", 9, line(Underline::Curly, Color::Indexed(9))),
        (" ", 1, plain()),
        ("dotted", 6, line(Underline::Dotted, Color::Indexed(11))),
        (" ", 1, plain()),
        (
            "dashed",
            6,
            line(Underline::Dashed, Color::Rgb(90, 160, 255)),
        ),
    ]));
    rows.push(row(&[
        ("漢字かな한국어", 14, plain()),
        ("|ＦＵＬＬ|", 10, plain()),
        ("漢字", 4, styled(|s| s.bold = true)),
        ("😀👍🏽🚀❤\u{fe0f}🇩🇪👨\u{200d}👩\u{200d}👧", 12, plain()),
        ("|e\u{301}o\u{308}|", 4, plain()),
        ("עברית ไทย", 9, plain()),
    ]));
    rows.push(text(
        "12345678901234567890123456789012345678901234567890123456789012345678901",
    ));
    rows
}

fn sizes() -> Rows {
    let mut rows = Rows::new();
    for _ in 0..2 {
        rows.push(row(&[
            ("Double ", 7, ink(Color::Indexed(3))),
            ("╭─╮漢 height", 12, plain()),
        ]));
    }
    rows.push(row(&[("Double width gjpqy", 18, ink(Color::Indexed(6)))]));
    rows.push(row(&[("$ cursor on wide: 漢", 20, plain())]));
    rows
}

#[test]
fn a_gallery_is_drawn() {
    let screen = gallery();
    // Runs say how wide they are as their text is: else the picture shows something else.
    for run in screen.lines.iter().flat_map(|line| &line.runs) {
        let shown: usize = run.cells().map(|cell| cell.text.len()).sum();
        assert_eq!(shown, run.text.len(), "{}", run.text);
    }
    for format in [Format::Png, Format::Svg, Format::Html] {
        let light = Look {
            theme: Theme::LIGHT,
            ..LOOK
        };
        let large = Look {
            font_size: 32,
            ..LOOK
        };
        let small = (72 * 10 + 16, 21 * 19 + 16);
        for (look, size, name) in [
            (LOOK, small, "dark"),
            (light, small, "light"),
            (large, (72 * 19 + 32, 21 * 37 + 32), "large"),
        ] {
            let picture = draw(&screen, &look, format).unwrap();
            assert_eq!((picture.width, picture.height), size);
            assert!(picture.bytes.len() > 4_000);
            if let Some(place) = std::env::var_os("TERMD_PICTURES") {
                let file = format!("gallery-{name}.{}", format.as_str());
                std::fs::write(std::path::Path::new(&place).join(file), picture.bytes).unwrap();
            }
        }
    }
}
