//! `termctl attach` while the daemon's server, or the whole daemon, is killed under a typing person.

use std::process::Child;

use rustix::process::Signal;
use termd_test_support::{Pty, TestDaemon, wait_until};

use crate::termctl::{command, ok, ready_terminal};

/// The byte of the default detach key, ctrl-].
const DETACH: [u8; 1] = [0x1d];
const IN_DOUBT: &str = "some of what was typed may not have arrived";
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
        let script = "stty -echo; echo ready; while read line; do echo \"GOT $line.\"; done";
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
