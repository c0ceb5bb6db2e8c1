//! The life of directories that are created for sandboxes.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};

use super::*;

fn id(number: u64) -> TerminalId {
    TerminalId::from_random(number)
}

fn list(state_dir: &Path) -> Vec<PathBuf> {
    DirectoryList::new(state_dir).read()
}

/// As the keeper makes one.
fn make(path: &Path) {
    let mode = 0o755 | PLACEHOLDER_MARK;
    let _ = fs::DirBuilder::new().mode(mode).create(path);
}

/// Claims these for a terminal, which then creates them as the keeper does.
fn start(directories: &SandboxDirectories, number: u64, paths: &[PathBuf]) -> Vec<PathBuf> {
    let needed = paths.iter().map(|path| NeededPath {
        path: path.clone(),
        exists: path.exists(),
    });
    let found = || Ok::<Vec<_>, ()>(needed.collect());
    let claimed = directories.claim(&id(number), found, |needed| needed);
    for path in paths {
        make(path);
    }
    claimed.unwrap().1
}

#[test]
fn the_last_one_removes_what_was_made_and_is_empty() {
    let root = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(root.path()).unwrap();
    let [before, used, empty] = ["before", "used", "empty"].map(|name| root.join(name));
    fs::create_dir(&before).unwrap();
    let all = [before.clone(), used.clone(), empty.clone()];
    let state = tempfile::tempdir().unwrap();
    let directories = SandboxDirectories::new(state.path());
    let ours = [used.clone(), empty.clone()];
    assert_eq!(start(&directories, 1, &all), ours);
    assert_eq!(
        start(&directories, 2, &all),
        ours,
        "they are there for the first"
    );
    fs::write(used.join("file"), "somebody's").unwrap();
    assert_eq!(directories.release(&id(1)), Remaining::Nothing);
    assert!(empty.exists(), "the second needs it");
    assert_eq!(directories.release(&id(2)), Remaining::Nothing);
    assert!(!empty.exists());
    assert!(used.exists() && before.exists());
    // What stayed is somebody's now.
    assert_eq!(start(&directories, 3, &all), [empty]);
    assert_eq!(
        directories.release(&id(2)),
        Remaining::Nothing,
        "it has none any more"
    );
}

#[test]
fn what_an_earlier_server_made_is_removed_too() {
    let root = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(root.path()).unwrap();
    let path = root.join("made");
    make(&path);
    let state = tempfile::tempdir().unwrap();
    let directories = SandboxDirectories::new(state.path());
    directories.reclaim(&id(1), std::slice::from_ref(&path));
    directories.release_all();
    assert!(!path.exists());
}

#[test]
fn what_a_killed_daemon_left_is_removed_unless_somebody_has_it() {
    let root = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(root.path()).unwrap();
    let names = ["left", "full", "kept", "new\nline"];
    let [left, full, kept, strange] = names.map(|name| root.join(name));
    let all = [left.clone(), full.clone(), kept.clone(), strange.clone()];
    let killed = SandboxDirectories::new(&root);
    start(&killed, 1, &all);
    fs::write(full.join("file"), "somebody's").unwrap();
    drop(killed);
    let next = SandboxDirectories::new(&root);
    next.reclaim(&id(2), std::slice::from_ref(&kept));
    next.remove_leftovers();
    assert!(!left.exists() && !strange.exists());
    assert!(full.join("file").exists() && kept.exists());
    assert_eq!(list(&root), std::slice::from_ref(&kept));
    next.release_all();
    assert!(!kept.exists());
    assert!(list(&root).is_empty());
    // Damage names nothing that is not whole.
    make(&left);
    let cut = left.as_os_str().as_bytes();
    let file = root.join("made-directories");
    fs::write(file, [b"relative\0\0", cut].concat()).unwrap();
    SandboxDirectories::new(&root).remove_leftovers();
    assert!(left.exists());
}

#[test]
fn no_link_leads_a_removal_elsewhere() {
    let root = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(root.path()).unwrap();
    fs::create_dir(root.join("real")).unwrap();
    make(&root.join("real/made"));
    std::os::unix::fs::symlink("real", root.join("link")).unwrap();
    assert!(remove_placeholder(&root.join("link/made")).is_err());
    assert!(root.join("real/made").exists());
    assert!(remove_placeholder(&root.join("real/made")).is_ok());
}

/// File systems tell times as exactly as the kernel ticks.
fn wait_for_another_time(directory: &Path) {
    let probe = directory.join("probe");
    let time = || {
        fs::write(&probe, "").unwrap();
        fs::metadata(&probe).unwrap().modified().unwrap()
    };
    let before = time();
    while time() == before {
        std::thread::yield_now();
    }
}

#[test]
fn only_what_is_marked_and_empty_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(root.path()).unwrap();
    let [file, filled, remade] = ["file", "filled", "remade"].map(|name| root.join(name));
    let mut marked = fs::File::options();
    marked
        .write(true)
        .create(true)
        .mode(0o644 | PLACEHOLDER_MARK);
    drop(marked.open(&file));
    drop(marked.open(&filled));
    assert_eq!(remove_placeholder(&file), Ok(Removal::Removed));
    assert!(!file.exists());
    // Somebody has opened it, and writes later.
    let opened = root.join("opened");
    drop(marked.open(&opened));
    wait_for_another_time(&root);
    let mut writer = fs::File::create(&opened).unwrap();
    assert_eq!(remove_placeholder(&opened), Ok(Removal::Filled));
    std::io::Write::write_all(&mut writer, b"later").unwrap();
    assert_eq!(fs::read(&opened).unwrap(), b"later");
    fs::write(&filled, "somebody's").unwrap();
    assert_eq!(remove_placeholder(&filled), Ok(Removal::Filled));
    fs::create_dir(&remade).unwrap();
    assert_eq!(remove_placeholder(&remade), Ok(Removal::Foreign));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&filled), 0o644, "its mark is gone");
    assert_eq!(fs::read(&filled).unwrap(), b"somebody's");
    assert_eq!(mode(&remade) & PLACEHOLDER_MARK, 0);
    // The next use of the same place is judged anew.
    fs::remove_dir(&remade).unwrap();
    std::os::unix::fs::symlink(&filled, &remade).unwrap();
    assert_eq!(remove_placeholder(&remade), Ok(Removal::Foreign));
    assert!(filled.exists());
}
