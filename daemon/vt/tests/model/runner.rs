//! The conformance runner (docs/testing.md), run as a program.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// `cargo test` builds the package's examples beside its tests.
#[test]
fn it_prints_the_rows_and_then_the_cursor() {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let mut runner = Command::new(profile.join("examples/conformance"))
        .args(["10", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = runner.stdin.take().unwrap();
    stdin.write_all(b"a\x1b[31mb\r\nc").unwrap();
    drop(stdin);
    let said = runner.wait_with_output().unwrap();
    assert!(said.status.success());
    let said = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said, "ab\nc\n\x1ecursor 1 1\n");
}
