//! The arrows of docs/architecture.md: what a crate may not depend on, by its tree of dependencies,
//! and what a module of the daemon may not name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::markdown::root;

/// Crates, and what may be nowhere below them.
const CRATES: [(&[&str], &[&str]); 7] = [
    (
        &["termd-proto", "termd-vt", "termd-policy", "termd-keeper"],
        &[
            "tokio",
            "jsonrpsee",
            "sqlx",
            "libsqlite3-sys",
            "zbus",
            "clap",
            "rmcp",
        ],
    ),
    (
        &["termd-proto", "termd-vt", "termd-policy"],
        &["nix", "tracing", "termd-keeper"],
    ),
    (
        // It is started for each command of an agent.
        &["termd-shell"],
        &["tokio", "jsonrpsee", "clap", "termd-client"],
    ),
    (
        &["termd-picture", "termd-excerpt", "termd-asciicast"],
        &["tokio", "jsonrpsee", "clap", "termd-client"],
    ),
    (
        &[
            "termd-client",
            "termd-mcp",
            "termd-acp",
            "termd-picture",
            "termd-asciicast",
            "termd-tui",
            "termd-shell",
        ],
        &["termd", "termd-vt", "termd-policy", "termd-keeper", "sqlx"],
    ),
    (
        &["termctl"],
        &["termd", "termd-policy", "termd-keeper", "sqlx"],
    ),
    (
        &["termd"],
        &[
            "termctl",
            "termd-client",
            "termd-mcp",
            "termd-acp",
            "termd-picture",
            "termd-tui",
            "termd-shell",
            "rmcp",
        ],
    ),
];

/// Modules of the daemon, and the modules to the left of them.
const MODULES: [(&str, &[&str]); 6] = [
    ("rpc", &["app"]),
    ("service", &["app", "rpc"]),
    ("terminal", &["app", "rpc", "service", "approval"]),
    (
        "store",
        &["app", "rpc", "service", "terminal", "keeper_client"],
    ),
    (
        "keeper_client",
        &["app", "rpc", "service", "terminal", "store"],
    ),
    ("shell", &["app", "rpc", "service", "terminal", "store"]),
];

/// The names of the crates that a crate is built from.
fn tree(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}", "--package", package])
        .current_dir(root())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree -p {package}: {error}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let names = lines.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn no_crate_depends_on_what_it_must_not_know() {
    let mut wrong = BTreeSet::new();
    for (packages, forbidden) in CRATES {
        for package in packages {
            let tree = tree(package);
            for name in forbidden {
                if name != package && tree.contains(*name) {
                    wrong.insert(format!("{package} depends on {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Calls `check` with each Rust file of a module.
fn each_file(module: &Path, check: &mut impl FnMut(&Path, &str)) {
    let file = module.with_extension("rs");
    if file.exists() {
        check(&file, &fs::read_to_string(&file).unwrap());
    }
    let Ok(entries) = fs::read_dir(module) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, check);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            check(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn no_module_of_the_daemon_names_one_to_its_left() {
    let mut wrong = BTreeSet::new();
    for (module, forbidden) in MODULES {
        let mut files = 0;
        each_file(
            &root().join("daemon/src").join(module),
            &mut |path, text| {
                files += 1;
                for name in forbidden {
                    if text.contains(&format!("crate::{name}::")) {
                        wrong.insert(format!("{} names {name}", path.display()));
                    }
                }
            },
        );
        assert!(files > 0, "daemon/src/{module} is gone");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
