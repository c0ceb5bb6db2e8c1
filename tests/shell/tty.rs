//! A shell that has a tty, as Codex gives it one.

use termd_test_support::{Pty, wait_until};

use crate::TestShells;

#[test]
fn the_command_has_a_tty_of_the_same_size() {
    let shells = TestShells::open();
    let mut pty = Pty::open(91, 21);
    let line = "trap 'stty size; exit 7' WINCH; tty -s && stty size; while :; do sleep 0.05; done";
    let mut child = pty.spawn(&shells.command(&["-c", line]));
    pty.read_until("21 91\r\n");
    assert_eq!(shells.terminals().len(), 1);
    pty.resize(61, 31);
    pty.read_until("31 61\r\n");
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(shells.in_place(), Vec::<String>::new());
}

#[test]
fn keys_go_to_the_command_and_the_tty_is_given_back() {
    let shells = TestShells::open();
    let mut pty = Pty::open(80, 24);
    let before = pty.modes();
    let line = "echo ready; read line; echo got $line; exec sleep 1000";
    let mut child = pty.spawn(&shells.command(&["-c", line]));
    pty.read_until("ready\r\n");
    wait_until("the keys are not the tty's own", || pty.modes() != before);
    pty.write("ls\r");
    pty.read_until("got ls\r\n");
    pty.write([0x03]);
    assert_eq!(child.wait().unwrap().code(), Some(130), "Ctrl-C");
    assert_eq!(pty.modes(), before);
}

#[test]
fn a_tty_in_part_is_left_to_the_real_shell() {
    let shells = TestShells::open();
    let mut pty = Pty::open(80, 24);
    let line = format!(
        "{} -c 'tty; tty -s && echo ${{TERMD_TERMINAL:-here}} >&2' > /dev/null",
        shells.bash().display()
    );
    let mut command = shells.daemon.command("/bin/bash");
    let mut child = pty.spawn(command.args(["-c", &line]));
    pty.read_until("here\r\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let reasons = shells.in_place();
    assert_eq!(
        reasons,
        ["standard input, output and error are a tty in part"]
    );
}

#[test]
fn lines_for_a_model_at_a_tty_return_the_carriage() {
    let shells = TestShells::open();
    let mut pty = Pty::open(80, 24);
    let mut command = shells.command(&["-c", "echo a; echo b; echo end"]);
    let mut child = pty.spawn(command.env("OPENCODE", "1"));
    assert_eq!(pty.read_until("end\r\n"), "a\r\nb\r\nend\r\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
