//! The findings of `systemd-analyze security` for the unit, and docs/security.md with a reason for
//! each: both must name the same.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Output};

use serde_json::Value;

/// The settings that a row of the table names: words that end with `=`.
fn named_in_docs(docs: &str) -> BTreeSet<String> {
    let section = docs
        .split("\n## ")
        .find(|section| section.starts_with("The unit's exposures"))
        .expect("the section");
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|names| names.split('`'))
        .filter_map(|name| Some(name.strip_suffix('=')?.to_owned()))
        .collect()
}

/// The findings of `systemd-analyze`, or why there are none. The program may be missing, too old
/// for units offline (before systemd 250), or unable to run here: it needs a directory to write to,
/// which User Mode Linux on a read-only root lacks.
fn table(analyzed: io::Result<Output>) -> Result<Vec<Value>, TableError> {
    let output = analyzed?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        TableError::NoTable {
            error,
            status: output.status,
            said: said.lines().next().unwrap_or("nothing").to_owned(),
        }
    })
}

#[derive(Debug, thiserror::Error)]
enum TableError {
    #[error("systemd-analyze does not run: {0}")]
    NotRun(#[from] io::Error),
    #[error("systemd-analyze gives no table ({error}; {status}), and says: {said}")]
    NoTable {
        error: serde_json::Error,
        status: ExitStatus,
        said: String,
    },
}

#[test]
fn a_missing_table_is_told_with_its_own_reason() {
    let missing = table(Command::new("/nowhere/systemd-analyze").output());
    let why = missing.expect_err("there is none").to_string();
    assert!(why.contains("No such file"), "{why}");
    let refused = Command::new("sh")
        .args([
            "-c",
            "echo 'Failed to create /tmp/x: Read-only' >&2; exit 1",
        ])
        .output();
    let why = table(refused).expect_err("there is none").to_string();
    assert!(
        why.contains("exit status: 1") && why.ends_with("says: Failed to create /tmp/x: Read-only"),
        "{why}"
    );
}

#[test]
fn each_exposure_of_the_unit_has_its_reason_in_the_docs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let unit = root.join("systemd/termd.service");
    let analyzed = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--json=short", "--no-pager"])
        .arg(unit)
        .output();
    let found = match table(analyzed) {
        Ok(found) => found,
        Err(why) => {
            // Written past the capture of the test harness, so that a skipped test is noticed.
            let _ = writeln!(io::stderr(), "SKIP exposures: {why}");
            return;
        }
    };
    // A setting with several checks is exposed if one of them fails.
    let mut exposed: BTreeMap<String, bool> = BTreeMap::new();
    for check in &found {
        let name = check["name"].as_str().expect("a name");
        let name = name.split('=').next().expect("its first part").to_owned();
        *exposed.entry(name).or_default() |= check["set"] == false;
    }
    let docs = std::fs::read_to_string(root.join("docs/security.md")).expect("the docs");
    let explained = named_in_docs(&docs);
    let failing = |name: &String| exposed.get(name) == Some(&true);
    let unexplained: Vec<&String> = exposed
        .keys()
        .filter(|name| failing(name) && !explained.contains(*name))
        .collect();
    assert!(
        unexplained.is_empty(),
        "no reason is given for {unexplained:?}"
    );
    // Checks that this version of systemd lacks are no fault of the page.
    let mended: Vec<&String> = explained
        .iter()
        .filter(|name| exposed.contains_key(*name) && !failing(name))
        .collect();
    assert!(mended.is_empty(), "the page still excuses {mended:?}");
}
