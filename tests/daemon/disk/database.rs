//! The database file: one of a newer version and a damaged one are refused and left untouched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use termd_test_support::{Home, TestDaemon};

/// The offset of `PRAGMA user_version` in the file's header (`SQLite`'s file format, 1.3).
const USER_VERSION_AT: u64 = 60;

/// The home of a stopped daemon that has run a command, and the path of its database.
fn used_home() -> (Home, PathBuf) {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let database = client.ok("daemon.info", &Value::Null)["database"].clone();
    daemon.agent().run(&json!({ "command": "echo something" }));
    (daemon.stop(), PathBuf::from(database.as_str().unwrap()))
}

/// The files of the state directory except the locks, with their bytes.
fn files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    (fs::read_dir(home.state_dir()).unwrap().flatten())
        .filter(|entry| !entry.file_name().to_string_lossy().ends_with(".lock"))
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
        .collect()
}

#[test]
fn a_database_from_the_future_is_refused_untouched_and_both_versions_named() {
    let (home, database) = used_home();
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&database)
        .unwrap();
    let mut version = [0; 4];
    file.read_exact_at(&mut version, USER_VERSION_AT).unwrap();
    let known = u32::from_be_bytes(version);
    file.write_all_at(&9_876_u32.to_be_bytes(), USER_VERSION_AT)
        .unwrap();
    let before = files(&home);
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains("9876"), "{stderr}");
    assert!(
        stderr.contains(&format!("to {known}")) || stderr.contains(&format!(" {known}")),
        "{stderr}"
    );
    assert!(stderr.contains(database.to_str().unwrap()), "{stderr}");
    assert!(files(&home) == before, "it was touched");
    // The version that wrote the database opens it again.
    file.write_all_at(&version, USER_VERSION_AT).unwrap();
    let daemon = TestDaemon::start_in(home);
    let list = daemon
        .client()
        .ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(list["terminals"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_damaged_database_is_refused_and_never_overwritten() {
    let (_, whole) = {
        let (home, database) = used_home();
        let bytes = fs::read(&database).unwrap();
        (home, bytes)
    };
    let mut bad_header = whole.clone();
    bad_header[..16].copy_from_slice(b"not a database..");
    let mut bad_schema = whole.clone();
    bad_schema[100..1500].fill(0xAA);
    let text = b"This is no database at all, but somebody's notes.\n".repeat(100);
    for (what, bytes) in [
        ("a bad header", bad_header),
        ("a bad first page", bad_schema),
        ("half of it", whole[..whole.len() / 2].to_vec()),
        ("other people's text", text),
    ] {
        let (home, database) = used_home();
        fs::write(&database, &bytes).unwrap();
        let before = files(&home);
        let stderr = home.refused_start(&[]);
        assert!(
            stderr.contains(database.to_str().unwrap()),
            "{what}: {stderr}"
        );
        assert!(files(&home) == before, "{what}: it was touched");
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_a_clear_error() {
    let (home, database) = used_home();
    fs::remove_file(&database).unwrap();
    fs::create_dir(&database).unwrap();
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains(database.to_str().unwrap()), "{stderr}");
    fs::remove_dir(&database).unwrap();
    let elsewhere = home.path("elsewhere.db");
    std::os::unix::fs::symlink(&elsewhere, &database).unwrap();
    home.refused_start(&[]);
    assert!(!elsewhere.exists(), "it followed a symlink");
}
