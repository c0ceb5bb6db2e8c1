//! Modes: the alternate screens, DECCOLM, XTSAVE, DECSTR, RIS, DECSCL.

use termd_proto::screen::{MouseEncoding, MouseMode};

use super::ROWS;
use crate::event::Event;
use crate::testing::{check_all, fed, rows};
use crate::{Model, Scrollback, Size};

#[test]
fn alternate_screens() {
    check_all(&[
        // 47 and 1047 leave the cursor where it is.
        ("ab\x1b[?47hc", &["  c"], (3, 0)),
        ("ab\x1b[?47hc\x1b[?47ld", &["ab d"], (4, 0)),
        ("ab\x1b[?47hc\x1b[?47l\x1b[?47h", &["  c"], (3, 0)),
        ("ab\x1b[?1047hc\x1b[?1047l\x1b[?47h", &[], (3, 0)),
        // 1049 saves it, and empties the screen.
        ("ab\x1b[?1049h\x1b[3;3Hc\x1b[?1049ld", &["abd"], (3, 0)),
        ("ab\x1b[?47hc\x1b[?47l\x1b[?1049h", &[], (3, 0)),
        ("ab\x1b[?1048h\x1b[3;3H\x1b[?1048lc", &["abc"], (3, 0)),
        // What is shown already is not entered again.
        ("ab\x1b[?47hc\x1b[?47hd", &["  cd"], (4, 0)),
        ("ab\x1b[?1047lc", &["abc"], (3, 0)),
        ("ab\x1b[?1046l\x1b[?1049hc", &["abc"], (3, 0)),
        ("ab\x1b[?47hc\x1b[?1046l", &["ab"], (3, 0)),
    ]);
}

#[test]
fn entering_and_leaving_the_alternate_screen_are_events() {
    let mut model = Model::new(Size { cols: 10, rows: 2 }, Scrollback::new(0, 0));
    let events =
        |model: &mut Model, bytes: &[u8]| -> Vec<(u64, Event)> { model.feed(bytes).events };
    assert_eq!(
        events(&mut model, b"a\x1b[?1049h"),
        [(9, Event::AlternateScreen(true))]
    );
    assert_eq!(events(&mut model, b"\x1b[?1049h"), []);
    assert_eq!(
        events(&mut model, b"\x1b[?1049l"),
        [(25, Event::AlternateScreen(false))]
    );
}

#[test]
fn deccolm_needs_its_permission() {
    let model = fed(100, 3, "abc\x1b[?3h");
    assert_eq!((model.size().cols, rows(&model)[0].as_str()), (100, "abc"));
    let mut model = fed(100, 3, "abc\x1b[?40h\x1b[2;3r\x1b[3;3H");
    let fed = model.feed(b"\x1b[?3h");
    assert_eq!((model.size().cols, model.cursor()), (132, (0, 0)));
    assert_eq!(rows(&model), ["", "", ""]);
    let asked = Event::ResizeRequest { rows: 0, cols: 132 };
    assert!(fed.events.iter().any(|(_, event)| *event == asked));
    model.feed(b"\x1b[999Cx\x1b[?3l");
    assert_eq!(
        (model.size().cols, rows(&model)),
        (80, vec![String::new(); 3])
    );
    model.feed(b"\x1b[65;1\"pabc\x1b[?95h\x1b[?3h");
    assert_eq!(rows(&model), ["abc", "", ""]);
    model.feed(b"\x1bc");
    assert_eq!(model.size().cols, 80);
}

#[test]
fn a_narrower_screen_cuts_no_character_in_two() {
    let model = fed(81, 2, "\x1b[65;1\"p\x1b[?40;95h\x1b[1;80Hあ\x1b[?3l");
    assert_eq!(rows(&model), ["", ""]);
}

#[test]
fn mouse_modes_exclude_each_other() {
    for (input, mode, encoding) in [
        ("\x1b[?1000h", MouseMode::Normal, MouseEncoding::X10),
        (
            "\x1b[?9h\x1b[?1003;1006h",
            MouseMode::Any,
            MouseEncoding::Sgr,
        ),
        (
            "\x1b[?1002;1006h\x1b[?1000l",
            MouseMode::Off,
            MouseEncoding::Sgr,
        ),
        (
            "\x1b[?1015;1006h\x1b[?1015l",
            MouseMode::Off,
            MouseEncoding::Sgr,
        ),
        ("\x1b[?1016h\x1b[?1016l", MouseMode::Off, MouseEncoding::X10),
    ] {
        let modes = fed(10, 5, input).terminal.modes;
        assert_eq!(
            (modes.mouse, modes.mouse_encoding),
            (mode, encoding),
            "{input:?}"
        );
    }
}

#[test]
fn xtsave_and_xtrestore() {
    for (input, mode, expected) in [
        ("\x1b[?7s\x1b[?7l\x1b[?7r", 7, true),
        ("\x1b[?7l\x1b[?7s\x1b[?7h\x1b[?7r", 7, false),
        ("\x1b[?1000h\x1b[?1000s\x1b[?1000l\x1b[?1000r", 1000, true),
        ("\x1b[?1036h\x1b[?1036s\x1b[?1036l\x1b[?1036r", 1036, true),
        ("\x1b[?2004r", 2004, false),
        ("\x1b[?69h\x1b[?69s\x1b[?69l\x1b[?69r", 69, true),
    ] {
        assert_eq!(
            fed(10, 5, input).terminal.private_mode(mode),
            Some(expected),
            "{input:?}"
        );
    }
    assert_eq!(fed(10, 5, "").terminal.private_mode(9_999), None);
}

#[test]
fn decstr_resets_what_it_names() {
    let model = fed(
        10,
        5,
        "ab\x1b[?25l\x1b[4h\x1b[?6h\x1b[?7l\x1b[?1h\x1b=\x1b[1;31m\x1b(0\x1b[1\"q\x1b[?2004h\
         \x1b[2;4r\x1b[3;3H\x1b[!p",
    );
    let terminal = &model.terminal;
    assert_eq!(rows(&model)[0], "ab");
    assert_eq!(model.cursor(), (2, 3), "the cursor stays");
    assert!(terminal.modes.cursor_visible && terminal.modes.autowrap);
    assert!(
        !terminal.modes.insert
            && !terminal.screen.cursor.origin
            && !terminal.modes.application_cursor_keys
    );
    assert!(!terminal.modes.application_keypad);
    assert!(terminal.modes.bracketed_paste, "not named");
    assert_eq!(
        terminal.screen.margins,
        crate::screen::margins::Margins::whole(terminal.screen.size)
    );
    assert_eq!(
        terminal.screen.cursor.style,
        crate::grid::style::Style::default()
    );
    check_all(&[("\x1b(0\x1b[3;3H\x1b7\x1b[!p\x1b8q", &["q"], (1, 0))]);
}

#[test]
fn ris_resets_to_a_fresh_terminal() {
    let mut model = fed(
        10,
        5,
        &format!("{ROWS}\r\n\x1b[?1049h\x1b[1;31mx\x1b[2;3r\x1bH"),
    );
    model.feed(b"\x1b[?69;6;2004h\x1b)0\x0e\x1bc");
    let fresh = fed(10, 5, "");
    let (terminal, other) = (&model.terminal, &fresh.terminal);
    assert_eq!(rows(&model), rows(&fresh));
    assert_eq!(terminal.modes, other.modes);
    assert_eq!(terminal.screen.cursor, other.screen.cursor);
    assert_eq!(terminal.screen.margins, other.screen.margins);
    assert_eq!(terminal.screen.tabs, other.screen.tabs);
    assert_eq!(terminal.screen.scrollback.len(), 0);
    assert!(terminal.screen.hidden.is_none());
}

#[test]
fn levels_below_4_have_no_columns() {
    check_all(&[
        (
            "\x1b[62;1\"p\x1b[?69h\x1b[3;5s\x1b[1;3Habcd",
            &["  abcd"],
            (6, 0),
        ),
        (
            "\x1b[64;1\"p\x1b[?69h\x1b[3;5s\x1b[1;3Habcd",
            &["  abc", "  d"],
            (3, 1),
        ),
    ]);
    assert!(fed(10, 5, "\x1b[62\"p").terminal.modes.eight_bit_replies);
    assert!(!fed(10, 5, "\x1b[62;1\"p").terminal.modes.eight_bit_replies);
    assert!(!fed(10, 5, "\x1b G\x1b F").terminal.modes.eight_bit_replies);
}

#[test]
fn sub_prints_the_substitute_character() {
    check_all(&[
        ("a\x1ab", &["a␦b"], (3, 0)),
        ("a\x1b[1\x1ab", &["a␦b"], (3, 0)),
    ]);
}
