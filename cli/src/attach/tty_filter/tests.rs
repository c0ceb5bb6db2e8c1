use super::*;

/// What a fresh filter passes, and what it switches back. The same however the input is cut.
#[track_caller]
fn filtered(input: &[u8]) -> (String, String) {
    let mut results = BTreeSet::new();
    for cut in 0..=input.len() {
        let mut filter = TtyFilter::default();
        let (head, tail) = input.split_at(cut);
        let mut passed = filter.feed(head);
        passed.extend(filter.feed(tail));
        results.insert((
            passed.escape_ascii().to_string(),
            filter.reset().escape_ascii().to_string(),
        ));
    }
    assert_eq!(results.len(), 1, "{results:?}");
    results.pop_first().unwrap()
}

#[track_caller]
fn assert_passes(input: &[u8], want: &[u8]) {
    let (passed, _) = filtered(input);
    assert_eq!(
        passed,
        want.escape_ascii().to_string(),
        "{}",
        input.escape_ascii()
    );
}

#[test]
fn what_makes_a_tty_answer_is_dropped() {
    let queries: [&[u8]; 55] = [
        b"\x1b[c",
        b"\x1b[0c",
        b"\x1b[>c",
        b"\x1b[=c",
        b"\x1b[5n",
        b"\x1b[6n",
        b"\x1b[?6n",
        b"\x1b[?996n",
        b"\x1b[>q",
        b"\x1b[>0q",
        b"\x1b[?2026$p",
        b"\x1b[4$p",
        b"\x1b[x",
        b"\x1b[14t",
        b"\x1b[18t",
        b"\x1b[21t",
        b"\x1b[?u",
        b"\x1b[?4m",
        b"\x1b[1;1;1;1;1;1*y",
        // DECRQDE, XTREPORTCOLORS, XTTITLEPOS, XTREPORTSGR.
        b"\x1b[\"v",
        b"\x1b[#R",
        b"\x1b[#S",
        b"\x1b[1;1;2;2#|",
        b"\x1b[?1;1;0S",
        b"\x1b[2$w",
        b"\x1b[1$u",
        b"\x1b['|",
        b"\x1b[1;2'z",
        // Highlight tracking waits for the program.
        b"\x1b[1;1;1;2;9T",
        b"\x1b[?1001h",
        // In-band sizes are reported at once.
        b"\x1b[?2048h",
        b"\x1bP+q544e\x1b\\",
        b"\x1bP$qm\x1b\\",
        b"\x1bP@kitty-cmd{\"cmd\":\"ls\"}\x1b\\",
        b"\x1bPtmux;\x1b\x1b[c\x1b\\",
        b"\x1b]10;?\x07",
        b"\x1b]11;?\x1b\\",
        b"\x1b]10;#fff;?\x07",
        b"\x1b]4;1;?\x07",
        b"\x1b]4;-1;?\x07",
        b"\x1b]4;1;#fff;2;?\x07",
        b"\x1b]21;foreground=?\x1b\\",
        b"\x1b]22;?__current__\x1b\\",
        b"\x1b]22;text\x1b\\",
        b"\x1b]52;c;?\x1b\\",
        b"\x1b]60\x07",
        b"\x1b]99;i=1:p=?;\x1b\\",
        b"\x1b]702;?\x07",
        b"\x1b]1337;ReportVariable=c2Vzc2lvbi5uYW1l\x07",
        b"\x1b]1337;ReportCellSize\x07",
        b"\x1b]1337;Capabilities\x07",
        b"\x1b_Gi=1,a=q;AAAA\x1b\\",
        b"\x05",
        b"\x1bZ",
        b"\x1b[>1;2;3c",
    ];
    for query in queries {
        let input = [b"a", query, "é\r\n".as_bytes()].concat();
        let (passed, undone) = filtered(&input);
        assert_eq!(passed, "aé\r\n".as_bytes().escape_ascii().to_string());
        assert_eq!(undone, "", "{}", query.escape_ascii());
    }
}

#[test]
fn what_acts_beyond_the_screen_is_dropped() {
    let functions: [&[u8]; 47] = [
        // Keyboard lock, local echo, autorepeat.
        b"\x1b[2h",
        b"\x1b[12l",
        b"\x1b[?8l",
        // The printer.
        b"\x1b[5i",
        b"\x1b[?5i",
        b"\x1b[0i",
        // Functions that make a tty type by itself.
        b"\x1b[?2031h",
        b"\x1b[?5522h",
        // The window, its title stack, its size and the LEDs.
        b"\x1b[8;1;1t",
        b"\x1b[2t",
        b"\x1b[23;0t",
        b"\x1b[132$|",
        b"\x1b[?40;3h",
        b"\x1b[1q",
        // VT52, in which `ESC ]` prints; other levels, 8-bit controls, other encodings.
        b"\x1b[?2l",
        b"\x1b[61\"p",
        b"\x1b G",
        b"\x1b%@",
        b"\x1b%G",
        // Modes that were saved before.
        b"\x1b[?2r",
        b"\x1b[?1001s",
        // The status line.
        b"\x1b[1$}",
        b"\x1b[2$~",
        // Keys of other kinds.
        b"\x1b[>1;2m",
        b"\x1b[>m",
        b"\x1b[>2n",
        // Clipboard, files, fonts, directories, programs.
        b"\x1b]52;c;aGk=\x07",
        b"\x1b]5522;type=write\x1b\\",
        b"\x1b]5113;ac=send\x1b\\",
        b"\x1b]50;fixed\x07",
        b"\x1b]7;file://host/tmp\x07",
        // ConEmu's: a message box, a macro, a program, a directory.
        b"\x1b]9;2;a\x07",
        b"\x1b]9;6;Close\x07",
        b"\x1b]9;7;cmd\x07",
        b"\x1b]9;9;/tmp\x07",
        b"\x1b]9;12\x07",
        b"\x1b]9;\x07",
        b"\x1b]777;preexec\x07",
        // Notifications that ask the tty, or have it report that they were clicked or closed.
        b"\x1b]99;i=1:p=?;\x07",
        b"\x1b]99;i=1:a=report;a\x07",
        b"\x1b]99;c=1;a\x07",
        b"\x1b]99;p=buttons;a\x07",
        b"\x1b]9;4;5;1\x07",
        b"\x1b]9;4;1;50;1\x07",
        b"\x1b]1337;RequestUpload=format=tgz\x07",
        b"\x1b]1337;File=name=YQ==:YQ==\x07",
        b"\x1b]133;C\x07",
    ];
    for function in functions {
        let (passed, undone) = filtered(&[b"a", function, b"b"].concat());
        assert_eq!(
            (passed.as_str(), undone.as_str()),
            ("ab", ""),
            "{}",
            function.escape_ascii()
        );
    }
}

#[test]
fn notifications_and_progress_pass() {
    for (function, undone) in [
        ("\x1b]9;the build is done\x07", ""),
        ("\x1b]9;10 tests; 2 failed\x1b\\", ""),
        ("\x1b]777;notify;cargo;done\x07", ""),
        ("\x1b]99;i=1:d=0:p=title;cargo\x1b\\", ""),
        ("\x1b]99;i=1:p=body:e=1:u=2:o=unfocused;ZG9uZQ==\x1b\\", ""),
        ("\x1b]99;;done\x1b\\", ""),
        ("\x1b]9;4;1;50\x07", "\x1b]9;4;0\x1b\\"),
        ("\x1b]9;4;3\x07", "\x1b]9;4;0\x1b\\"),
    ] {
        let shown = |text: &str| text.as_bytes().escape_ascii().to_string();
        assert_eq!(
            filtered(function.as_bytes()),
            (shown(function), shown(undone))
        );
    }
}

/// Terminals differ in what they make of these.
#[test]
fn what_is_not_well_formed_is_dropped() {
    let functions: [&[u8]; 10] = [
        b"\x1b[?>1h",
        b"\x1b[1 5q",
        b"\x1b[ 1m",
        b"\x1b[?4294967298h",
        b"\x1b[4294967301i",
        b"\x1b[99999J",
        b"\x1b]2;a\x9cb\x07",
        "\x1b]2;a\u{9c}b\x07".as_bytes(),
        b"\x1b]2;a\rb\x07",
        b"\x1b]+2;a\x07",
    ];
    for function in functions {
        assert_passes(&[b"a", function, b"b"].concat(), b"ab");
    }
}

#[test]
fn what_draws_passes_byte_for_byte() {
    let drawn: [&[u8]; 16] = [
        b"\x1b[1;31mred\x1b[0m\r\n",
        b"\x1b[2J\x1b[H",
        b"\x1b[?1049h\x1b[?25l",
        b"\x1b]8;;https://example.org/?q=1\x1b\\link\x1b]8;;\x1b\\",
        b"\x1b(0lqk\x1b(B",
        b"\x1b[4:3m\x1b[58:2::255:0:0m",
        b"\x1b[2 q",
        b"\x1b[!p",
        b"\x1b[s\x1b[u",
        b"\x1b[5S\x1b[2T",
        "漢字\t✓".as_bytes(),
        b"\x1b[>4;2m",
        b"\x1b[3;9r\x1b[?69h\x1b[2;5s",
        b"\x1b]11;rgb:00/00/00\x1b\\\x1b]111\x07",
        b"\x1b[2;2;4;4$z\x1b[1*x",
        b"\x07\x08\x0b\x0c\x0e\x0f",
    ];
    for bytes in drawn {
        assert_passes(bytes, bytes);
    }
    assert_passes(
        "\x1b]0;✜ what?\x07".as_bytes(),
        "\x1b[22;0t\x1b]0;✜ what?\x07".as_bytes(),
    );
    assert_passes(b"\x1b[?12;25h\x1b[?1;2;8;2004h", b"\x1b[?25h\x1b[?1;2004h");
    assert_passes(b"\x1b[2;4h", b"\x1b[4h");
}

#[test]
fn a_link_that_misleads_or_runs_something_is_none() {
    for value in [
        ";http://a/\u{202e}b",
        ";http://a/\u{e0041}\u{200b}",
        ";http://a/\u{2028}",
        "id=\u{202e};http://a/",
        ";javascript:alert(1)",
        ";a",
    ] {
        let link = format!("\x1b]8;{value}\x1b\\link\x1b]8;;\x07");
        assert_passes(link.as_bytes(), b"\x1b]8;;\x1b\\link\x1b]8;;\x07");
    }
}

#[test]
fn everything_switched_is_switched_back() {
    let table: [(&[u8], &[u8]); 24] = [
        (b"plain\r\n\x1b[2J\x1b[3;4H", b""),
        (b"\x1b[?1049h", b"\x1b[?1049l"),
        (b"\x1b[?1049h\x1b[?1049l", b""),
        (b"\x1b[?47h", b"\x1b[?47l"),
        (b"\x1b[?25;1047h", b"\x1b[?1047l\x1b[?25h"),
        (b"\x1b[1049h", b""),
        (b"\x1b[?1049h\x1b]0;cut", b"\x1b[?1049l"),
        (b"\x1b[?7l\x1b[4h", b"\x1b[?7h\x1b[4l"),
        (b"\x1b[?2026h", b"\x1b[?2026l"),
        (b"\x1b[?1002;1006h", b"\x1b[?1002l\x1b[?1006l"),
        (b"\x1b=", b"\x1b>"),
        (b"\x1b[5 q", b"\x1b[0 q"),
        (b"\x1b[?6h\x1b[?6l", b"\x1b[?6l\x1b[999;1H"),
        (b"\x1b[2;5r", b"\x1b7\x1b[?69l\x1b[r\x1b8"),
        (b"\x1bH\x1b[3g", b"\x1b[?5W"),
        (b"\x1b)0\x0e", b"\x0f\x1b(B\x1b)B"),
        (b"\x1b]8;;file:///x\x07", b"\x1b]8;;\x1b\\"),
        (
            b"\x1b]4;1;#fff\x07\x1b]12;red\x07",
            b"\x1b]104\x1b\\\x1b]112\x1b\\",
        ),
        (b"\x1b]2;a\x07\x1b]2;b\x07", b"\x1b[23;0t"),
        (b"\x1b[>5u\x1b[>7u", b"\x1b[<3u"),
        (b"\x1b[=5u", b"\x1b[<1u"),
        (
            b"\x1b[>1u\x1b[?1049h\x1b[>1u",
            b"\x1b[<2u\x1b[?1049l\x1b[<2u",
        ),
        (
            b"\x1b[?1049h\x1b[>1u\x1b[?1049l",
            b"\x1b[?47h\x1b[<2u\x1b[?47l",
        ),
        // RIS has done so already.
        (b"\x1b[?2004h\x1b[?1049h\x1bc", b""),
    ];
    for (input, want) in table {
        let (_, undone) = filtered(input);
        assert_eq!(
            undone,
            want.escape_ascii().to_string(),
            "{}",
            input.escape_ascii()
        );
    }
}

/// The person's own keyboard flags, colours and modes are neither taken off nor reset.
#[test]
fn what_the_person_has_set_stays() {
    assert_passes(b"\x1b[<9u", b"");
    assert_passes(b"\x1b[>1u\x1b[<9u", b"\x1b[>0u\x1b[>1u\x1b[<1u\x1b[=0u");
    assert_passes(b"\x1b]104\x07\x1b]111\x07", b"");
    assert_passes(b"\x1b[?2004h\x1bc", b"\x1b[?2004h\x1b[?2004l\x1b[H\x1b[2J");
    let pushes = b"\x1b[>1u".repeat(100);
    let (passed, undone) = filtered(&pushes);
    assert_eq!(
        passed.matches("[>").count(),
        1 + usize::from(MAX_KEY_ENTRIES)
    );
    assert_eq!(undone, format!("\\x1b[<{}u", MAX_KEY_ENTRIES + 1));
}

/// A tty whose alternate screen is all that the program has.
#[test]
fn a_program_cannot_leave_the_alternate_screen_of_who_attaches() {
    type Case<'a> = (&'a [u8], &'a [u8], bool, &'a [u8]);
    let table: [Case<'_>; 5] = [
        (b"a", b"a", false, b""),
        (b"a\x1b[?1049hb", b"ab", true, b""),
        (b"\x1b[?25;1049l", b"\x1b[?25l", true, b"\x1b[?25h"),
        (b"\x1b[?1048h", b"\x1b[?1048h", false, b""),
        (
            b"\x1b[?2004h\x1bc",
            b"\x1b[?2004h\x1b[?2004l\x1b[H\x1b[2J",
            true,
            b"",
        ),
    ];
    for (input, want, switches, undo) in table {
        let mut filter = TtyFilter::default();
        assert_eq!(filter.enter_alternate_screen(), b"\x1b[?1049h");
        let case = input.escape_ascii();
        assert_eq!(filter.feed(input), want, "{case}");
        assert_eq!(filter.take_switched_screen(), switches, "{case}");
        assert!(!filter.take_switched_screen(), "{case}");
        let leave: &[u8] = b"\x1b[999;1H\r\n\x1b[?1049l";
        assert_eq!(filter.reset(), [undo, leave].concat(), "{case}");
        assert_eq!(filter.reset(), b"");
    }
}

#[test]
fn titles_and_text_show_what_they_have() {
    assert_passes("a\u{202e}b\u{2066}c\u{200f}é".as_bytes(), "abcé".as_bytes());
    let (passed, _) = filtered("\x1b]2;a\u{202e}b\u{e0041}\u{200b}é\x1b\\".as_bytes());
    let title = "\x1b[22;0t\x1b]2;abé\x1b\\";
    assert_eq!(passed, title.as_bytes().escape_ascii().to_string());
    assert_passes(
        "\x1b]9;a\u{202e}b\u{e0041}\x07".as_bytes(),
        b"\x1b]9;ab\x07",
    );
}
