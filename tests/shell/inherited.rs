//! What the command has of the process that called the shell.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use rustix::fs::OFlags;
use serde_json::json;
use termd_test_support::{Home, TestDaemon, skip};

use crate::{Ended, TestShells};

/// Runs a line of the real bash, in which `$SHIM` is this shell.
fn by_bash(shells: &TestShells, line: &str, shell: &Path) -> Ended {
    let mut command: Command = shells.daemon.command("/bin/bash");
    command.args(["-c", line]).env("SHIM", shell);
    Ended::of(&command.output().unwrap())
}

#[test]
fn all_of_it_is_as_with_any_child() {
    let shells = TestShells::open();
    for line in [
        "umask 027; $SHIM -c umask </dev/null",
        "ulimit -n 500; $SHIM -c 'ulimit -n; ulimit -Hn' </dev/null",
        "ulimit -c 0; $SHIM -c 'ulimit -c' </dev/null",
        "ulimit -s 4096; $SHIM -c 'ulimit -s' </dev/null",
        "nice -n 5 $SHIM -c nice </dev/null",
        "cd /usr; $SHIM -c pwd </dev/null",
        "trap '' INT; $SHIM -c 'grep Sig[IB] /proc/self/status' </dev/null",
        "$SHIM -c 'grep Sig[IB] /proc/self/status' </dev/null",
        "exec 7<<<seven; $SHIM -c 'cat <&7' </dev/null",
        "exec 3<<<three; $SHIM -c 'cat <&3' </dev/null",
        "$SHIM -c 'ls /proc/self/fd | grep -c ^[0-9]$' </dev/null",
        "PAGER=less EMPTY= TERM=dumb $SHIM -c 'echo $PAGER ${EMPTY-unset} $TERM' </dev/null",
        "$SHIM -c 'env | grep -v TERMD_TERMINAL= | grep -v ASKPASS | grep -v ^_= | sort' </dev/null",
        "$SHIM -c 'readlink /proc/self/fd/0' </dev/null",
    ] {
        let ours = by_bash(&shells, line, &shells.bash());
        let shim = shells.bash().display().to_string();
        let theirs = by_bash(&shells, line, Path::new("/bin/bash"));
        let out = ours.out.replace(&shim, "/bin/bash");
        assert_eq!((out, &ours.err), (theirs.out, &theirs.err), "{line}");
    }
    let inside = by_bash(
        &shells,
        "$SHIM -c 'echo $TERMD_TERMINAL' </dev/null",
        &shells.bash(),
    );
    assert!(inside.out.starts_with("term_"), "{inside:?}");
    assert_eq!(shells.in_place(), Vec::<String>::new());
}

/// What MCP clients' commands do not get by default is no rule for the agent's shell.
#[test]
fn the_environment_is_whole_beside_an_mcp_client_of_the_same_agent() {
    let shells = TestShells::open();
    let mut client = shells.daemon.client();
    let hello = json!({ "client": "an agent", "front": "mcp", "agent_pid": std::process::id() });
    client.ok("daemon.hello", &hello);
    let mut command = shells.command(&["-c", "echo $API_TOKEN ${PAGER-unset}"]);
    let ended = Ended::run(command.env("API_TOKEN", "s3cret"));
    assert_eq!(ended.out, "s3cret unset\n");
    let id = client.create_terminal(&json!({
        "command": "/bin/sh",
        "args": ["-c", "echo ${API_TOKEN-dropped}"],
        "base_env": { "API_TOKEN": "s3cret", "PATH": "/bin" },
    }));
    client.wait_for_text(&id, "dropped");
}

/// What is opened by a path that the sandbox hides is not reached through a descriptor from outside.
#[test]
fn standard_input_leads_out_of_no_sandbox() {
    let home = Home::create();
    home.configure(
        "[policy.fronts.shell]\nprofile = 'boxed'\n[policy.profiles.boxed]\nsandbox = 'workspace'\n",
    );
    let user = home.user_home();
    let work = user.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::create_dir_all(user.join(".ssh")).unwrap();
    let key = user.join(".ssh/key");
    fs::write(&key, "the key").unwrap();
    fs::write(work.join("input"), "the input").unwrap();
    let shells = TestShells::of(TestDaemon::start_in(home));
    let run = |line: &str, stdin: OwnedFd| {
        let mut command = shells.command(&["-c", line]);
        Ended::run(command.current_dir(&work).stdin(stdin))
    };
    let null = || OwnedFd::from(File::open("/dev/null").unwrap());
    let sandboxed = run("cat ~/.ssh/key 2>/dev/null || echo hidden", null());
    if sandboxed.code != Some(0) {
        return skip("standard_input_leads_out_of_no_sandbox", sandboxed.err);
    }
    assert_eq!(sandboxed.out, "hidden\n", "{sandboxed:?}");
    let path_only = |path: &Path| {
        let mut options = OpenOptions::new();
        let flags = OFlags::PATH.bits().cast_signed();
        OwnedFd::from(options.read(true).custom_flags(flags).open(path).unwrap())
    };
    let process = rustix::process::getpid();
    let pidfd = rustix::process::pidfd_open(process, rustix::process::PidfdFlags::empty());
    for (what, stdin) in [
        ("a directory", File::open(&user).unwrap().into()),
        ("the path of a directory", path_only(&user)),
        ("the path of a file", path_only(&key)),
        ("a process", pidfd.unwrap()),
    ] {
        let line =
            "cat /proc/self/fd/0/.ssh/key /proc/self/fd/0 2>/dev/null; readlink /proc/self/fd/0";
        let ended = run(line, stdin);
        assert_eq!(ended.out, "/dev/null\n", "{what}: {ended:?}");
    }
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"the input").unwrap();
    drop(writer);
    let (socket, mut peer) = std::os::unix::net::UnixStream::pair().unwrap();
    peer.write_all(b"the input").unwrap();
    drop(peer);
    let file = File::open(work.join("input")).unwrap();
    for stdin in [file.into(), reader.into(), socket.into()] {
        assert_eq!(run("cat", stdin).out, "the input");
    }
}
