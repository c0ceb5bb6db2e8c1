use super::*;

const SIZE: PlainSize = PlainSize { cols: 20, rows: 5 };

fn matcher(state: CommandState) -> PatternMatcher {
    PatternMatcher::new(PlainText::at(SIZE, 0, Screen::Primary), state)
}

fn typed(text: &str, known_by: KnownBy) -> Stop {
    Stop::Typed {
        text: text.to_owned(),
        known_by,
        shows_controls: ShowsControls::No,
    }
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).unwrap()
}

fn find(matcher: &mut PatternMatcher, text: &str) -> Option<String> {
    let found = matcher.look(Some(&pattern(text)), Quiet::No);
    found.map(|found| found.text)
}

#[test]
fn a_match_crosses_pieces_and_lines_and_counts_an_open_line() {
    let mut matcher = matcher(CommandState::Unknown);
    for piece in ["one\r\ntw", "o\r\nPass", "word: "] {
        matcher.feed(piece.as_bytes());
    }
    assert_eq!(
        find(&mut matcher, "one\ntwo\nPass").as_deref(),
        Some("one\ntwo\nPass")
    );
    let found = matcher
        .look(Some(&pattern("^Password: $")), Quiet::No)
        .unwrap();
    assert_eq!((found.start, found.end), (Offset(10), Offset(20)));
    assert_eq!(found.line, "Password: ");
    // The line before ends where the next one begins.
    let found = matcher.look(Some(&pattern("wo")), Quiet::No).unwrap();
    assert_eq!((found.start, found.line.as_str()), (Offset(5), "two"));
}

#[test]
fn the_shells_line_is_left_out_between_its_marks() {
    let mut matcher = matcher(CommandState::Input);
    matcher.stop(typed("sleep 1; echo READY\n", KnownBy::Marks));
    // Wider than the screen, as readline wraps it.
    matcher.feed(b"sleep 1; echo READY \r");
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.feed(b"\r\n");
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.stop(Stop::Mark(Step::OutputStart));
    assert_eq!(matcher.output_start(), Some(matcher.fed()));
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.feed(b"READY\r\n");
    assert_eq!(find(&mut matcher, "^READY$").as_deref(), Some("READY"));
    assert_eq!(find(&mut matcher, r"\$\s*$"), None);
    matcher.stop(Stop::Mark(Step::Finished));
    matcher.stop(Stop::Mark(Step::PromptStart));
    matcher.feed(b"$ ");
    matcher.stop(Stop::Mark(Step::PromptEnd));
    assert_eq!(find(&mut matcher, r"\$\s*$").as_deref(), Some("$ "));
    assert!(!matcher.echo.is_expecting());
}

/// Readline on a line as wide as the screen: it goes back up and draws the line again.
#[test]
fn a_line_that_is_drawn_again_is_left_out() {
    let before = b"\x1b[?2004huser@host:~# ";
    let plain = PlainText::resume(SIZE, 0, Screen::Primary, before);
    let mut matcher = PatternMatcher::new(plain, CommandState::Input);
    matcher.stop(typed("echo READY\n", KnownBy::Marks));
    matcher.feed(b"echo RE \r\x1b[A\x1b[C\x1b[C\x1b[C\x1b[KADY\r\n\x1b[?2004l\r");
    matcher.stop(Stop::Mark(Step::OutputStart));
    matcher.feed(b"READY\r\n");
    assert_eq!(
        find(&mut matcher, r"(?s)\A.*\z").as_deref(),
        Some("READY\n")
    );
}

#[test]
fn several_lines_have_an_echo_each() {
    let mut matcher = matcher(CommandState::Input);
    matcher.stop(typed("echo A\necho B\n", KnownBy::Marks));
    for (echo, output) in [("echo A", "A"), ("echo B", "B")] {
        matcher.feed(format!("{echo}\r\n").as_bytes());
        matcher.stop(Stop::Mark(Step::OutputStart));
        matcher.feed(format!("{output}\r\n").as_bytes());
        matcher.stop(Stop::Mark(Step::Finished));
        matcher.stop(Stop::Mark(Step::PromptStart));
        matcher.feed(b"$ ");
        matcher.stop(Stop::Mark(Step::PromptEnd));
    }
    assert_eq!(find(&mut matcher, "echo"), None);
    assert_eq!(
        find(&mut matcher, r"A\n\$ *\nB\n\$ $").as_deref(),
        Some("A\n$ \nB\n$ ")
    );
}

#[test]
fn a_line_without_marks_is_left_out_by_its_text() {
    let mut matcher = matcher(CommandState::Unknown);
    matcher.feed(b">>> ");
    matcher.stop(typed("print('READY')\n", KnownBy::Text));
    matcher.feed(b"print('\x1b[32mREADY\x1b[m')");
    assert_eq!(find(&mut matcher, "READY"), None);
    assert_eq!(matcher.look(Some(&pattern("READY")), Quiet::Yes), None);
    matcher.feed(b"\r\n");
    assert_eq!(matcher.look(Some(&pattern("READY")), Quiet::Yes), None);
    matcher.feed(b"READY\r\n>>> ");
    assert_eq!(
        find(&mut matcher, "READY\n>>> $").as_deref(),
        Some("READY\n>>> ")
    );
    assert_eq!(matcher.output_start(), Some(Offset(28)));
}

/// The echoes of lines that were typed together are left out together, where nothing is between them.
#[test]
fn output_begins_behind_all_echoes_that_follow_each_other() {
    let lines = "select 1\nfrom v\nwhere 1>0;\n";
    for (before, input, raw, output) in [
        // A paste in brackets: shown in reverse, and once more when it is taken.
        (
            "=# ",
            lines,
            "\x1b[7mselect 1\x1b[27m\r\n\r\x1b[7mfrom v\x1b[27m\r\n\r\x1b[7mwhere 1>0;\x1b[27m\
             \x1b[A\x1b[A\r=# select 1\r\n\rfrom v\r\n\rwhere 1>0;\r\n",
            " a \r\n---\r\n 1\r\n=# ",
        ),
        (">>> ", "a=1\nb=2\n", "a=1\r\n>>> b=2\r\n", "3\r\n>>> "),
        (">>> ", "f()\nb=2\n", "f()\r\n", "1\r\n>>> b=2\r\n>>> "),
        (">>> ", "f()\nb=2\n", "f()\r\n", "\r\n>>> b=2\r\n>>> "),
        // It only contains the next line that was typed.
        ("$ ", "echo xyz\nx\n", "echo xyz\r\n", "xyz\r\n$ x\r\n"),
        // What clears the screen clears its own echo.
        (
            "$ ",
            "clear; echo x\n",
            "clear; echo x\r\n\x1b[H\x1b[2J",
            "x\r\n$ ",
        ),
        // cat, whose tty has echoed both before it says them.
        ("", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"),
        ("", "a\nb\n", "a\r\n", "a\r\nb\r\nb\r\n"),
    ] {
        let start = (before.len() + raw.len()) as u64;
        let raw = raw.to_owned() + output;
        // However it comes, in one go or a byte at a time with a look behind each.
        for step in [raw.len(), 1] {
            let mut matcher = matcher(CommandState::Unknown);
            matcher.feed(before.as_bytes());
            matcher.stop(typed(input, KnownBy::Text));
            for part in raw.as_bytes().chunks(step) {
                matcher.feed(part);
                matcher.look(None, Quiet::No);
            }
            matcher.look(None, Quiet::Yes);
            assert_eq!(
                matcher.output_start(),
                Some(Offset(start)),
                "{raw:?} by {step}"
            );
        }
    }
}

/// Output that does not end its line stands before the next prompt, and is output.
#[test]
fn output_begins_before_a_prompt_that_stands_behind_it() {
    let mut matcher = matcher(CommandState::Unknown);
    matcher.feed(b"(gdb) ");
    matcher.stop(typed("output 6\n", KnownBy::Text));
    matcher.feed(b"output 6\r\n6(gdb) ");
    matcher.stop(typed("echo\n", KnownBy::Text));
    matcher.feed(b"echo\r\n(gdb) ");
    matcher.look(None, Quiet::Yes);
    assert_eq!(matcher.output_start(), Some(Offset(16)));
}

/// The tty's echo stays on the screen, and is none of the output however long it is quiet.
#[test]
fn an_echo_that_was_found_is_not_given_up() {
    let mut matcher = matcher(CommandState::Unknown);
    matcher.feed(b"$ ");
    matcher.stop(typed("sleep 1; READY\n", KnownBy::Text));
    matcher.feed(b"sleep 1; READY\r\n");
    for _ in 0..3 {
        assert_eq!(matcher.look(Some(&pattern("READY")), Quiet::Yes), None);
    }
    matcher.feed(b"READY\r\n$ ");
    let found = matcher.look(Some(&pattern("READY")), Quiet::No).unwrap();
    assert_eq!((found.line.as_str(), found.start), ("READY", Offset(18)));
}

#[test]
fn what_is_no_echo_is_looked_at_when_it_is_quiet() {
    let mut matcher = matcher(CommandState::Unknown);
    matcher.stop(typed("secret\n", KnownBy::Text));
    matcher.feed(b"Welcome");
    assert_eq!(find(&mut matcher, "Welcome"), None);
    let found = matcher.look(Some(&pattern("Welcome")), Quiet::Yes);
    assert!(found.is_some());
    assert!(!matcher.is_expecting());
    // A job that prints over the prompt.
    let mut matcher = super::tests::matcher(CommandState::Input);
    matcher.stop(Stop::Mark(Step::PromptEnd));
    matcher.feed(b"READY\r\n");
    assert_eq!(find(&mut matcher, "READY"), None);
    assert!(matcher.look(Some(&pattern("READY")), Quiet::Yes).is_some());
}

#[test]
fn memory_is_bounded_and_a_late_match_is_found() {
    let mut matcher = matcher(CommandState::Unknown);
    let piece = "0123456789 abcdef\r\n".repeat(10_000);
    for _ in 0..20 {
        matcher.feed(piece.as_bytes());
        assert_eq!(find(&mut matcher, "never"), None);
        assert!(matcher.window.text.len() <= 2 * WINDOW_BYTES);
        assert!(matcher.waiting.text.len() <= MAX_LINE_BYTES);
    }
    let endless = "x".repeat(1 << 20);
    matcher.feed(endless.as_bytes());
    assert_eq!(find(&mut matcher, "never"), None);
    assert!(matcher.waiting.text.len() <= MAX_LINE_BYTES);
    matcher.feed(b"now\r\n");
    assert_eq!(find(&mut matcher, "xnow$").as_deref(), Some("xnow"));
}

/// However the output is cut, the same is found.
#[test]
fn cuts_make_no_difference() {
    let raw = b"a\r\n\x1b[31mREADY\x1b[m 1\r\n50%\r60%\r\ndone\r\n$ ";
    for size in 1..raw.len() {
        let mut matcher = matcher(CommandState::Unknown);
        for piece in raw.chunks(size) {
            matcher.feed(piece);
            matcher.look(Some(&pattern("never")), Quiet::No);
        }
        let all = find(&mut matcher, r"(?s)\A.*\z");
        assert_eq!(all.as_deref(), Some("a\nREADY 1\n60%\ndone\n$ "), "{size}");
    }
}

/// A line that was typed while the last command ran: the tty echoes it into that one's output, and
/// the shell shows it again at its prompt.
#[test]
fn a_line_typed_ahead_is_echoed_twice() {
    let mut matcher = matcher(CommandState::Input);
    matcher.stop(typed("sleep 1\n", KnownBy::Marks));
    matcher.stop(typed("echo READY\n", KnownBy::Marks));
    matcher.feed(b"sleep 1\r\n");
    matcher.stop(Stop::Mark(Step::OutputStart));
    matcher.feed(b"echo READY");
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.feed(b"\r\n");
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.stop(Stop::Mark(Step::Finished));
    matcher.stop(Stop::Mark(Step::PromptStart));
    matcher.feed(b"$ ");
    matcher.stop(Stop::Mark(Step::PromptEnd));
    matcher.feed(b"echo READY\r\n");
    assert_eq!(find(&mut matcher, "READY"), None);
    matcher.stop(Stop::Mark(Step::OutputStart));
    matcher.feed(b"READY\r\n");
    assert_eq!(find(&mut matcher, "READY"), Some("READY".to_owned()));
}

/// What a program in raw mode shows of keys is its output, although it holds what was typed.
#[test]
fn more_than_was_typed_is_output() {
    let mut matcher = matcher(CommandState::Unknown);
    matcher.feed(b"on\r\n");
    for (keys, shown) in [("\u{1b}OA", "^[OA"), ("x\n", "x^M"), ("\u{3}", "^C")] {
        matcher.stop(typed(keys, KnownBy::Text));
        matcher.feed(shown.as_bytes());
    }
    let found = matcher.look(Some(&pattern(r"\^\[OAx\^M\^C")), Quiet::Yes);
    assert_eq!(found.unwrap().line, "^[OAx^M^C");
}
