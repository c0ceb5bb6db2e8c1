//! What the command has of the process that called the shell.

use std::process::Command;

use crate::{Door, Ended};

/// Runs a line of the real bash, in which `$SHIM` is the shell of agents.
fn by_bash(door: &Door, line: &str) -> Ended {
    let mut command: Command = door.daemon.command("/bin/bash");
    command.args(["-c", line]).env("SHIM", door.bash());
    Ended::of(&command.output().unwrap())
}

#[test]
fn all_of_it_is_as_with_any_child() {
    let door = Door::open();
    for (line, expected) in [
        ("umask 027; $SHIM -c umask </dev/null", "0027\n"),
        ("ulimit -n 500; $SHIM -c 'ulimit -n' </dev/null", "500\n"),
        ("ulimit -c 0; $SHIM -c 'ulimit -c' </dev/null", "0\n"),
        ("nice -n 5 $SHIM -c nice </dev/null", "5\n"),
        ("cd /usr; $SHIM -c pwd </dev/null", "/usr\n"),
        (
            "trap '' INT; $SHIM -c 'grep SigIgn /proc/self/status' </dev/null",
            "SigIgn:\t0000000000000002\n",
        ),
        (
            "$SHIM -c 'grep SigIgn /proc/self/status' </dev/null",
            "SigIgn:\t0000000000000000\n",
        ),
        ("exec 7<<<seven; $SHIM -c 'cat <&7' </dev/null", "seven\n"),
        ("exec 3<<<three; $SHIM -c 'cat <&3' </dev/null", "three\n"),
        ("$SHIM -c 'ls /proc/self/fd | wc -l' </dev/null", "4\n"),
        (
            "PAGER=less EMPTY= TERM=dumb $SHIM -c 'echo $PAGER ${EMPTY-unset} $TERM' </dev/null",
            "less dumb\n",
        ),
        (
            "$SHIM -c 'echo $TERMD_TERMINAL | cut -c1-5' </dev/null",
            "term_\n",
        ),
        (
            "$SHIM -c 'readlink /proc/self/fd/0' </dev/null",
            "/dev/null\n",
        ),
        ("$SHIM -c 'ls /proc/self/fd/0 2>&1 | grep -c No' <&-", "0\n"),
    ] {
        let ended = by_bash(&door, line);
        assert_eq!(
            (ended.out.as_str(), ended.err.as_str()),
            (expected, ""),
            "{line}: {ended:?}"
        );
    }
    assert_eq!(door.in_place(), Vec::<String>::new());
}
