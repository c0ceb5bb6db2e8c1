use super::*;

/// What is left of these lines; the last one is open, and quiet.
fn output(typed: &[&str], lines: &str) -> String {
    output_shown(typed, ShowsControls::No, lines)
}

fn output_shown(typed: &[&str], shows_controls: ShowsControls, lines: &str) -> String {
    let mut echo = Echo::default();
    for text in typed {
        echo.typed(0, text, KnownBy::Text, shows_controls);
    }
    let (mut start, mut left) = (0, String::new());
    for line in lines.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let line_end = if body.len() < line.len() {
            LineEnd::Ended
        } else {
            LineEnd::OpenAndQuiet
        };
        if echo.judge(body, start, line_end) == LineKind::Output {
            left.push_str(line);
        }
        start += line.len() as u64;
    }
    left
}

#[test]
fn what_stands_behind_keys_that_the_tty_shows_is_output() {
    let table: &[(&[&str], &str, &str)] = &[
        (&["\u{3}"], "^C\n$ ", "$ "),
        (&["\u{3}"], "^Cbye\nlast\n", "^Cbye\nlast\n"),
        (&["\u{3}"], "bye\n^C\n", "bye\n"),
        (&["\u{3}\u{3}"], "^C^Cbye\n", "^C^Cbye\n"),
        (&["\u{3}", "ls\n"], "^Cbye\n$ ls\nout\n", "^Cbye\nout\n"),
        (&["\u{1a}"], "^Z\n[1]+ Stopped\n", "[1]+ Stopped\n"),
        (&["\u{3}ls\n"], "^Cls\nout\n", "out\n"),
        (&["\u{3}"], "^C", ""),
    ];
    for (typed, lines, left) in table {
        let shown = output_shown(typed, ShowsControls::Yes, lines);
        assert_eq!(shown, *left, "{typed:?} {lines:?}");
    }
}

#[test]
fn echoes_are_left_out() {
    let table: &[(&[&str], &str, &str)] = &[
        (&["sleep 1; echo READY\n"], "sleep 1; echo READY\n", ""),
        (
            &["sleep 1; echo READY\n"],
            "sleep 1; echo READY\nREADY\n$ ",
            "READY\n$ ",
        ),
        (&["print('x')\n"], ">>> print('x')\nx\n>>> ", "x\n>>> "),
        (&["a b\n"], "a    b\nout\n", "out\n"),
        (
            &["for i in x:\n  p(i)\n\n"],
            ">>> for i in x:\n...   p(i)\n... \n1\n",
            "1\n",
        ),
        (&["one\ntwo\n"], "one\ntwo\n1\n2\n", "1\n2\n"),
        (&["one\n", "two\n"], "one\n1\n$ two\n2\n", "1\n2\n"),
        // cat: the tty echoes, the program says it again.
        (&["hello\n"], "hello\nhello\n", "hello\n"),
        // Typed ahead: shown by the tty, and again by the line editor.
        (
            &["echo hi\n"],
            "echo hi\nWelcome\nme@host:~$ echo hi\nhi\n",
            "Welcome\nhi\n",
        ),
        (&["\n"], "\n$ ", "$ "),
        (&["\n"], "out\n", "out\n"),
        (&["ls"], "ls", ""),
        // Not echoed at all.
        (&["secret\n"], "Welcome\n$ ", "Welcome\n$ "),
        (&["history\u{10}\n"], "$ whatever\nout\n", "out\n"),
    ];
    for (typed, lines, left) in table {
        assert_eq!(output(typed, lines), *left, "{typed:?} {lines:?}");
    }
}

#[test]
fn an_open_line_is_not_judged_before_it_is_quiet() {
    let mut echo = Echo::default();
    echo.typed(0, "echo READY\n", KnownBy::Text, ShowsControls::No);
    assert_eq!(
        echo.judge("$ echo RE", 0, LineEnd::Open),
        LineKind::Undecided
    );
    assert_eq!(
        echo.judge("ec", 0, LineEnd::OpenAndQuiet),
        LineKind::Undecided
    );
    assert_eq!(
        echo.judge("login: ", 0, LineEnd::OpenAndQuiet),
        LineKind::Output
    );
    // The line from before the typing is what it was.
    let mut echo = Echo::default();
    echo.typed(10, "x\n", KnownBy::Text, ShowsControls::No);
    assert_eq!(echo.judge("x", 0, LineEnd::Ended), LineKind::Output);
}

#[test]
fn a_tty_shows_controls() {
    let mut echo = Echo::default();
    echo.typed(0, "a\u{1}b\u{7f}\n", KnownBy::Text, ShowsControls::Yes);
    assert_eq!(echo.judge("a^Ab^?", 0, LineEnd::Ended), LineKind::Echo);
}

#[test]
fn marks_come_first_and_what_is_given_up_is_output() {
    let mut echo = Echo::default();
    echo.typed(0, "x\n", KnownBy::Marks, ShowsControls::No);
    let mut by_text = echo.clone();
    by_text.by_text_alone();
    assert_eq!(by_text.judge("$ x", 0, LineEnd::Ended), LineKind::Echo);
    assert_eq!(echo.judge("$ x", 0, LineEnd::Ended), LineKind::Output);
    assert_eq!(echo.judge("x", 0, LineEnd::Ended), LineKind::Output);
    echo.command_began();
    assert!(!echo.is_expecting());
    echo.typed(0, "y\n", KnownBy::Text, ShowsControls::No);
    let rest = echo.clone();
    echo.give_up(&rest, 5);
    assert_eq!(echo.judge("y", 6, LineEnd::Ended), LineKind::Output);
    echo.typed(9, "z\n", KnownBy::Text, ShowsControls::No);
    for _ in 0..MAX_LINES {
        echo.judge("other", 9, LineEnd::Ended);
    }
    assert_eq!(echo.judge("z", 9, LineEnd::Ended), LineKind::Output);
}

#[test]
fn the_tty_echoes_what_is_typed_while_another_inputs_command_runs() {
    let mut echo = Echo::default();
    echo.typed(0, "a\nb\n", KnownBy::Marks, ShowsControls::No);
    echo.typed(0, "c\n", KnownBy::Marks, ShowsControls::No);
    echo.command_began();
    // A here-document is printed as it was typed.
    assert_eq!(echo.judge("b", 0, LineEnd::Ended), LineKind::Output);
    assert_eq!(echo.judge("c", 0, LineEnd::Open), LineKind::Undecided);
    assert_eq!(echo.judge("c", 0, LineEnd::Ended), LineKind::Echo);
    assert_eq!(echo.judge("c", 0, LineEnd::Ended), LineKind::Output);
}

#[test]
fn a_line_that_only_contains_what_was_typed_is_no_whole_echo() {
    let mut echo = Echo::default();
    echo.typed(0, "one\ntwo\nx\n", KnownBy::Text, ShowsControls::No);
    for (line, is_whole) in [("$ one", true), ("two", true), ("xyz", false)] {
        assert_eq!(
            echo.judge(line, 0, LineEnd::Ended),
            LineKind::Echo,
            "{line}"
        );
        assert_eq!(echo.was_whole(), is_whole, "{line}");
    }
}
