//! The runtime directory and its socket: permissions, a second daemon, and what makes a start fail.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;
use termd_test_support::{Home, Process, TestDaemon, is_root, skip, termd_binary};

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn socket_and_files_are_the_users_alone() {
    let home = Home::create();
    // The daemon does not depend on the umask.
    let loose = home.install(
        "loose",
        &format!("#!/bin/sh\numask 0\nexec '{}'\n", termd_binary().display()),
    );
    assert!(loose.is_file());
    let daemon = TestDaemon::start_program(home, &loose, &[]);
    daemon
        .agent()
        .run(&serde_json::json!({ "command": "true" }));
    assert!(
        fs::metadata(daemon.socket())
            .unwrap()
            .file_type()
            .is_socket()
    );
    assert_eq!(mode(daemon.socket()), 0o600);
    assert_eq!(mode(daemon.path("run/termd")), 0o700);
    assert_eq!(mode(daemon.state_dir()), 0o700);
    for entry in fs::read_dir(daemon.state_dir()).unwrap().flatten() {
        let mode = mode(entry.path());
        assert_eq!(mode & 0o077, 0, "{:?} is {mode:o}", entry.path());
    }
}

#[test]
fn a_second_daemon_leaves_the_first_alone() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo here; read go; exit 3");
    agent.wait_for_text(&id, "here");
    let inode = fs::metadata(daemon.socket()).unwrap().ino();
    let stderr = daemon.refused_start(&[]);
    assert!(stderr.contains("already"), "{stderr}");
    assert!(
        stderr.contains(&daemon.keeper_pid().to_string()),
        "names the other: {stderr}"
    );
    // Another daemon with the same database is refused in another runtime directory as well.
    let elsewhere = daemon.path("run2");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, Permissions::from_mode(0o700)).unwrap();
    let stderr = daemon.refused_start(&[("XDG_RUNTIME_DIR", elsewhere.to_str().unwrap())]);
    assert!(stderr.contains("already"), "{stderr}");
    assert!(!elsewhere.join("termd").exists(), "left behind");
    assert_eq!(
        fs::metadata(daemon.socket()).unwrap().ino(),
        inode,
        "not bound anew"
    );
    daemon.client().ok(
        "session.send",
        &serde_json::json!({ "id": id, "text": "\n" }),
    );
    assert_eq!(agent.wait(&id), (Some(3), None));
}

#[test]
fn two_daemons_started_at_once_are_one_in_the_end() {
    let home = Home::create();
    let spawn = || {
        let mut command = home.command(termd_binary());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut children = [spawn(), spawn(), spawn(), spawn()];
    let mut client = None;
    termd_test_support::wait_until("one of them serves", || {
        if let Ok(stream) = std::os::unix::net::UnixStream::connect(home.socket()) {
            client = Some(stream);
        }
        client.is_some()
    });
    let winner = {
        let mut client = termd_test_support::RawClient::connect(&home.socket());
        client.ok("daemon.info", &Value::Null)["keeper_pid"]
            .as_u64()
            .unwrap()
    };
    for child in &mut children {
        let process = Process::expect(child.id().into());
        if u64::from(child.id()) == winner {
            assert!(process.is_alive());
        } else {
            process.wait_for_end();
            assert_eq!(child.wait().unwrap().code(), Some(75));
        }
    }
    let child = children
        .iter_mut()
        .find(|child| u64::from(child.id()) == winner);
    let child = child.expect("the keeper is one of them");
    Process::expect(child.id().into()).signal(Signal::TERM);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_stale_socket_is_replaced() {
    let mut daemon = TestDaemon::start();
    let server = daemon.server();
    daemon.signal(Signal::KILL);
    daemon.wait_exit();
    // The server has the socket open until it ends, soon after its keeper.
    server.wait_for_end();
    assert!(daemon.socket().exists());
    let daemon = TestDaemon::start_in(daemon.stop());
    assert_eq!(
        daemon
            .agent()
            .run(&serde_json::json!({ "command": "echo new" }))
            .1,
        "new\n"
    );
}

#[test]
fn a_socket_that_nobody_listens_on_is_replaced() {
    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    TestDaemon::start_in(home);
}

#[test]
fn a_file_where_the_socket_should_be_is_left_alone() {
    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o700)).unwrap();
    fs::write(home.socket(), "precious").unwrap();
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains(home.socket().to_str().unwrap()), "{stderr}");
    assert_eq!(fs::read(home.socket()).unwrap(), b"precious");
}

#[test]
fn a_symlinked_runtime_directory_is_refused() {
    let home = Home::create();
    let target = home.path("elsewhere");
    fs::create_dir(&target).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o700)).unwrap();
    symlink(&target, home.path("run/termd")).unwrap();
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains("run/termd"), "{stderr}");
    assert_eq!(
        fs::read_dir(&target).unwrap().count(),
        0,
        "nothing was made there"
    );
}

#[test]
fn a_symlinked_socket_is_refused() {
    let home = Home::create();
    fs::create_dir(home.path("run/termd")).unwrap();
    fs::set_permissions(home.path("run/termd"), Permissions::from_mode(0o700)).unwrap();
    let target = home.path("elsewhere.sock");
    let _listener = UnixListener::bind(&target).unwrap();
    symlink(&target, home.socket()).unwrap();
    home.refused_start(&[]);
    assert!(
        fs::symlink_metadata(home.socket())
            .unwrap()
            .file_type()
            .is_symlink()
    );
    assert!(target.exists());
}

#[test]
fn a_directory_open_to_others_is_refused_and_the_way_out_named() {
    for (folder, mode) in [
        ("run/termd", 0o777),
        ("run/termd", 0o750),
        ("state/termd", 0o777),
    ] {
        let home = Home::create();
        fs::create_dir(home.path(folder)).unwrap();
        fs::set_permissions(home.path(folder), Permissions::from_mode(mode)).unwrap();
        let stderr = home.refused_start(&[]);
        assert!(stderr.contains(folder), "{stderr}");
        assert!(
            stderr.contains("chmod") || stderr.contains("700"),
            "{stderr}"
        );
    }
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    if !is_root() {
        return skip(
            "a_directory_of_somebody_else_is_refused",
            "chown(2) needs root",
        );
    }
    for folder in ["run/termd", "state/termd"] {
        let home = Home::create();
        fs::create_dir(home.path(folder)).unwrap();
        fs::set_permissions(home.path(folder), Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(home.path(folder), Some(65534), Some(65534)).unwrap();
        let stderr = home.refused_start(&[]);
        assert!(stderr.contains(folder), "{stderr}");
    }
}

#[test]
fn a_path_too_long_for_a_socket_is_a_clear_error() {
    let home = Home::create();
    let long = home.path("x".repeat(120));
    fs::create_dir(&long).unwrap();
    fs::set_permissions(&long, Permissions::from_mode(0o700)).unwrap();
    let stderr = home.refused_start(&[("XDG_RUNTIME_DIR", long.to_str().unwrap())]);
    assert!(
        stderr.contains("107") || stderr.contains("long"),
        "{stderr}"
    );
}

#[test]
fn termd_socket_names_another_place() {
    let home = Home::create();
    let place = home.path("own");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, Permissions::from_mode(0o700)).unwrap();
    let socket = place.join("s");
    let daemon =
        TestDaemon::start_listening(home, &socket, &[("TERMD_SOCKET", socket.to_str().unwrap())]);
    let info = daemon.client().ok("daemon.info", &Value::Null);
    assert_eq!(info["socket"], *socket.to_str().unwrap());
    assert!(!daemon.path("run/termd/termd.sock").exists());
}

#[test]
fn the_socket_is_gone_after_a_stop_and_nothing_else() {
    let daemon = TestDaemon::start();
    let home = daemon.stop();
    assert!(!home.socket().exists());
    assert!(home.state_dir().is_dir());
}

#[test]
fn a_bad_configuration_is_refused_with_its_place() {
    let home = Home::create();
    home.configure("kill_grace_ms = \"soon\"\n");
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains("config.toml:1:17: "), "{stderr}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
}
