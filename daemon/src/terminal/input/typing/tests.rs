use super::*;

const PLAIN: TypingModes = TypingModes {
    keys: KeyModes {
        cursor: crate::terminal::input::keys::KeyMode::Normal,
        keypad: crate::terminal::input::keys::KeyMode::Normal,
        enter: crate::terminal::input::keys::EnterSends::Return,
        backspace: crate::terminal::input::keys::BackspaceSends::Delete,
        set: crate::terminal::input::keys::KeySet::Ansi,
        kitty: 0,
        other_keys: 0,
    },
    paste: Paste::Typed,
};
const BRACKETED: TypingModes = TypingModes {
    paste: Paste::Bracketed,
    ..PLAIN
};

fn typed(input: &TypedInput, modes: TypingModes) -> String {
    let bytes = Typing::of(input).unwrap().bytes(&modes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn text(text: &str) -> TypedInput {
    TypedInput {
        text: Some(text.to_owned()),
        ..TypedInput::default()
    }
}

#[test]
fn text_is_typed_with_enter_for_line_ends() {
    for (given, want) in [
        ("", ""),
        ("ls", "ls"),
        ("ls\n", "ls\r"),
        ("a\nb", "a\rb"),
        ("a\r\nb\r\n", "a\rb\r"),
        ("a\rb", "a\rb"),
        ("\n", "\r"),
        ("\n\n", "\r\r"),
        ("\r\n\n\r", "\r\r\r"),
        ("é\n✓", "é\r✓"),
    ] {
        assert_eq!(typed(&text(given), PLAIN), want, "{given:?}");
    }
    let with_enter = TypedInput {
        enter: true,
        ..text("ls")
    };
    assert_eq!(typed(&with_enter, PLAIN), "ls\r");
    let only_enter = TypedInput {
        enter: true,
        ..TypedInput::default()
    };
    assert_eq!(typed(&only_enter, PLAIN), "\r");
    let mut line_feeds = PLAIN;
    line_feeds.keys.enter = crate::terminal::input::keys::EnterSends::ReturnAndLineFeed;
    assert_eq!(typed(&text("a\nb\n"), line_feeds), "a\r\nb\r\n");
    let mut all_keys = PLAIN;
    all_keys.keys.kitty = 8;
    assert_eq!(typed(&with_enter, all_keys), "ls\u{1b}[13u");
}

#[test]
fn several_lines_and_long_ones_are_pasted_where_that_is_wanted() {
    let long = "x".repeat(PASTED_ABOVE_BYTES + 1);
    for (given, want) in [
        ("ls\n".to_owned(), "ls\r".to_owned()),
        ("a\nb".to_owned(), "\x1b[200~a\rb\x1b[201~".to_owned()),
        ("a\nb\n".to_owned(), "\x1b[200~a\rb\x1b[201~\r".to_owned()),
        (
            "echo 'a\tb'".to_owned(),
            "\x1b[200~echo 'a\tb'\x1b[201~".to_owned(),
        ),
        ("\tx\n".to_owned(), "\x1b[200~\tx\x1b[201~\r".to_owned()),
        // A TAB at the end completes.
        ("ls a\t\t".to_owned(), "ls a\t\t".to_owned()),
        ("\t".to_owned(), "\t".to_owned()),
        (long.clone(), format!("\x1b[200~{long}\x1b[201~")),
        (format!("{long}\n"), format!("\x1b[200~{long}\x1b[201~\r")),
        (long[1..].to_owned(), long[1..].to_owned()),
    ] {
        assert_eq!(typed(&text(&given), BRACKETED), want);
    }
}

#[test]
fn a_paste_cannot_end_itself() {
    for evil in [
        "a\nb\x1b[201~rm -rf ~\n",
        "a\nb\x1b[20\x1b[201~1~rm\n",
        "a\nb\u{9b}201~rm\n",
        "a\nb\x1b[2\x1b[20\x1b[201~1~01~rm\n",
        "a\nb\u{9b}\x1b[201~201~rm",
    ] {
        let bytes = typed(&text(evil), BRACKETED);
        assert_eq!(bytes.matches("201~").count(), 1, "{bytes:?}");
        assert!(
            bytes.trim_end_matches('\r').ends_with("rm -rf ~\x1b[201~")
                || bytes.contains("rm\x1b[201~")
        );
    }
}

#[test]
fn exact_bytes_and_keys() {
    let data = TypedInput {
        data: Some(BASE64.encode("a\nb\x1b")),
        ..TypedInput::default()
    };
    assert_eq!(typed(&data, BRACKETED), "a\nb\x1b");
    let keys = TypedInput {
        keys: ["C-a", "up", "é"].map(str::to_owned).to_vec(),
        enter: true,
        ..TypedInput::default()
    };
    assert_eq!(typed(&keys, PLAIN), "\x01\x1b[Aé\r");
}

#[test]
fn what_cannot_be_typed_is_refused_by_its_field() {
    let field = |input: &TypedInput| match Typing::of(input) {
        Err(TerminalError::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(&TypedInput::default()), "input");
    let both = TypedInput {
        data: Some(String::new()),
        ..text("a")
    };
    assert_eq!(field(&both), "input");
    let keys = |keys: Vec<String>| TypedInput {
        keys,
        ..TypedInput::default()
    };
    assert_eq!(field(&keys(vec!["nokey".to_owned()])), "input.keys");
    assert_eq!(
        field(&keys(vec!["a".to_owned(); MAX_KEYS + 1])),
        "input.keys"
    );
    assert_eq!(field(&text(&"x".repeat(MAX_SEND_BYTES + 1))), "input.text");
    let data = TypedInput {
        data: Some("%".to_owned()),
        ..TypedInput::default()
    };
    assert_eq!(field(&data), "input.data");
    // Brackets do not fit any more.
    let longest = text(&"x".repeat(MAX_SEND_BYTES));
    assert!(Typing::of(&longest).unwrap().bytes(&PLAIN).is_ok());
    assert!(Typing::of(&longest).unwrap().bytes(&BRACKETED).is_err());
}

#[test]
fn lines_that_a_tty_would_cut() {
    let line = |n: usize| vec![b'x'; n];
    for (bytes, pending, cut) in [
        (line(4_095), 0, false),
        ([line(4_095), line(0)].join(&b'\r'), 0, false),
        (line(4_096), 0, true),
        (line(4_000), 95, false),
        (line(4_000), 96, true),
        ([line(4_095), line(4_095)].join(&b'\n'), 0, false),
        ([line(1), line(4_096), line(1)].join(&b'\r'), 0, true),
        ([line(4_095), line(4_095)].join(&4), 0, false),
    ] {
        assert_eq!(
            Lines::of(&bytes).are_cut(pending),
            cut,
            "{} after {pending}",
            bytes.len()
        );
    }
    assert_eq!(pending_after(10, b"abc"), 13);
    assert_eq!(pending_after(10, b"abc\rde"), 2);
    assert_eq!(pending_after(10, b"abc\x03"), 0);
}

#[test]
fn an_echo_shows_no_sequences() {
    for (bytes, shown) in [
        (&b"ls\r"[..], "ls\n"),
        (b"a\r\nb\nc", "a\nb\nc"),
        (b"\x1b[200~a\rb\x1b[201~\r", "a\nb\n"),
        (b"\x1b[Als\x1bOA\x1bb", "ls"),
        (b"\x03\x7f\t", "\u{3}\u{7f}\t"),
        (b"\xff\x1b", "\u{fffd}"),
        (b"\x1b[1;5", ""),
        (b"\x1b[13u", ""),
    ] {
        assert_eq!(echo_of(bytes), shown, "{bytes:?}");
    }
}
