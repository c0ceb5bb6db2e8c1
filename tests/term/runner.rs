//! The runner that shows what the model makes of bytes (docs/testing.md), as its users run it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Built now, where only this test is: Cargo builds a package's examples for all of its tests alone.
#[test]
fn it_prints_the_rows_and_then_the_cursor() {
    let termd = Path::new(env!("CARGO_BIN_EXE_termd"));
    let target = termd.parent().and_then(Path::parent).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "termd"]);
    cargo.args(["--example", "screen", "--target-dir"]);
    let built = cargo.arg(target).status().unwrap();
    assert!(built.success(), "the runner was not built");
    let mut runner = Command::new(termd.with_file_name("examples").join("screen"))
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
