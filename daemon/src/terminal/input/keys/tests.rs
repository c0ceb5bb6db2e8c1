use super::*;

mod terminfo;

fn press(name: &str) -> KeyPress {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn sends(modes: KeyModes, table: &[(&str, &str)]) {
    for (name, want) in table {
        let got = String::from_utf8(press(name).bytes(modes)).unwrap();
        assert_eq!(
            got.escape_debug().to_string(),
            want.escape_debug().to_string(),
            "{name} {modes:?}"
        );
    }
}

const NORMAL: KeyModes = KeyModes {
    cursor: KeyMode::Normal,
    keypad: KeyMode::Normal,
    enter: EnterSends::Return,
    backspace: BackspaceSends::Delete,
    set: KeySet::Ansi,
    kitty: 0,
    other_keys: 0,
};

fn kitty(flags: u8) -> KeyModes {
    KeyModes {
        kitty: flags,
        ..NORMAL
    }
}

#[test]
fn one_key_has_many_names() {
    for (names, key, held) in [
        (
            &["up", "Up", "UP", "arrow-up"][..],
            Key::Up,
            Modifiers::NONE,
        ),
        (
            &["page-up", "pageup", "pgup", "PgUp", "page_up"],
            Key::PageUp,
            Modifiers::NONE,
        ),
        (
            &["page-down", "PageDown", "pgdn", "pgdown"],
            Key::PageDown,
            Modifiers::NONE,
        ),
        (&["enter", "return", "Enter"], Key::Enter, Modifiers::NONE),
        (&["escape", "esc"], Key::Escape, Modifiers::NONE),
        (
            &["shift-tab", "S-tab", "shift+tab"],
            Key::Tab,
            Modifiers::SHIFT,
        ),
        (
            &[
                "ctrl-a",
                "ctrl+a",
                "C-a",
                "^A",
                "^a",
                "C-A",
                "control-a",
                "Ctrl-A",
                "c-a",
            ],
            Key::Char('a'),
            Modifiers::CTRL,
        ),
        (
            &["alt-x", "M-x", "meta-x", "a-x"],
            Key::Char('x'),
            Modifiers::ALT,
        ),
        (
            &["alt-X", "alt-shift-x"],
            Key::Char('x'),
            Modifiers::ALT.with(Modifiers::SHIFT),
        ),
        (&["shift-f5", "S-F5"], Key::Function(5), Modifiers::SHIFT),
        (&["f24", "F24"], Key::Function(24), Modifiers::NONE),
        (
            &["ctrl-alt-delete", "C-M-del", "alt-ctrl-Delete"],
            Key::Delete,
            Modifiers::CTRL.with(Modifiers::ALT),
        ),
        (&["ctrl-]", "^]", "C-]"], Key::Char(']'), Modifiers::CTRL),
        (&["ctrl-\\", "^\\"], Key::Char('\\'), Modifiers::CTRL),
        (
            &["ctrl-space", "C- ", "ctrl+space"],
            Key::Char(' '),
            Modifiers::CTRL,
        ),
        (
            &["ctrl--", "C--", "ctrl+-"],
            Key::Char('-'),
            Modifiers::CTRL,
        ),
        (&["ctrl-+", "ctrl++"], Key::Char('+'), Modifiers::CTRL),
        (&["^"], Key::Char('^'), Modifiers::NONE),
        (&["^^"], Key::Char('^'), Modifiers::CTRL),
        (&["-"], Key::Char('-'), Modifiers::NONE),
        (&["c"], Key::Char('c'), Modifiers::NONE),
        (&["A"], Key::Char('a'), Modifiers::SHIFT),
        (&["é"], Key::Char('é'), Modifiers::NONE),
        (&["alt-ß"], Key::Char('ß'), Modifiers::ALT),
        (&["😀"], Key::Char('😀'), Modifiers::NONE),
        (
            &["kp-5", "kp5", "KP_5"],
            Key::Keypad(KeypadKey::Digit(5)),
            Modifiers::NONE,
        ),
        (
            &["kp-enter", "KPEnter"],
            Key::Keypad(KeypadKey::Enter),
            Modifiers::NONE,
        ),
        (
            &["kp-plus", "kp-+", "kp-add"],
            Key::Keypad(KeypadKey::Add),
            Modifiers::NONE,
        ),
    ] {
        for name in names {
            assert_eq!(press(name), KeyPress { key, held }, "{name}");
        }
    }
}

#[test]
fn what_is_no_key_says_what_there_is() {
    for (name, suggestion) in [
        ("", None),
        ("uup", Some("up")),
        ("page-upp", Some("pageup")),
        ("ctrl-retrun", Some("return")),
        ("f25", None),
        ("f0", None),
        ("ctrl-", None),
        ("kp-x", None),
        ("hello", None),
        ("\u{1b}", None),
        ("control", None),
    ] {
        let error = name.parse::<KeyPress>().unwrap_err();
        if suggestion.is_some() {
            assert_eq!(error.suggestion, suggestion, "{name}");
        }
        assert!(error.to_string().contains("page-up, page-down"), "{error}");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
    assert!(
        "x".repeat(1 << 20)
            .parse::<KeyPress>()
            .unwrap_err()
            .to_string()
            .len()
            < 1_000
    );
}

/// ctlseqs, PC-Style Function Keys and the tables around it.
#[test]
fn keys_as_xterm_sends_them() {
    sends(
        NORMAL,
        &[
            ("up", "\x1b[A"),
            ("left", "\x1b[D"),
            ("home", "\x1b[H"),
            ("end", "\x1b[F"),
            ("insert", "\x1b[2~"),
            ("delete", "\x1b[3~"),
            ("page-up", "\x1b[5~"),
            ("page-down", "\x1b[6~"),
            ("f1", "\x1bOP"),
            ("f4", "\x1bOS"),
            ("f5", "\x1b[15~"),
            ("f6", "\x1b[17~"),
            ("f10", "\x1b[21~"),
            ("f11", "\x1b[23~"),
            ("f12", "\x1b[24~"),
            ("f13", "\x1b[1;2P"),
            ("f17", "\x1b[15;2~"),
            ("f24", "\x1b[24;2~"),
            ("shift-f5", "\x1b[15;2~"),
            ("ctrl-f13", "\x1b[1;6P"),
            ("ctrl-up", "\x1b[1;5A"),
            ("alt-left", "\x1b[1;3D"),
            ("ctrl-alt-delete", "\x1b[3;7~"),
            ("shift-page-up", "\x1b[5;2~"),
            ("enter", "\r"),
            ("alt-enter", "\x1b\r"),
            ("tab", "\t"),
            ("shift-tab", "\x1b[Z"),
            ("alt-tab", "\x1b\t"),
            ("backspace", "\x7f"),
            ("ctrl-backspace", "\x08"),
            ("alt-backspace", "\x1b\x7f"),
            ("escape", "\x1b"),
            ("alt-escape", "\x1b\x1b"),
            ("space", " "),
            ("ctrl-space", "\0"),
            ("ctrl-@", "\0"),
            ("ctrl-a", "\x01"),
            ("ctrl-z", "\x1a"),
            ("ctrl-[", "\x1b"),
            ("ctrl-\\", "\x1c"),
            ("ctrl-]", "\x1d"),
            ("ctrl-^", "\x1e"),
            ("ctrl-_", "\x1f"),
            ("ctrl-/", "\x1f"),
            ("ctrl-?", "\x7f"),
            ("ctrl-alt-a", "\x1b\x01"),
            ("alt-x", "\x1bx"),
            ("alt-X", "\x1bX"),
            ("shift-a", "A"),
            ("shift-1", "!"),
            ("é", "é"),
            ("É", "É"),
            ("alt-é", "\x1bé"),
            ("ctrl-;", ";"),
            ("kp-5", "5"),
            ("kp-enter", "\r"),
            ("kp-plus", "+"),
        ],
    );
}

#[test]
fn keys_follow_the_modes() {
    let cursor = KeyModes {
        cursor: KeyMode::Application,
        ..NORMAL
    };
    sends(
        cursor,
        &[
            ("up", "\x1bOA"),
            ("home", "\x1bOH"),
            ("ctrl-up", "\x1b[1;5A"),
            ("delete", "\x1b[3~"),
        ],
    );
    let keypad = KeyModes {
        keypad: KeyMode::Application,
        ..NORMAL
    };
    sends(
        keypad,
        &[
            ("kp-0", "\x1bOp"),
            ("kp-9", "\x1bOy"),
            ("kp-decimal", "\x1bOn"),
            ("kp-comma", "\x1bOl"),
            ("kp-minus", "\x1bOm"),
            ("kp-plus", "\x1bOk"),
            ("kp-multiply", "\x1bOj"),
            ("kp-divide", "\x1bOo"),
            ("kp-equal", "\x1bOX"),
            ("kp-enter", "\x1bOM"),
            ("5", "5"),
        ],
    );
    let newline = KeyModes {
        enter: EnterSends::ReturnAndLineFeed,
        ..NORMAL
    };
    sends(newline, &[("enter", "\r\n")]);
    let backarrow = KeyModes {
        backspace: BackspaceSends::Backspace,
        ..NORMAL
    };
    sends(
        backarrow,
        &[("backspace", "\x08"), ("ctrl-backspace", "\x7f")],
    );
    let vt52 = KeyModes {
        set: KeySet::Vt52,
        keypad: KeyMode::Application,
        ..NORMAL
    };
    sends(
        vt52,
        &[
            ("up", "\x1bA"),
            ("f1", "\x1bP"),
            ("kp-1", "\x1b?q"),
            ("ctrl-c", "\x03"),
        ],
    );
}

/// ctlseqs, Alt and Meta Keys: the examples of modifyOtherKeys.
#[test]
fn modify_other_keys() {
    let level = |other_keys| KeyModes {
        other_keys,
        ..NORMAL
    };
    sends(
        level(1),
        &[
            ("ctrl-a", "\x01"),
            ("alt-x", "\x1bx"),
            ("ctrl-;", "\x1b[27;5;59~"),
            ("ctrl-enter", "\x1b[27;5;13~"),
            ("shift-enter", "\x1b[27;2;13~"),
            ("ctrl-tab", "\x1b[27;5;9~"),
            ("shift-tab", "\x1b[Z"),
            ("a", "a"),
            ("enter", "\r"),
            ("up", "\x1b[A"),
        ],
    );
    sends(
        level(2),
        &[
            ("ctrl-a", "\x1b[27;5;97~"),
            ("ctrl-shift-a", "\x1b[27;6;65~"),
            ("alt-x", "\x1b[27;3;120~"),
            ("shift-a", "A"),
            ("shift-tab", "\x1b[27;2;9~"),
            ("alt-escape", "\x1b[27;3;27~"),
            ("a", "a"),
            ("backspace", "\x7f"),
        ],
    );
}

/// kitty's page, "Progressive enhancement" and "Functional key definitions".
#[test]
fn kittys_protocol() {
    sends(
        kitty(1),
        &[
            ("a", "a"),
            ("A", "A"),
            ("enter", "\r"),
            ("tab", "\t"),
            ("backspace", "\x7f"),
            ("escape", "\x1b[27u"),
            ("ctrl-c", "\x1b[99;5u"),
            ("alt-x", "\x1b[120;3u"),
            ("alt-X", "\x1b[120;4u"),
            ("ctrl-space", "\x1b[32;5u"),
            ("shift-enter", "\x1b[13;2u"),
            ("shift-tab", "\x1b[9;2u"),
            ("ctrl-backspace", "\x1b[127;5u"),
            ("up", "\x1b[A"),
            ("ctrl-up", "\x1b[1;5A"),
            ("f1", "\x1b[P"),
            ("f3", "\x1b[13~"),
            ("shift-f3", "\x1b[13;2~"),
            ("f5", "\x1b[15~"),
            ("f13", "\x1b[57376u"),
            ("f24", "\x1b[57387u"),
            ("kp-5", "5"),
            ("kp-enter", "\x1b[57414u"),
            ("delete", "\x1b[3~"),
        ],
    );
    let application = KeyModes {
        cursor: KeyMode::Application,
        ..kitty(1)
    };
    sends(application, &[("up", "\x1b[A")]);
    sends(
        kitty(5),
        &[("alt-X", "\x1b[120:88;4u"), ("ctrl-c", "\x1b[99;5u")],
    );
    sends(
        kitty(8),
        &[
            ("a", "\x1b[97u"),
            ("A", "\x1b[97;2u"),
            ("enter", "\x1b[13u"),
            ("tab", "\x1b[9u"),
            ("backspace", "\x1b[127u"),
            ("space", "\x1b[32u"),
            ("kp-0", "\x1b[57399u"),
            ("é", "\x1b[233u"),
        ],
    );
    sends(kitty(12), &[("A", "\x1b[97:65;2u"), ("a", "\x1b[97u")]);
    sends(
        kitty(24),
        &[
            ("a", "\x1b[97;;97u"),
            ("A", "\x1b[97;2;65u"),
            ("ctrl-a", "\x1b[97;5u"),
            ("kp-1", "\x1b[57400;;49u"),
        ],
    );
    // Event types and alternate keys change no press by themselves.
    sends(
        kitty(2 | 4),
        &[("ctrl-c", "\x03"), ("escape", "\x1b"), ("up", "\x1b[A")],
    );
}

/// A model that a program has switched tells the modes.
#[test]
fn modes_come_from_the_model() {
    let size = termd_vt::Size { cols: 80, rows: 24 };
    let of = |bytes: &[u8]| {
        let mut model = Model::new(size, termd_vt::Scrollback::new(10, 1 << 20));
        model.feed(bytes);
        KeyModes::of(&model)
    };
    assert_eq!(of(b""), NORMAL);
    let all = of(b"\x1b[?1h\x1b=\x1b[20h\x1b[?67h\x1b[>9u\x1b[>4;2m");
    assert_eq!(all.cursor, KeyMode::Application);
    assert_eq!(all.keypad, KeyMode::Application);
    assert_eq!(all.enter, EnterSends::ReturnAndLineFeed);
    assert_eq!(all.backspace, BackspaceSends::Backspace);
    assert_eq!((all.kitty, all.other_keys), (9, 2));
    assert_eq!(of(b"\x1b[?2l").set, KeySet::Vt52);
}
