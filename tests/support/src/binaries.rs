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
pub fn termctl_binary() -> PathBuf {
    build_folder().join("termctl")
}

/// The `termd` of this build.
///
/// Cargo names it to the tests of its package, which it has built it for. A test of another package
/// finds it in the build folder, where `cargo test --workspace` puts it. `cargo test -p termctl`
/// does not, so a missing or stale one is built here.
pub fn termd_binary() -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY
        .get_or_init(|| {
            if let Some(termd) = std::env::var_os("CARGO_BIN_EXE_termd") {
                return termd.into();
            }
            built("termd", &["daemon", "proto", "migrations"])
        })
        .clone()
}

/// The `termd-shell` of this build, the shell that agents are given. None where the tree has no such
/// package.
pub fn termd_shell_binary() -> Option<PathBuf> {
    static BINARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    BINARY
        .get_or_init(|| {
            let has_package = repository().join("cli/shell/Cargo.toml").is_file();
            has_package.then(|| built("termd-shell", &["cli/shell", "proto"]))
        })
        .clone()
}

/// The binary of another package, which has its name. It is built where it is missing, or older than
/// a source in one of these folders.
fn built(package: &str, folders: &[&str]) -> PathBuf {
    let build_folder = build_folder();
    let binary = build_folder.join(package);
    let built = fs::metadata(&binary).and_then(|meta| meta.modified());
    let newest = folders
        .iter()
        .filter_map(|name| newest_source(&repository().join(name), *name == "migrations"));
    if built.ok() < newest.max() {
        build(package, &build_folder);
    }
    binary
}

/// When a file of a folder `src` below this folder was changed last, or any file where this folder
/// is in `src`.
fn newest_source(folder: &Path, is_src: bool) -> Option<SystemTime> {
    let modified = |entry: fs::DirEntry| {
        if entry.file_type().ok()?.is_dir() {
            newest_source(&entry.path(), is_src || entry.file_name() == "src")
        } else if is_src {
            entry.metadata().ok()?.modified().ok()
        } else {
            None
        }
    };
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.filter_map(modified).max()
}

fn build(package: &str, folder: &Path) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--package", package, "--target-dir"]);
    cargo.arg(folder.parent().expect("the target directory"));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(repository()).status().unwrap();
    assert!(
        status.success(),
        "cargo build --package {package}: {status}"
    );
}
