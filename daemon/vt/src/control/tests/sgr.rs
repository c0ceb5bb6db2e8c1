//! SGR, XTPUSHSGR, XTPOPSGR, DECSCUSR.

use std::fmt::Write;

use termd_proto::screen::{Color, CursorShape, Underline};

use crate::grid::style::{Attributes, Style};
use crate::testing::fed;

fn style(sgr: &str) -> Style {
    fed(10, 5, sgr).terminal.screen.cursor.style
}

#[test]
fn attributes_go_on_and_off() {
    for (on, off, attribute) in [
        (1, 22, Attributes::BOLD),
        (2, 22, Attributes::FAINT),
        (3, 23, Attributes::ITALIC),
        (5, 25, Attributes::BLINK),
        (6, 25, Attributes::RAPID_BLINK),
        (7, 27, Attributes::INVERSE),
        (8, 28, Attributes::INVISIBLE),
        (9, 29, Attributes::CROSSED_OUT),
        (53, 55, Attributes::OVERLINE),
    ] {
        let expected = Style {
            attributes: attribute,
            ..Style::default()
        };
        assert_eq!(style(&format!("\x1b[{on}m")), expected);
        assert_eq!(style(&format!("\x1b[{on};{off}m")), Style::default());
        assert_eq!(style(&format!("\x1b[{on}m\x1b[m")), Style::default());
        assert_eq!(style(&format!("\x1b[{on};0m")), Style::default());
    }
}

#[test]
fn underlines() {
    for (sgr, expected) in [
        ("4", Underline::Single),
        ("4:0", Underline::None),
        ("4;4:0", Underline::None),
        ("4:1", Underline::Single),
        ("4:2", Underline::Double),
        ("4:3", Underline::Curly),
        ("4:4", Underline::Dotted),
        ("4:5", Underline::Dashed),
        ("4:3;4:9", Underline::Curly),
        ("21", Underline::Double),
        ("21;24", Underline::None),
    ] {
        assert_eq!(style(&format!("\x1b[{sgr}m")).underline, expected, "{sgr}");
    }
}

#[test]
fn colours_in_every_form() {
    for (form, expected) in [
        ("5;123", Color::Indexed(123)),
        (":5:123", Color::Indexed(123)),
        ("5:123", Color::Indexed(123)),
        ("2;1;2;3", Color::Rgb(1, 2, 3)),
        (":2:1:2:3", Color::Rgb(1, 2, 3)),
        (":2::1:2:3", Color::Rgb(1, 2, 3)),
        (":2:0:1:2:3", Color::Rgb(1, 2, 3)),
        (":2::1:2:3::1", Color::Rgb(1, 2, 3)),
        ("2:1:2:3", Color::Rgb(1, 2, 3)),
        // No colours.
        ("5;256", Color::Default),
        ("5", Color::Default),
        ("2;1;2", Color::Default),
        ("2;1;2;256", Color::Default),
        (":2:1:2", Color::Default),
        (":9:1:2", Color::Default),
        ("9", Color::Default),
    ] {
        let join = if form.starts_with(':') { "" } else { ";" };
        let sgr = |which: u8| style(&format!("\x1b[{which}{join}{form}m"));
        assert_eq!(sgr(38).foreground, expected, "38 {form}");
        assert_eq!(sgr(48).background, expected, "48 {form}");
        assert_eq!(sgr(58).underline_color, expected, "58 {form}");
    }
    for (sgr, expected) in [
        ("31", Color::Indexed(1)),
        ("97", Color::Indexed(15)),
        ("31;39", Color::Default),
    ] {
        assert_eq!(style(&format!("\x1b[{sgr}m")).foreground, expected, "{sgr}");
    }
    for (sgr, expected) in [
        ("41", Color::Indexed(1)),
        ("107", Color::Indexed(15)),
        ("41;49", Color::Default),
    ] {
        assert_eq!(style(&format!("\x1b[{sgr}m")).background, expected, "{sgr}");
    }
    assert_eq!(style("\x1b[58;5;1;59m"), Style::default());
}

#[test]
fn parameters_after_a_colour_count_again() {
    let bold = |sgr: &str| style(sgr).attributes.contains(Attributes::BOLD);
    for sgr in [
        "\x1b[38;5;9;1m",
        "\x1b[38:5:9;1m",
        "\x1b[38;5:9;1m",
        "\x1b[38;2;1;2;3;1m",
        "\x1b[38;5;999;1m",
        "\x1b[73;74;75;1m",
        "\x1b[99;1m",
        "\x1b[99:3;1m",
    ] {
        assert!(bold(sgr), "{sgr:?}");
    }
    assert!(!bold("\x1b[38;2;1;1;1m"));
    assert!(!bold("\x1b[>1m"), "XTMODKEYS");
    assert!(!bold("\x1b[?1m"));
}

#[test]
fn xtpopsgr_restores_what_xtpushsgr_saved() {
    for (input, expected) in [
        ("\x1b[1;31m\x1b[#{\x1b[m\x1b[#}", "\x1b[1;31m"),
        ("\x1b[1;31m\x1b[#p\x1b[m\x1b[#q", "\x1b[1;31m"),
        ("\x1b[1;31m\x1b[1#{\x1b[32m\x1b[22m\x1b[#}", "\x1b[1;32m"),
        ("\x1b[1;31m\x1b[30#{\x1b[32;22m\x1b[#}", "\x1b[31m"),
        ("\x1b[1m\x1b[#}", "\x1b[1m"),
    ] {
        assert_eq!(style(input), style(expected), "{input:?}");
    }
    let deep = "\x1b[1m".to_owned() + &"\x1b[#{".repeat(20) + "\x1b[m" + &"\x1b[#}".repeat(11);
    assert_eq!(
        style(&deep),
        style("\x1b[1m"),
        "ten are kept, all are counted"
    );
}

#[test]
fn cursor_styles() {
    for (number, shape, blinks) in [
        (0, CursorShape::Block, true),
        (2, CursorShape::Block, false),
        (3, CursorShape::Underline, true),
        (4, CursorShape::Underline, false),
        (5, CursorShape::Bar, true),
        (6, CursorShape::Bar, false),
    ] {
        let modes = fed(10, 5, &format!("\x1b[{number} q")).terminal.modes;
        assert_eq!((modes.cursor_shape, modes.cursor_blinks), (shape, blinks));
    }
}

#[test]
fn unused_styles_are_swept() {
    let mut input = String::new();
    for color in 0..20_000_u32 {
        let [red, green, blue, _] = color.to_le_bytes();
        write!(input, "\x1b[38;2;{red};{green};{blue}mx\r").unwrap();
    }
    let model = fed(10, 5, &input);
    let cell = model.terminal.screen.grid.row(0).cell(0);
    let [red, green, blue, _] = 19_999_u32.to_le_bytes();
    assert_eq!(
        model.terminal.screen.styles.get(cell.style()).foreground,
        Color::Rgb(red, green, blue)
    );
    assert!(!model.terminal.screen.styles.is_crowded());
}
