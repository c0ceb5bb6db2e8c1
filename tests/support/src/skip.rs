//! Tests that this machine cannot make.

use std::fmt::Display;

/// Prints `SKIP test: reason` on stderr. The caller returns.
pub fn skip(test: &str, reason: impl Display) {
    eprintln!("SKIP {test}: {reason}");
}

/// Whether PATH has this program; prints why the test is skipped where it has not.
pub fn is_installed(program: &str, test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        skip(test, format_args!("{program} is not installed"));
    }
    found
}
