//! The same tests as an ordinary user, where root runs them.

use std::process::Command;

use termd_test_support::{is_root, skip, termd_binary};

/// `nobody`, as on every Linux.
const NOBODY: &str = "65534";

#[test]
fn an_ordinary_users_commands_are_passed_on_alike() {
    let test = "an_ordinary_users_commands_are_passed_on_alike";
    if !is_root() {
        return skip(test, "the other tests run as one");
    }
    let mut again = Command::new("setpriv");
    again.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
    again.arg(std::env::current_exe().unwrap());
    again.args(["--skip", test]);
    // Root builds it where it is missing.
    again.env("CARGO_BIN_EXE_termd", termd_binary());
    let output = match again.current_dir("/").output() {
        Ok(output) => output,
        Err(error) => return skip(test, format_args!("setpriv does not run: {error}")),
    };
    let printed = [output.stdout, output.stderr];
    let printed = printed.map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}{}", printed[0], printed[1]);
}
