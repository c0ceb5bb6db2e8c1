//! `termctl attach` while the daemon's server, or the whole daemon, is killed under a typing person.

use std::process::Child;

use rustix::process::Signal;
use termd_test_support::{Pty, TestDaemon, wait_until};

use crate::termctl::{command, ok, ready_terminal, termctl};

/// The default detach keys, ctrl-] and d.
const DETACH: [u8; 2] = *b"\x1dd";
const IN_DOUBT: &str = "some of what was typed may not have arrived";
const NO_ANSWER: &str = "the daemon does not answer; ctrl-] shows keys, then d detaches";
const LOST: &str = "lost: the daemon that ran it was killed";
const WENT_AWAY: &str = "termctl: the daemon went away, and did not come back";

/// A person's tty with `termctl attach` on a terminal that says which lines it got.
struct Person {
    id: String,
    pty: Pty,
    attach: Child,
    /// The modes of the tty before.
    modes: String,
    /// Lines typed so far.
    typed: usize,
}

impl Person {
    fn attached(daemon: &TestDaemon) -> Self {
        Self::attached_to(daemon, "stty -echo")
    }

    /// The terminal's script begins with this.
    fn attached_to(daemon: &TestDaemon, begin: &str) -> Self {
        let script = &format!("{begin}; echo ready; while read line; do echo \"GOT $line.\"; done");
        let id = ready_terminal(daemon, script);
        let mut pty = Pty::open(80, 24);
        let modes = pty.modes();
        let attach = pty.spawn(&command(daemon, &["attach", &id]));
        pty.read_until("ready");
        wait_until("the tty is raw", || pty.modes() != modes);
        Self {
            id,
            pty,
            attach,
            modes,
            typed: 0,
        }
    }

    /// Types the next lines, each by one write, without waiting for anything.
    fn type_lines(&mut self, count: usize) {
        for _ in 0..count {
            self.typed += 1;
            let line = format!("{}\r", self.typed);
            self.pty.write(line);
        }
    }

    /// Waits until the newest line is shown.
    fn see_newest(&mut self) {
        self.pty.read_until(&format!("GOT {}.", self.typed));
    }
}

/// The server is killed while the first, the second, … of several lines is under way. Lines that are
/// typed when it has died arrive. Others may be lost, and then the person is told.
#[test]
fn a_killed_server_stops_nobody_who_types() {
    // Two daemons, as a keeper waits longer after each death of a server.
    for rounds in [0..5, 5..10] {
        let daemon = TestDaemon::start();
        let mut person = Person::attached(&daemon);
        for round in rounds {
            person.type_lines(round);
            let server = daemon.server();
            person.type_lines(10 - round);
            server.signal(Signal::KILL);
            person.type_lines(round);
            server.wait_for_end();
            person.type_lines(1);
            person.see_newest();
        }
        person.pty.write(DETACH);
        let end = person.pty.read_until("[detached]");
        assert_eq!(person.pty.wait(&mut person.attach).code(), Some(0));
        assert_eq!(person.pty.modes(), person.modes);
        let output = ok(&daemon, &["read", &person.id]);
        let lost = (1..=person.typed).find(|line| !output.contains(&format!("GOT {line}.")));
        assert!(
            lost.is_none() || end.contains(IN_DOUBT),
            "{lost:?}: {end:?}"
        );
    }
}

/// The keeper is killed while several people type, each at another moment of their line.
#[test]
fn a_daemon_that_is_gone_ends_attach_and_restores_the_tty() {
    let mut daemon = TestDaemon::start();
    let mut people: Vec<Person> = (0..5).map(|_| Person::attached(&daemon)).collect();
    for (number, person) in people.iter_mut().enumerate() {
        person.type_lines(2 * number);
    }
    daemon.signal(Signal::KILL);
    for person in &mut people {
        person.type_lines(3);
    }
    daemon.wait_exit();
    for person in &mut people {
        // Keys go on while the daemon is looked for.
        person.type_lines(1);
        let shown = person.pty.read_until(WENT_AWAY);
        assert!(shown.contains(IN_DOUBT), "{shown:?}");
        assert_eq!(person.pty.wait(&mut person.attach).code(), Some(4));
        assert_eq!(person.pty.modes(), person.modes);
    }
}

/// The detach key waits for no answer.
#[test]
fn a_server_that_hangs_keeps_nobody_in() {
    let daemon = TestDaemon::start();
    let mut person = Person::attached(&daemon);
    let server = daemon.server();
    server.signal(Signal::STOP);
    person.type_lines(1);
    person.pty.write(DETACH);
    let end = person.pty.read_until("[detached]");
    server.signal(Signal::CONT);
    assert!(end.contains(IN_DOUBT), "{end:?}");
    assert_eq!(person.pty.wait(&mut person.attach).code(), Some(0));
    assert_eq!(person.pty.modes(), person.modes);
}

/// Another client starts the next daemon before attach has given up. The terminal is not there any more,
/// and nobody has closed it.
#[test]
fn a_terminal_that_its_daemon_took_with_it_is_said_to_be_lost() {
    let mut daemon = TestDaemon::start();
    let mut person = Person::attached(&daemon);
    // What was printed last is not stored yet.
    person.type_lines(1);
    person.see_newest();
    let server = daemon.server();
    daemon.signal(Signal::KILL);
    daemon.wait_exit();
    server.wait_for_end();
    person.type_lines(1);
    let daemon = TestDaemon::start_in(daemon.stop());
    let end = person.pty.read_until(LOST);
    assert!(end.contains(IN_DOUBT), "{end:?}");
    assert_eq!(person.pty.wait(&mut person.attach).code(), Some(1));
    assert_eq!(person.pty.modes(), person.modes);
    // And whoever comes later.
    let mut pty = Pty::open(80, 24);
    let mut attach = pty.spawn(&command(&daemon, &["attach", &person.id]));
    let end = pty.read_until(LOST);
    assert!(!end.contains(IN_DOUBT), "{end:?}");
    assert_eq!(pty.wait(&mut attach).code(), Some(1));
    let waited = termctl(&daemon, &["wait", &person.id]);
    assert_eq!(waited.code, Some(125), "{waited:?}");
    waited.assert_one_line();
    assert!(waited.err.contains(LOST), "{waited:?}");
}

#[test]
fn whoever_is_attached_is_told_that_and_by_whom_it_was_closed() {
    let daemon = TestDaemon::start();
    let mut person = Person::attached(&daemon);
    ok(&daemon, &["close", &person.id]);
    let end = person.pty.read_until("]\r\n");
    assert!(end.contains("[closed by termctl (pid "), "{end:?}");
    assert_eq!(person.pty.wait(&mut person.attach).code(), Some(129));
    assert_eq!(person.pty.modes(), person.modes);
}

/// A picture that is frozen says so, whether the daemon is gone or hangs, and goes on.
#[test]
fn a_daemon_that_does_not_answer_is_said_not_to() {
    let mut daemon = TestDaemon::start();
    let mut person = Person::attached(&daemon);
    let server = daemon.server();
    server.stop();
    person.pty.read_until(NO_ANSWER);
    person.type_lines(1);
    server.signal(Signal::CONT);
    person.see_newest();
    daemon.signal(Signal::KILL);
    daemon.wait_exit();
    person.pty.read_until(NO_ANSWER);
    // Nobody waits for what is not there.
    person.type_lines(1);
    person.pty.write(DETACH);
    let end = person.pty.read_until("[detached]");
    assert!(end.contains(IN_DOUBT), "{end:?}");
    assert_eq!(person.pty.wait(&mut person.attach).code(), Some(0));
}

/// A line of which some has arrived, and some is under way when the server is killed. What is typed after
/// it is a line of its own, or nothing.
#[test]
fn no_line_is_joined_over_a_gap() {
    let daemon = TestDaemon::start();
    for (under_way, later, next) in [(" rest\r", "next\r", "next"), (" res", "t\rnext\r", "next")] {
        let mut person = Person::attached_to(&daemon, ":");
        person.pty.write("half");
        person.pty.read_until("half");
        let server = daemon.server();
        server.stop();
        person.pty.write(under_way);
        person.pty.read_until(NO_ANSWER);
        person.pty.write(later);
        server.signal(Signal::KILL);
        person.pty.read_until("the line is cleared");
        daemon
            .client()
            .wait_for_text(&person.id, &format!("GOT {next}."));
        let output = ok(&daemon, &["read", &person.id]);
        assert_eq!(output.matches("GOT ").count(), 1, "{output:?}");
        person.pty.write(DETACH);
        let end = person.pty.read_until("[detached]");
        assert!(end.contains(IN_DOUBT), "{end:?}");
        person.pty.wait(&mut person.attach);
    }
}
