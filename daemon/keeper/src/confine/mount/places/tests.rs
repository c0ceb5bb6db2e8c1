use std::path::PathBuf;

use super::*;
use crate::protocol::confinement::{Builder, Enforcement, Processes, ProtectedPath};

fn own() -> DaemonDirs {
    DaemonDirs {
        socket_dir: PathBuf::from("/run/user/1/termd"),
        state_dir: PathBuf::from("/home/me/.local/state/termd"),
    }
}

fn sandbox(writable: &[&str], protected: &[&str], hidden: &[&str]) -> Sandbox {
    let paths = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    Sandbox {
        writable: paths(writable),
        protected: protected
            .iter()
            .map(|path| ProtectedPath {
                path: path.as_bytes().to_vec(),
                if_absent: IfAbsent::Leave,
            })
            .collect(),
        writable_ids: Vec::new(),
        hidden: paths(hidden),
        visible: Vec::new(),
        network: Access::Denied,
        daemon_socket: Access::Denied,
        enforcement: Enforcement::Required,
        temporary: Temporary::Shared,
        processes: Processes::Private,
        builder: Builder::Termd,
    }
}

fn places(sandbox: &Sandbox) -> Places {
    Places::new(sandbox, &own(), None).unwrap()
}

fn text(path: &CStr) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_path_says_where_it_leads() {
    for (path, expected) in [
        ("/a", Ok("/a")),
        ("/a/b/", Ok("/a/b")),
        ("/a/.b/..c", Ok("/a/.b/..c")),
        ("", Err(Errno::INVAL)),
        ("/", Err(Errno::INVAL)),
        ("//", Err(Errno::INVAL)),
        ("a/b", Err(Errno::INVAL)),
        ("/a//b", Err(Errno::INVAL)),
        ("/a/./b", Err(Errno::INVAL)),
        ("/a/..", Err(Errno::INVAL)),
        ("/a/b//", Err(Errno::INVAL)),
        ("/a\0", Err(Errno::INVAL)),
    ] {
        let expected = expected.map(|path: &str| path.as_bytes().to_vec());
        assert_eq!(checked(path.as_bytes()), expected, "{path:?}");
    }
    let long = [b"/a".as_slice(), &[b'a'; 4096]].concat();
    assert_eq!(checked(&long), Err(Errno::NAMETOOLONG));
}

#[test]
fn a_wrong_path_names_its_list() {
    for (sandbox, wall) in [
        (sandbox(&["w"], &[], &[]), Restriction::Writes),
        (sandbox(&["/w"], &["/w/../x"], &[]), Restriction::Protected),
        (sandbox(&["/w"], &[], &["~"]), Restriction::Hidden),
    ] {
        let refused = Places::new(&sandbox, &own(), None).err();
        assert_eq!(refused, Some((wall, Errno::INVAL)));
    }
    let many = vec!["/h"; MAX_SANDBOX_PATHS + 1];
    let refused = Places::new(&sandbox(&[], &[], &many), &own(), None).err();
    assert_eq!(refused, Some((Restriction::Hidden, Errno::TOOBIG)));
}

#[test]
fn what_is_above_a_protected_path_is_pinned_up_to_the_writable_one() {
    let places = places(&sandbox(
        &["/w/sub", "/w", "/other"],
        &[
            "/w/sub/a/.git/hooks",
            "/w/sub/a/.git/config",
            "/w/x",
            "/outside",
            "/www",
            "/w/x/below",
        ],
        &[],
    ));
    let pins: Vec<&str> = places.pins.iter().map(|pin| text(&pin.path)).collect();
    assert_eq!(pins, ["/w/sub", "/w/sub/a", "/w/sub/a/.git"]);
    let guards: Vec<_> = places
        .guards
        .iter()
        .map(|guard| (text(&guard.path), text(&guard.beneath), guard.pins.clone()))
        .collect();
    let expected = [
        ("/w/sub/a/.git/config", "/w", vec![0, 1, 2]),
        ("/w/sub/a/.git/hooks", "/w", vec![0, 1, 2]),
        ("/w/x", "/w", vec![]),
    ];
    assert_eq!(guards, expected);
}

#[test]
fn everything_may_be_writable() {
    let places = places(&sandbox(&["/w", "/"], &["/home/me/.config"], &[]));
    assert!(places.everything && places.writable.is_empty());
    let pins: Vec<&str> = places.pins.iter().map(|pin| text(&pin.path)).collect();
    let expected = [
        "/home",
        "/home/me",
        "/home/me/.local",
        "/home/me/.local/state",
        "/run",
        "/run/user",
        "/run/user/1",
    ];
    assert_eq!(pins, expected);
    assert_eq!(text(&places.guards[0].beneath), "/");
}

#[test]
fn the_daemons_own_places_are_covered() {
    let mut spec = sandbox(&["/w"], &[], &["/home/me/.ssh", "/home/me/.ssh/id"]);
    let covered = |spec: &Sandbox| -> Vec<(String, Vec<String>, bool)> {
        let own = |path: &CStr| text(path).to_owned();
        places(spec)
            .covers
            .iter()
            .map(|cover| {
                let visible = cover.visible.iter().map(|place| own(&place.path));
                (own(&cover.path), visible.collect(), cover.is_required)
            })
            .collect()
    };
    let entry = |path: &str, visible: &[&str], is_required| {
        let visible = visible.iter().map(|path| (*path).to_owned()).collect();
        (path.to_owned(), visible, is_required)
    };
    let state = || entry("/home/me/.local/state/termd", &[], true);
    let ssh = || entry("/home/me/.ssh", &[], false);
    let scripts = "/run/user/1/termd/shell";
    let expected = vec![state(), ssh(), entry("/run/user/1/termd", &[scripts], true)];
    assert_eq!(covered(&spec), expected);
    spec.daemon_socket = Access::Allowed;
    assert_eq!(covered(&spec), vec![state(), ssh()]);
    // Hidden with everything beside it, it stays visible if it may be reached.
    spec.hidden.push(b"/run/user/1".to_vec());
    let runtime = |visible| entry("/run/user/1", &[visible], false);
    assert_eq!(
        covered(&spec),
        vec![state(), ssh(), runtime("/run/user/1/termd")]
    );
    spec.daemon_socket = Access::Denied;
    assert_eq!(covered(&spec), vec![state(), ssh(), runtime(scripts)]);
}

#[test]
fn what_is_hidden_in_something_visible_is_covered_too() {
    let mut spec = sandbox(&[], &[], &["/h", "/h/v/secret", "/h/x/y"]);
    spec.visible.push(b"/h/v".to_vec());
    let places = places(&spec);
    let covers: Vec<&str> = places
        .covers
        .iter()
        .map(|cover| text(&cover.path))
        .collect();
    assert_eq!(covers[..2], ["/h", "/h/v/secret"]);
    assert!(!covers.contains(&"/h/x/y"));
    let names: Vec<&str> = places.covers[0].visible[0]
        .names
        .iter()
        .map(|name| text(name))
        .collect();
    assert_eq!(names, ["v"]);
}

#[test]
fn a_ttys_device_number_is_its_name() {
    use crate::process_tree::encode_device;
    for minor in [0, 5, 255, 256, 4711, 1_048_575] {
        let name = tty_path(encode_device(136, minor)).unwrap();
        assert_eq!(text(&name), format!("/dev/pts/{minor}"));
    }
}

#[test]
fn a_pinned_directory_protects_nothing_beneath_it() {
    let mut sandbox = sandbox(&["/w"], &["/w/src/.envrc", "/w/.git"], &[]);
    for path in ["/w", "/w/.git", "/w/src", "/w/src/deep"] {
        sandbox.protected.push(ProtectedPath {
            path: path.as_bytes().to_vec(),
            if_absent: IfAbsent::PinDirectory,
        });
    }
    let places = places(&sandbox);
    let guards = places.guards.iter();
    let guards = guards.map(|guard| (text(&guard.path), guard.if_absent));
    // The writable place is a mount already, and what is protected as a whole needs no pin.
    let expected = [
        ("/w/.git", IfAbsent::Leave),
        ("/w/src", IfAbsent::PinDirectory),
        ("/w/src/.envrc", IfAbsent::Leave),
        ("/w/src/deep", IfAbsent::PinDirectory),
    ];
    assert_eq!(guards.collect::<Vec<_>>(), expected);
    let pins = places.pins.iter().map(|pin| text(&pin.path));
    assert_eq!(pins.collect::<Vec<_>>(), ["/w/src", "/w/src/deep"]);
}
