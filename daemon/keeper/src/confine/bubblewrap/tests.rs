use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::confine::DaemonDirs;
use crate::protocol::confinement::{
    Access, Builder, Enforcement, IfAbsent, Processes, ProtectedPath, Sandbox, Temporary,
};

/// A home with a workspace, a key in it, and the daemon's directories.
fn places(home: &Path, temporary: Temporary) -> Places {
    let bytes = |name: &str| home.join(name).as_os_str().as_bytes().to_vec();
    for directory in [
        "workspace/.git/hooks",
        "workspace/.keys",
        "state",
        "run/shell",
    ] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    fs::write(home.join("workspace/.env"), "").unwrap();
    let own = DaemonDirs {
        socket_dir: home.join("run"),
        state_dir: home.join("state"),
    };
    let sandbox = Sandbox {
        writable: vec![bytes("workspace")],
        protected: vec![
            ProtectedPath {
                path: bytes("workspace/.git/hooks"),
                if_absent: IfAbsent::Leave,
            },
            ProtectedPath {
                path: bytes("workspace/none/at/all"),
                if_absent: IfAbsent::Leave,
            },
        ],
        writable_ids: Vec::new(),
        hidden: vec![
            bytes("workspace/.env"),
            bytes("workspace/.keys"),
            bytes("absent"),
        ],
        visible: Vec::new(),
        network: Access::Denied,
        daemon_socket: Access::Denied,
        enforcement: Enforcement::Required,
        temporary,
        processes: Processes::Private,
        builder: Builder::Bubblewrap,
    };
    Places::new(&sandbox, &own, None).unwrap()
}

fn snapshot(places: &Places) -> Snapshot {
    Snapshot::take(places, Err).unwrap()
}

#[test]
fn nothing_that_is_asked_for_takes_away_what_was_before() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let places = places(&home, Temporary::Shared);
    let arguments = Arguments::new(&places, &snapshot(&places), 40);
    let text = String::from_utf8(arguments.text).unwrap();
    let home = home.to_str().unwrap();
    let asked: Vec<&str> = text.split_terminator('\0').collect();
    let asked = asked.join(" ").replace(home, "~");
    let expected = "--unshare-user-try --cap-drop ALL --die-with-parent --chdir / \
        --ro-bind / / --dev /dev --perms 1777 --tmpfs /dev/shm --bind ~/workspace ~/workspace \
        --bind ~/workspace/.git ~/workspace/.git --ro-bind ~/workspace/.git/hooks ~/workspace/.git/hooks \
        --perms 0755 --tmpfs ~/run --ro-bind ~/run/shell ~/run/shell --remount-ro ~/run \
        --perms 0755 --tmpfs ~/state --remount-ro ~/state \
        --perms 0444 --ro-bind-data 40 ~/workspace/.env \
        --perms 0755 --tmpfs ~/workspace/.keys --remount-ro ~/workspace/.keys --remount-ro /dev";
    assert_eq!(asked, expected);
    assert_eq!(arguments.empty_files, 1);
}

#[test]
fn a_survey_comes_through_an_exec() {
    let home = tempfile::tempdir_in("/var/tmp").unwrap();
    let home = home.path().canonicalize().unwrap();
    let places = places(&home, Temporary::Private);
    let found = snapshot(&places);
    assert!(found.covers.iter().any(Option::is_some) && !found.temporary.is_empty());
    let bytes = found.to_bytes();
    let read = Snapshot::from_bytes(&bytes).unwrap();
    // What is shown was asked for, and is looked for no more.
    let sent = Snapshot {
        visible: Vec::new(),
        ..found
    };
    assert_eq!(read, sent);
    for length in 0..bytes.len() {
        let cut = Snapshot::from_bytes(&bytes[..length]);
        assert_ne!(cut.as_ref(), Some(&sent), "{length}");
    }
}

#[test]
fn a_program_is_taken_from_whom_it_is_trusted() {
    let home = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| home.path().join(name));
    let owner = fs::metadata(home.path()).unwrap().uid();
    for directory in [&one, &other] {
        fs::create_dir(directory).unwrap();
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let find = |owner| find_in(&[one.as_path(), other.as_path(), Path::new("/none")], owner);
    assert_eq!(find(owner), Err(Errno::NOENT));
    let program = other.join("bwrap");
    let with_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::write(&program, "").unwrap();
    for (mode, expected) in [
        (0o755, Ok(program.canonicalize().unwrap())),
        (0o644, Err(Errno::ACCESS)),
        (0o775, Err(Errno::PERM)),
        (0o757, Err(Errno::PERM)),
        (0o4755, Ok(program.canonicalize().unwrap())),
    ] {
        with_mode(&program, mode);
        assert_eq!(find(owner), expected, "{mode:o}");
    }
    assert_eq!(find(owner + 1), Err(Errno::PERM));
    // Whoever can write the directory can put another one there.
    with_mode(&other, 0o777);
    assert_eq!(find(owner), Err(Errno::PERM));
    with_mode(&other, 0o755);
    // One that is not to be trusted hides none that is.
    fs::write(one.join("bwrap"), "").unwrap();
    with_mode(&one.join("bwrap"), 0o777);
    assert_eq!(find(owner), Ok(program.canonicalize().unwrap()));
}
