//! Where the binaries under test are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this crate is two folders below the root")
}

/// Where Cargo puts the binaries of this build, such as `target/debug`. The test executable is in
/// its folder `deps`.
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test executable");
    let folder = test.ancestors().nth(2);
    folder.expect("a test is below the build folder").to_owned()
}

/// A folder for what tests keep from run to run: `target/tmp`.
pub(crate) fn target_tmp() -> PathBuf {
    build_folder().with_file_name("tmp")
}

/// The `termctl` of this build. Cargo has built it for a test of its package.
pub(crate) fn termctl_binary() -> PathBuf {
    build_folder().join("termctl")
}

/// The `termd` of this build. Cargo has built it for a test of its package and for
/// `cargo test --workspace`. `cargo test -p termctl` does not build it, so a missing or stale one
/// is built here.
pub fn termd_binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY
        .get_or_init(|| {
            let folder = build_folder();
            let termd = folder.join("termd");
            if !is_fresh(&termd) {
                build_termd(&folder);
            }
            termd
        })
        .clone()
}

/// Whether a binary is newer than each source that Cargo's dep-info file beside it names.
fn is_fresh(binary: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let Some(built) = modified(binary) else {
        return false;
    };
    let dep_info = fs::read_to_string(binary.with_extension("d")).unwrap_or_default();
    let Some((_, sources)) = dep_info.split_once(": ") else {
        return false;
    };
    // A blank inside a path is written as `\ `.
    let sources = sources.replace("\\ ", "\0");
    let newest: Option<SystemTime> = sources
        .split_whitespace()
        .map(|path| PathBuf::from(path.replace('\0', " ")))
        .map(|path| modified(&path))
        // A source that is gone makes the binary stale as well.
        .try_fold(SystemTime::UNIX_EPOCH, |newest, time| {
            Some(newest.max(time?))
        });
    newest.is_some_and(|newest| newest <= built)
}

fn build_termd(folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--package", "termd", "--target-dir"]);
    cargo.arg(folder.parent().expect("the target directory"));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(repository()).status().unwrap();
    assert!(status.success(), "cargo build --package termd: {status}");
}
