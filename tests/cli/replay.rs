//! `replay` at a person's tty: what it shows, where its keys lead, and the tty afterwards.

use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use termd_proto::screen::ScreenRows;
use termd_test_support::{DEADLINE, Deadline, Process, Pty, TestDaemon};
use termd_vt::{Model, Scrollback, Size};

use crate::termctl::{command, ok, ready_terminal, termctl};

const COLS: u16 = 80;
const ROWS: u16 = 20;

/// A person's tty with `termctl replay` on it, and what a person sees there.
struct ReplayTty {
    pty: Pty,
    replay: Child,
    modes: String,
    seen: Model,
    /// All that termctl has written.
    written: String,
}

impl ReplayTty {
    fn new(daemon: &TestDaemon, args: &[&str]) -> Self {
        let pty = Pty::open(COLS, ROWS);
        let modes = pty.modes();
        let words: Vec<&str> = ["replay"].iter().chain(args).copied().collect();
        let replay = pty.spawn(&command(daemon, &words));
        let size = Size {
            cols: COLS.into(),
            rows: ROWS.into(),
        };
        Self {
            pty,
            replay,
            modes,
            seen: Model::new(size, Scrollback::new(100, 1 << 20)),
            written: String::new(),
        }
    }

    fn rows(&self) -> Vec<String> {
        let rows = (0..usize::from(ROWS)).map(|y| self.seen.row_text(y));
        rows.collect()
    }

    /// Waits until the rows that have text, the bar the last, are as they should be.
    #[track_caller]
    fn wait_for(&mut self, what: &str, is_shown: impl Fn(&[String]) -> bool) {
        let deadline = Deadline::after(DEADLINE);
        loop {
            self.look();
            let mut rows = self.rows();
            rows.retain(|row| !row.is_empty());
            if is_shown(&rows) {
                return;
            }
            assert!(!deadline.passed(), "{what}: {rows:#?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn look(&mut self) {
        let written = self.pty.read_now();
        self.seen.feed(written.as_bytes());
        self.written.push_str(&written);
    }

    /// Waits for these rows above a bar that begins with this.
    #[track_caller]
    fn wait_for_rows(&mut self, rows: &[&str], state: &str) {
        self.wait_for(&format!("{state} {rows:?}"), |shown| {
            shown
                .split_last()
                .is_some_and(|(bar, shown)| shown == rows && bar.trim_start().starts_with(state))
        });
    }

    fn press(&mut self, keys: &str) {
        self.pty.write(keys);
    }

    /// Waits for the end, which must give back the tty: the exit code.
    #[track_caller]
    fn wait_restored(mut self) -> Option<i32> {
        let status = self.pty.wait(&mut self.replay);
        self.look();
        assert_eq!(self.pty.modes(), self.modes);
        assert!(!self.seen.is_alternate() && !self.seen.hides_cursor());
        assert!(self.seen.modes().autowrap);
        assert_eq!(self.rows().concat(), "", "what stood there before");
        assert!(!self.written.contains("\x1b]"), "{:?}", self.written);
        status.code()
    }
}

/// A terminal that shows `one`, `two` on a cleared screen, and `three`, each after a line of input, and has
/// exited; and the offsets after each.
fn three_screens(daemon: &TestDaemon) -> (String, Vec<String>) {
    let script = "stty -echo; printf '\\033]0;title\\007ready one'; read x; \
                  printf '\\033[2J\\033[Htwo \\033]52;c;aGk=\\007\\033[c'; read x; echo; echo three";
    let id = ready_terminal(daemon, script);
    let mut ends = Vec::new();
    for mark in ["one", "two"] {
        ok(daemon, &["wait", &id, "--for", mark]);
        let screen = termctl(daemon, &["screen", "--json", &id]).json();
        ends.push(screen["end"].to_string());
        ok(daemon, &["send", &id, "--enter"]);
    }
    ok(daemon, &["wait", &id]);
    (id, ends)
}

#[test]
fn a_closed_terminal_is_played_and_searched_in() {
    let daemon = TestDaemon::start();
    let (id, _) = three_screens(&daemon);
    ok(&daemon, &["close", &id]);
    let mut tty = ReplayTty::new(&daemon, &[&id]);
    tty.wait_for_rows(&["two", "three"], "end");
    tty.press("/nowhere\r");
    tty.wait_for_rows(&["two", "three"], "no match after this");
    tty.press("/one\r");
    tty.wait_for_rows(&["two", "three"], "no match after this");
    tty.press("N");
    tty.wait_for_rows(&["ready one"], "paused");
    tty.press("/t.o\r");
    tty.wait_for_rows(&["two"], "paused");
    tty.press("/(\r");
    tty.wait_for_rows(&["two"], "( is no regular expression");
    tty.press("n");
    tty.wait_for("a bar again", |rows| {
        rows.last().is_some_and(|bar| bar.contains('/'))
    });
    tty.press(" ");
    tty.wait_for_rows(&["two", "three"], "end");
    tty.press("q");
    assert_eq!(tty.wait_restored(), Some(0));
}

#[test]
fn a_match_in_a_burst_is_shown_and_lit() {
    let daemon = TestDaemon::start();
    let lines = "seq -f row_number_%.0f 30000";
    let id = ok(&daemon, &["create", "--", "sh", "-c", lines]);
    ok(&daemon, &["wait", &id]);
    let mut tty = ReplayTty::new(&daemon, &[&id]);
    tty.wait_for("the end", |rows| {
        rows.last()
            .is_some_and(|bar| bar.trim_start().starts_with("end"))
    });
    tty.press("\x1b[H/row_number_20012$\r");
    tty.wait_for("the match", |rows| {
        rows.iter().any(|row| row == "row_number_20012")
    });
    let screen = tty.seen.screen(ScreenRows::default());
    let mut runs = screen.lines.iter().flat_map(|line| &line.runs);
    assert!(
        runs.any(|run| run.text == "row_number_20012" && run.style.inverse),
        "{screen:?}"
    );
    tty.press("q");
    assert_eq!(tty.wait_restored(), Some(0));
}

#[test]
fn a_time_before_the_start_is_an_error() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "true"]);
    let mut pty = Pty::open(COLS, ROWS);
    let mut replay = pty.spawn(&command(&daemon, &["replay", &id, "--at", "1h"]));
    let said = pty.read_until("start");
    assert!(
        said.contains("--at is before the terminal's start"),
        "{said}"
    );
    assert_eq!(pty.wait(&mut replay).code(), Some(2));
}

#[test]
fn a_live_terminal_is_followed_over_a_killed_server() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; echo ready; while read line; do echo \"GOT $line\"; done";
    let id = ready_terminal(&daemon, script);
    let mut tty = ReplayTty::new(&daemon, &[&id]);
    tty.wait_for_rows(&["ready"], "live");
    ok(&daemon, &["send", &id, "a", "--enter"]);
    tty.wait_for_rows(&["ready", "GOT a"], "live");
    daemon.kill_server();
    ok(&daemon, &["send", &id, "b", "--enter"]);
    tty.wait_for_rows(&["ready", "GOT a", "GOT b"], "live");
    tty.press(" ");
    tty.wait_for_rows(&["ready", "GOT a", "GOT b"], "paused");
    ok(&daemon, &["send", &id, "c", "--enter"]);
    ok(&daemon, &["send", &id, "--eof"]);
    ok(&daemon, &["wait", &id]);
    tty.press(" ");
    tty.wait_for_rows(&["ready", "GOT a", "GOT b", "GOT c"], "end");
    tty.press("\x03");
    assert_eq!(tty.wait_restored(), Some(0));
}

#[test]
fn commands_are_gone_to_and_played_alone() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "bash"]);
    for line in [
        "clear; echo first",
        "clear; echo second",
        "clear; echo third",
    ] {
        ok(&daemon, &["exec", &id, "--", line]);
    }
    ok(&daemon, &["send", &id, "exit", "--enter"]);
    ok(&daemon, &["wait", &id]);
    let stands_on = |word: &'static str| {
        move |rows: &[String]| {
            let bar = rows
                .last()
                .is_some_and(|bar| bar.contains(&format!("$ clear; echo {word}")));
            bar && rows
                .first()
                .is_some_and(|row| row.contains(&format!("clear; echo {word}")))
        }
    };
    let mut tty = ReplayTty::new(&daemon, &[&id]);
    tty.wait_for("the end", |rows| {
        rows.last().is_some_and(|bar| bar.contains(" end "))
    });
    tty.press("/\x1b\x1b[H");
    tty.press(" ");
    tty.press("]");
    tty.wait_for("the first command", |rows| {
        rows.last().is_some_and(|bar| bar.contains("$ "))
    });
    tty.press("q");
    assert_eq!(tty.wait_restored(), Some(0));
    let mut tty = ReplayTty::new(&daemon, &[&id, "--command", "2"]);
    tty.wait_for("the second command alone", |rows| {
        let bar = rows
            .last()
            .is_some_and(|bar| bar.contains(" end ") && bar.contains("echo second"));
        bar && rows[0] == "second"
    });
    tty.press("q");
    assert_eq!(tty.wait_restored(), Some(0));
    let commands = termctl(&daemon, &["history", "--json", &id]).json();
    let third = commands.as_array().unwrap().iter();
    let third = third
        .clone()
        .find(|command| command["number"] == 3)
        .unwrap();
    let start = third["start"].to_string();
    let mut tty = ReplayTty::new(&daemon, &[&id, "--from", &start, "--idle", "365d"]);
    tty.wait_for("the rest", |rows| rows.iter().any(|row| row == "third"));
    let mut before = ReplayTty::new(&daemon, &[&id, "--to", &start]);
    before.wait_for("all before the third command", |rows| {
        rows.last().is_some_and(|bar| bar.contains(" end ")) && stands_on("third")(rows)
            || rows.iter().any(|row| row.contains("echo third"))
    });
    for mut tty in [tty, before] {
        tty.press("q");
        assert_eq!(tty.wait_restored(), Some(0));
    }
}

#[test]
fn the_tty_is_given_back_whatever_ends_it() {
    let daemon = TestDaemon::start();
    let (id, ends) = three_screens(&daemon);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut tty = ReplayTty::new(&daemon, &[&id, "--at", &ends[1]]);
        tty.wait_for("a bar", |rows| {
            rows.last().is_some_and(|bar| bar.contains(" / "))
        });
        Process::expect(tty.replay.id().into()).signal(signal);
        assert_eq!(tty.wait_restored(), Some(code));
    }
    // A smaller tty, and one that shrinks while something is shown.
    let mut tty = ReplayTty::new(&daemon, &[&id]);
    tty.wait_for_rows(&["two", "three"], "end");
    tty.pty.resize(20, 1);
    tty.pty.resize(10, 2);
    tty.pty.resize(COLS, ROWS);
    tty.press("?");
    tty.wait_for_rows(&["two", "three"], "space pause");
    tty.press("q");
    assert_eq!(tty.wait_restored(), Some(0));
}

#[test]
fn a_signal_ends_a_replay_that_the_tty_has_stopped_in_the_background() {
    let daemon = TestDaemon::start();
    let (id, _) = three_screens(&daemon);
    let mut pty = Pty::open(COLS, ROWS);
    let modes = pty.modes();
    // timeout(1) makes a process group of its own. It sends SIGTERM, then SIGCONT, and in the end SIGKILL.
    let replay = format!("{} replay {id}", env!("CARGO_BIN_EXE_termctl"));
    let script = format!("timeout --kill-after=10 0.3 {replay}; echo over $?");
    let mut shell = daemon.command("sh");
    let mut shell = pty.spawn(shell.args(["-c", &script]));
    pty.read_until("over 124");
    pty.wait(&mut shell);
    assert_eq!(pty.modes(), modes);
}

#[test]
fn what_cannot_be_played_is_said_in_one_line() {
    let daemon = TestDaemon::start();
    let (id, ends) = three_screens(&daemon);
    let without_tty = termctl(&daemon, &["replay", &id]);
    assert_eq!(without_tty.code, Some(2));
    without_tty.assert_one_line();
    assert_eq!(termctl(&daemon, &["replay", "nowhere"]).code, Some(3));
    for (args, code, said) in [
        (vec!["nowhere"], 3, "no terminal"),
        (
            vec![&*id, "--at", "999999"],
            2,
            "--at is past the end of the output, which is",
        ),
        (
            vec![&*id, "--from", &*ends[1], "--to", &*ends[0]],
            2,
            "--from is after --to",
        ),
        (
            vec![&*id, "--from", &*ends[0], "--to", &*ends[0]],
            2,
            "nothing was printed",
        ),
        (vec![&*id, "--command", "7"], 3, "no command"),
        (vec![&*id, "--speed", "-1"], 2, "a speed is 0.1 to 1000"),
        (
            vec![&*id, "--command", "x"],
            2,
            "a whole number is expected",
        ),
        (
            vec![&*id, "--idle", "1ms"],
            2,
            "a pause is at least 20ms long",
        ),
        (vec![&*id, "--at", "noon"], 2, "a position is an offset"),
    ] {
        let mut pty = Pty::open(COLS, ROWS);
        let words: Vec<&str> = ["replay"].into_iter().chain(args.iter().copied()).collect();
        let mut child = pty.spawn(&command(&daemon, &words));
        let status = pty.wait(&mut child);
        let shown = pty.read_now();
        assert_eq!(status.code(), Some(code), "{args:?}: {shown}");
        assert!(shown.contains(said), "{args:?}: {shown}");
        assert_eq!(shown.trim_end().lines().count(), 1, "{args:?}: {shown}");
        assert!(!shown.contains("\x1b[?1049h"), "{args:?}: {shown}");
    }
}
