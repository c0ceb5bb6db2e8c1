//! What `read` prints on a person's tty.

use termd_test_support::{Pty, TestDaemon};

use crate::termctl::{command, ok, ready_terminal};

#[test]
fn read_on_a_tty_has_colours_and_applies_redraws() {
    let daemon = TestDaemon::start();
    // The answer to the question for the cursor is not echoed.
    let script = "stty -echo; printf 'progress 10%%\\r\\033[32mprogress 100%%\\033[m\\n'; \
                  printf 'hellp\\033]0;title\\007\\033[6n\\bo\\n'; echo ready";
    let id = ready_terminal(&daemon, script);
    ok(&daemon, &["wait", &id]);
    let coloured = "\x1b[32mprogress 100%\x1b[m\r\nhello\r\nready\r\n";
    let plain = "progress 100%\r\nhello\r\nready\r\n";
    for (options, no_color, want) in [
        (&[][..], "", coloured),
        (&["--tail", "3"], "", coloured),
        (&["--follow"], "", coloured),
        (&["--command", "0"], "", coloured),
        (&["--plain"], "", plain),
        (&["--color", "never"], "", plain),
        (&[], "1", plain),
        (&["--color", "always"], "1", coloured),
    ] {
        let args = [&["read", &id], options].concat();
        let mut pty = Pty::open(80, 24);
        let mut read = command(&daemon, &args);
        let mut read = pty.spawn(read.env("TERM", "xterm").env("NO_COLOR", no_color));
        let mut shown = pty.read_until("ready\r\n");
        assert!(pty.wait(&mut read).success());
        shown.push_str(&pty.read_now());
        assert_eq!(shown.trim_end_matches("\x1b[m"), want, "{options:?}");
    }
    assert!(ok(&daemon, &["read", &id, "--color", "always"]).contains("\x1b[32mprogress 100%"));
}

#[test]
fn a_tty_shows_text_in_its_order() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(
        &daemon,
        r"printf 'a\342\200\256b\342\201\246c\n'; echo ready",
    );
    ok(&daemon, &["wait", &id]);
    for (args, want) in [
        (&["read", &id][..], "abc\r\nready\r\n"),
        (&["read", &id, "--plain"], "abc\r\nready\r\n"),
        (&["read", &id, "--grep", "[ar]"], "1:abc\r\n2:ready\r\n"),
        (&["wait", &id, "--for", "^a"], "abc\r\n"),
        (&["export", &id, "--format", "text"], "abc\r\nready\r\n"),
        (
            &["export", &id, "--format", "text", "-o", "/dev/stdout"],
            "abc\r\nready\r\n",
        ),
    ] {
        let mut pty = Pty::open(80, 24);
        let args = [args, &["--color", "never"]].concat();
        let mut shown = pty.spawn(&command(&daemon, &args));
        assert!(pty.wait(&mut shown).success());
        assert_eq!(pty.read_now(), want, "{args:?}");
    }
    for args in [
        &["read", &id][..],
        &["wait", &id, "--for", "^a"],
        &["export", &id, "--format", "text"],
    ] {
        let piped = ok(&daemon, args);
        assert!(piped.starts_with("a\u{202e}b\u{2066}c"), "{piped:?}");
    }
}

#[test]
fn a_table_fits_the_tty_and_is_whole_in_a_pipe() {
    let daemon = TestDaemon::start();
    let long = "x".repeat(200);
    let id = ok(
        &daemon,
        &["create", "--label", "l", "--", "sleep", "1000", &long],
    );
    ok(&daemon, &["kill", &id]);
    for (verb, width) in ["list", "history", "audit"]
        .into_iter()
        .flat_map(|verb| [100, 80, 40].map(|width| (verb, width)))
    {
        let mut pty = Pty::open(width, 24);
        let mut shown = pty.spawn(command(&daemon, &[verb]).env("TERM", "xterm"));
        assert!(pty.wait(&mut shown).success());
        let table = pty.read_now();
        let bare = table.replace("\x1b[31m", "").replace("\x1b[m", "");
        let widest = bare.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{table}");
        assert!(bare.lines().count() > 1 && bare.contains(' '), "{table}");
        assert!(ok(&daemon, &[verb]).contains(&long), "{verb}");
    }
    let coloured = |args: &[&str], no_color: &str| {
        let mut pty = Pty::open(100, 24);
        let mut list = command(&daemon, &[&["list"], args].concat());
        let mut shown = pty.spawn(list.env("TERM", "xterm").env("NO_COLOR", no_color));
        let table = pty.read_until("…\r\n");
        assert!(pty.wait(&mut shown).success());
        table.contains("\x1b[31mexited\x1b[m")
    };
    assert!(coloured(&[], ""));
    assert!(!coloured(&[], "1"));
    assert!(coloured(&["--color", "always"], "1"));
    assert!(!coloured(&["--color", "never"], ""));
    assert!(ok(&daemon, &["list", "--color=always"]).contains("\x1b[31m"));
    assert!(!ok(&daemon, &["list"]).contains('\x1b'));
}

#[test]
fn times_are_local_unless_utc_is_asked_for() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let created = |args: &[&str]| {
        let mut show = command(&daemon, &[&["show", &id], args].concat());
        let output = show.env("TZ", "XXX-14").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with("created "))
            .unwrap();
        line.split_once(' ').unwrap().1.trim().to_owned()
    };
    let (local, utc) = (created(&[]), created(&["--utc"]));
    assert!(utc.ends_with('Z') && utc.contains('T'), "{utc}");
    assert_eq!(local.len(), "2026-11-21 13:08:39".len(), "{local}");
    // Fourteen hours later: minutes and seconds are the same.
    assert_eq!(local[14..], utc[14..19]);
    assert_ne!(local[11..13], utc[11..13]);
}

#[test]
fn a_screen_as_text_ends_with_its_text() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "printf 'one\\n\\nready\\n'; sleep 1000");
    let output = command(&daemon, &["screen", &id]).output().unwrap();
    assert_eq!(output.stdout, b"one\n\nready\n");
    let rows = command(&daemon, &["screen", &id, "--rows", "0..5"])
        .output()
        .unwrap();
    assert_eq!(rows.stdout.split(|byte| *byte == b'\n').count(), 7);
}
