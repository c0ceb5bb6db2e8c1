//! Where the real shell is executed in the place of ours.

use std::os::unix::ffi::OsStringExt as _;
use std::process::Stdio;

use termd_test_support::{TestDaemon, skip};

use crate::{Ended, TestShells};

/// Whether the command ran in a terminal of the daemon.
const WHERE: &str = "echo ${TERMD_TERMINAL:-here}";

#[test]
fn without_a_daemon_it_is_the_real_shell() {
    let shells = TestShells::open();
    let mut command = shells.command(&["-c", WHERE]);
    command.env("XDG_RUNTIME_DIR", shells.daemon.path("config"));
    let ended = Ended::run(&mut command);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("here\n", ""));
    assert!(shells.run(WHERE).out.starts_with("term_"));
    let TestShells { daemon } = shells;
    let bash = daemon.path("shells/bash");
    let home = daemon.stop();
    let output = home.command(bash).args(["-c", WHERE]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "here\n");
}

#[test]
fn a_shell_in_a_terminal_of_ours_stays_there() {
    let shells = TestShells::open();
    let line = format!(
        "a=$TERMD_TERMINAL; {} -c '[ $0 = '$a' ] && echo same' $TERMD_TERMINAL",
        shells.bash().display()
    );
    assert_eq!(shells.run(&line).out, "same\n");
    assert_eq!(shells.terminals().len(), 1);
    // Without the variable the daemon finds out.
    let line = format!(
        "env -u TERMD_TERMINAL {} -c '{WHERE}'",
        shells.bash().display()
    );
    assert_eq!(shells.run(&line).out, "here\n");
    let reasons = shells.in_place();
    // The daemon may not know the process of a terminal yet that it has just started.
    let known = [
        "it is in term_",
        "nobody can tell where its process comes from",
    ];
    let is_known = known.iter().any(|known| reasons[0].starts_with(known));
    assert!(is_known, "{reasons:?}");
}

#[test]
fn a_sandbox_is_never_left() {
    let shells = TestShells::of(TestDaemon::start());
    let shell = shells.bash();
    for (sandbox, reason) in [
        (
            &["setpriv", "--no-new-privs"][..],
            "its NoNewPrivs is not the daemon's",
        ),
        (
            &["unshare", "--user", "--map-current-user"],
            "its user namespace is not the daemon's",
        ),
        (
            &["unshare", "--user", "--map-current-user", "--net"],
            "its user namespace is not the daemon's",
        ),
    ] {
        let mut command = shells.daemon.command(sandbox[0]);
        command.args(&sandbox[1..]).arg(&shell).args(["-c", WHERE]);
        let ended = Ended::run(&mut command);
        if ended.err.starts_with("unshare: ") {
            skip("a_sandbox_is_never_left", ended.err.trim_end());
            continue;
        }
        assert_eq!(
            (ended.out.as_str(), ended.err.as_str()),
            ("here\n", ""),
            "{sandbox:?}"
        );
        assert_eq!(
            shells.in_place().first().map(String::as_str),
            Some(reason),
            "{sandbox:?}"
        );
    }
}

#[test]
fn what_cannot_be_passed_on_runs_in_place() {
    let shells = TestShells::open();
    let mut command = shells.command(&["-c", WHERE]);
    command.env("NO_TEXT", std::ffi::OsString::from_vec(vec![0xff]));
    assert_eq!(Ended::run(&mut command).out, "here\n");
    let not_utf8 = "its arguments, environment or directory are not UTF-8";
    assert_eq!(shells.in_place(), [not_utf8]);
    // An agent's directory is removed by the call before.
    let directory = shells.daemon.path("removed");
    std::fs::create_dir(&directory).unwrap();
    let mut command = shells.daemon.command("bash");
    let removed = "cd \"$1\" && rmdir \"$1\" && exec \"$2\" -c \"$3\"";
    command.args(["-c", removed, "bash"]);
    command.args([&directory, &shells.bash()]).arg(WHERE);
    let ended = Ended::run(command.stdin(Stdio::null()));
    assert_eq!(ended.out, "here\n", "{ended:?}");
    let reason = "its directory is removed, or out of reach";
    assert!(shells.in_place().iter().any(|it| it == reason));
}
