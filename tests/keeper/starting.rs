//! Taking the socket: what is refused, and that nothing foreign is touched.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::process::Signal;

use crate::Test;
use crate::support::{Home, TestKeeper, kill, wait_gone};

pub(crate) const TESTS: &[Test] = &[
    (
        "directories_and_socket_are_private",
        directories_and_socket_are_private,
    ),
    (
        "a_second_keeper_names_the_first",
        a_second_keeper_names_the_first,
    ),
    ("a_stale_socket_is_replaced", a_stale_socket_is_replaced),
    ("a_foreign_file_is_left_alone", a_foreign_file_is_left_alone),
    (
        "a_symlinked_directory_is_refused",
        a_symlinked_directory_is_refused,
    ),
    (
        "an_open_directory_is_refused_and_not_tightened",
        an_open_directory_is_refused,
    ),
    (
        "a_database_from_the_future_ends_the_keeper",
        a_hopeless_server_ends_the_keeper,
    ),
    (
        "detached_it_outlives_its_starter",
        detached_it_outlives_its_starter,
    ),
    (
        "detached_it_tells_why_it_failed",
        detached_it_tells_why_it_failed,
    ),
];

fn directories_and_socket_are_private() {
    let keeper = TestKeeper::start();
    for (name, mode) in [("run", 0o700), ("state", 0o700), ("run/termd.sock", 0o600)] {
        let found = keeper.home.path().join(name).metadata().unwrap().mode();
        assert_eq!(found & 0o7777, mode, "{name}");
    }
}

fn a_second_keeper_names_the_first() {
    let keeper = TestKeeper::start();
    let (code, said) = keeper.home.refusal();
    assert_eq!(code, 3);
    assert!(said.contains(&format!("pid {}", keeper.pid())), "{said}");
    keeper.server_pid();
}

fn a_stale_socket_is_replaced() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("run")).unwrap();
    std::fs::set_permissions(home.path().join("run"), PermissionsExt::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(home.socket()).unwrap());
    assert!(UnixStream::connect(home.socket()).is_err());
    let mut keeper = home.command("foreground").spawn().unwrap();
    crate::support::eventually("the new socket answers", || {
        UnixStream::connect(home.socket()).is_ok()
    });
    kill(keeper.id().cast_signed(), Signal::TERM);
    assert!(keeper.wait().unwrap().success());
    assert!(!home.socket().exists());
}

fn a_foreign_file_is_left_alone() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("run")).unwrap();
    std::fs::set_permissions(home.path().join("run"), PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::write(home.socket(), "precious").unwrap();
    let (code, said) = home.refusal();
    assert_eq!(code, 3);
    assert!(said.contains("not a socket"), "{said}");
    assert_eq!(std::fs::read_to_string(home.socket()).unwrap(), "precious");
}

fn a_symlinked_directory_is_refused() {
    for name in ["run", "state"] {
        let home = Home::new();
        std::fs::create_dir(home.path().join("elsewhere")).unwrap();
        symlink(home.path().join("elsewhere"), home.path().join(name)).unwrap();
        let (code, said) = home.refusal();
        assert_eq!(code, 3);
        assert!(said.contains("symbolic link"), "{said}");
        let elsewhere = std::fs::read_dir(home.path().join("elsewhere")).unwrap();
        assert_eq!(elsewhere.count(), 0);
    }
}

fn an_open_directory_is_refused() {
    let home = Home::new();
    let run = home.path().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, PermissionsExt::from_mode(0o755)).unwrap();
    let (code, said) = home.refusal();
    assert_eq!(code, 3);
    assert!(
        !said.contains("chmod") && said.contains("TERMD_SOCKET"),
        "{said}"
    );
    assert_eq!(run.metadata().unwrap().mode() & 0o777, 0o755);
}

fn a_hopeless_server_ends_the_keeper() {
    for code in [69, 78] {
        let home = Home::new();
        let mut command = home.command_with_server_arg("foreground", &code.to_string());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(!home.socket().exists());
    }
}

fn detached_it_outlives_its_starter() {
    let home = Home::new();
    let start = || home.command("background").output().unwrap();
    let started = start();
    assert!(started.status.success(), "{started:?}");
    assert!(home.socket().metadata().unwrap().file_type().is_socket());
    assert!(start().status.success(), "running already is as good");
    let lock = std::fs::read_to_string(home.path().join("run/termd.sock.lock")).unwrap();
    let keeper: i32 = lock.lines().next().unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(keeper);
    assert_eq!(rustix::process::getsid(pid).unwrap(), pid.unwrap());
    kill(keeper, Signal::TERM);
    wait_gone(keeper);
    assert!(!home.socket().exists());
}

fn detached_it_tells_why_it_failed() {
    let home = Home::new();
    let mut command = home.command_with_server_arg("background", "78");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(78));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the database is from the future"), "{said}");
}
