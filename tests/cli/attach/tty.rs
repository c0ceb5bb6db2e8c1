//! `termctl attach` at a person's tty: input, output, and the tty's modes afterwards.

use std::fmt::Debug;
use std::process::Child;

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Process, Pty, TestDaemon, assert_members, wait_until};

use crate::termctl::{command, ok, ready_terminal, termctl};

/// The default detach keys, ctrl-] and d.
const DETACH: [u8; 2] = *b"\x1dd";

/// A terminal that prints `ready`, and `GOT` with each line of input.
fn line_repeater(daemon: &TestDaemon) -> String {
    let script = "stty -echo; echo ready; while read line; do echo \"GOT $line\"; done; exit 6";
    ready_terminal(daemon, script)
}

/// A person's tty with `termctl attach` on it.
struct AttachedTty {
    pty: Pty,
    attach: Child,
    /// The modes of the tty before.
    modes: String,
}

impl AttachedTty {
    /// Attaches to a terminal, and waits until its `ready` is shown and the tty is raw.
    fn new(daemon: &TestDaemon, id: &str) -> Self {
        let mut pty = Pty::open(80, 24);
        let modes = pty.modes();
        let attach = pty.spawn(&command(daemon, &["attach", id]));
        pty.read_until("ready");
        wait_until("the tty is raw", || pty.modes() != modes);
        Self { pty, attach, modes }
    }

    /// Waits for the end of attach, which must restore the modes of the tty: its exit code. A
    /// failure names the case.
    #[track_caller]
    fn wait_restored(&mut self, case: impl Debug) -> Option<i32> {
        let status = self.pty.wait(&mut self.attach);
        assert_eq!(self.pty.modes(), self.modes, "{case:?}");
        status.code()
    }
}

#[test]
fn a_person_types_sees_and_detaches_and_the_tty_is_as_it_was() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let mut pty = Pty::open(80, 24);
    let before = pty.modes();
    let mut child = pty.spawn(&command(&daemon, &["attach", &id]));
    let shown = pty.read_until("ready");
    assert!(
        shown.contains("ctrl-]") || pty_says_key(&mut pty),
        "the detach key is shown: {shown:?}"
    );
    wait_until("the tty is raw", || pty.modes() != before);
    pty.write("hello\r");
    pty.read_until("GOT hello");
    pty.write(DETACH);
    assert_eq!(pty.wait(&mut child).code(), Some(0));
    assert_eq!(pty.modes(), before);
    let info = termctl(&daemon, &["show", "--json", &id]).json();
    assert_eq!(info["state"], "running", "detaching ends nothing");
}

fn pty_says_key(pty: &mut Pty) -> bool {
    pty.read_until("ctrl-]").contains("ctrl-]")
}

#[test]
fn signals_to_attach_restore_the_tty() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut tty = AttachedTty::new(&daemon, &id);
        Process::expect(tty.attach.id().into()).signal(signal);
        tty.wait_restored(signal);
    }
    let info = termctl(&daemon, &["show", "--json", &id]).json();
    assert_eq!(info["state"], "running");
}

#[test]
fn attach_ends_with_the_command_and_restores_the_tty() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let mut tty = AttachedTty::new(&daemon, &id);
    tty.pty.write([4]);
    assert_eq!(
        tty.wait_restored("exited"),
        Some(6),
        "the command's exit code"
    );
}

#[test]
fn a_stopped_daemon_restores_the_tty() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let mut tty = AttachedTty::new(&daemon, &id);
    let home = daemon.stop();
    tty.wait_restored("stopped");
    drop(home);
}

#[test]
fn the_window_size_follows() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    let id = ready_terminal(&daemon, script);
    let mut pty = Pty::open(101, 31);
    let mut child = pty.spawn(&command(&daemon, &["attach", &id]));
    pty.read_until("31 101");
    pty.resize(132, 43);
    pty.read_until("43 132");
    pty.write(DETACH);
    pty.wait(&mut child);
    let info = termctl(&daemon, &["show", "--json", &id]).json();
    assert_members(&info, &json!({ "cols": 132, "rows": 43 }));
}

/// What a person sees whose window is larger than that of somebody who comes and leaves.
#[test]
fn who_leaves_gives_the_size_back() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    let id = ready_terminal(&daemon, script);
    let size = || {
        let info = termctl(&daemon, &["show", "--json", &id]).json();
        (
            info["cols"].as_u64().unwrap(),
            info["rows"].as_u64().unwrap(),
        )
    };
    let (mut one, mut other) = (Pty::open(120, 40), Pty::open(100, 30));
    let mut of_one = one.spawn(&command(&daemon, &["attach", &id]));
    wait_until("the first one's size", || size() == (120, 40));
    let mut of_other = other.spawn(&command(&daemon, &["attach", &id]));
    wait_until("the second one's size", || size() == (100, 30));
    one.write("x");
    wait_until("the first one types", || size() == (120, 40));
    other.write("x");
    wait_until("the second one types", || size() == (100, 30));
    // A new server hears of both, and changes nothing by that.
    daemon.kill_server();
    assert_eq!(size(), (100, 30));
    // What is typed before a client has found the next server may be lost.
    wait_until("the first one types to the next server", || {
        one.write("x");
        size() == (120, 40)
    });
    wait_until("the second one types, too", || {
        other.write("x");
        size() == (100, 30)
    });
    Process::expect(of_other.id().into()).signal(Signal::KILL);
    wait_until("the second one has crashed", || size() == (120, 40));
    other.wait(&mut of_other);
    one.write(DETACH);
    one.wait(&mut of_one);
    assert_eq!(size(), (120, 40), "nobody is left");
}

/// Whatever becomes of the server, the viewer who typed last has the size, and gives it back.
#[test]
fn a_change_of_the_server_changes_no_size() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let size = || {
        let info = termctl(&daemon, &["show", "--json", &id]).json();
        (info["cols"].clone(), info["rows"].clone())
    };
    let wait_for = |what: &str, cols: u16| wait_until(what, || size().0 == json!(cols));
    let (mut one, mut other) = (Pty::open(120, 40), Pty::open(100, 30));
    let mut of_one = one.spawn(&command(&daemon, &["attach", &id]));
    wait_for("the first one's size", 120);
    for (round, change) in [TestDaemon::replace_server, TestDaemon::kill_server]
        .into_iter()
        .cycle()
        .take(4)
        .enumerate()
    {
        let mut of_other = other.spawn(&command(&daemon, &["attach", &id]));
        wait_for("the second one's size", 100);
        let attached = || {
            let filter = json!({ "filter": { "terminal": id, "action": "terminal.attach" } });
            let records = daemon.client().audit_records(&filter["filter"]);
            records.len()
        };
        let before = attached();
        change(&daemon);
        wait_until("both have come again", || attached() == before + 2);
        assert_eq!(size(), (json!(100), json!(30)), "round {round}");
        other.write(DETACH);
        other.wait(&mut of_other);
        wait_for("the first one has it again", 120);
    }
    one.write(DETACH);
    one.wait(&mut of_one);
}

#[test]
fn two_people_see_the_same() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let (mut one, mut other) = (Pty::open(80, 24), Pty::open(80, 24));
    let mut of_one = one.spawn(&command(&daemon, &["attach", &id]));
    let mut of_other = other.spawn(&command(&daemon, &["attach", &id]));
    one.read_until("ready");
    other.read_until("ready");
    one.write("from one\r");
    one.read_until("GOT from one");
    other.read_until("GOT from one");
    other.write("from the other\r");
    one.read_until("GOT from the other");
    other.read_until("GOT from the other");
    one.write(DETACH);
    assert_eq!(one.wait(&mut of_one).code(), Some(0));
    other.write("still here\r");
    other.read_until("GOT still here");
    other.write(DETACH);
    assert_eq!(other.wait(&mut of_other).code(), Some(0));
}

#[test]
fn read_only_types_nothing_and_sizes_nothing() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let mut pty = Pty::open(101, 31);
    let mut child = pty.spawn(&command(&daemon, &["attach", "--read-only", &id]));
    pty.read_until("ready");
    pty.write("not sent\r");
    daemon.client().send_text(&id, "sent\n");
    pty.read_until("GOT sent");
    pty.write(DETACH);
    assert_eq!(pty.wait(&mut child).code(), Some(0));
    let text = ok(&daemon, &["read", &id]);
    assert!(!text.contains("not sent"), "{text}");
    let info = termctl(&daemon, &["show", "--json", &id]).json();
    assert_members(&info, &json!({ "cols": 80, "rows": 24 }));
}

#[test]
fn another_detach_key_may_be_chosen() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let mut pty = Pty::open(80, 24);
    let mut child = pty.spawn(&command(
        &daemon,
        &["attach", "--detach-key", "ctrl-q", &id],
    ));
    pty.read_until("ready");
    // The default detach key is an ordinary key then.
    pty.write([0x1d, b'x', b'\r']);
    pty.read_until("GOT x");
    let raw = ok(&daemon, &["read", "--raw", &id]);
    assert!(raw.contains("GOT \u{1d}x"), "{raw:?}");
    pty.write([0x11]);
    assert_eq!(pty.wait(&mut child).code(), Some(0));
}

#[test]
fn keys_go_to_the_program_as_they_are() {
    let daemon = TestDaemon::start();
    let script = "stty raw -echo; echo ready; head -c 9 | od -An -tx1; exit 0";
    let id = ready_terminal(&daemon, script);
    let mut tty = AttachedTty::new(&daemon, &id);
    tty.pty
        .write([3, 0x1a, 4, 0x11, 0x13, b'\r', 0x7f, 0xc3, 0xa9]);
    tty.pty.read_until("03 1a 04 11 13 0d 7f c3 a9");
    assert_eq!(tty.wait_restored("exited"), Some(0));
}

#[test]
fn without_a_tty_attach_says_so() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon);
    let output = termctl(&daemon, &["attach", &id]);
    assert_ne!(output.code, Some(0));
    output.assert_one_line();
    let mut pty = Pty::open(80, 24);
    let mut child = pty.spawn(&command(&daemon, &["attach", "nothing"]));
    assert_eq!(pty.wait(&mut child).code(), Some(3));
    // What is left of a closed one is shown, and that it is closed.
    ok(&daemon, &["create", "--label", "gone", "--", "cat"]);
    ok(&daemon, &["close", "gone"]);
    let mut child = pty.spawn(&command(&daemon, &["attach", "gone"]));
    pty.read_until("[closed by termctl (pid ");
    assert_eq!(pty.wait(&mut child).code(), Some(129));
}
