//! What `systemd-analyze security` finds fault with in the unit, and docs/security.md, which gives the
//! reason for each: neither may name what the other does not.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The settings that a row of the table is about: names that end with `=`.
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

#[test]
fn each_exposure_of_the_unit_has_its_reason_in_the_docs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let unit = root.join("systemd/termd.service");
    let analyzed = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--json=short", "--no-pager"])
        .arg(unit)
        .output();
    let found: Option<Vec<Value>> = analyzed
        .ok()
        .and_then(|output| serde_json::from_slice(&output.stdout).ok());
    let Some(found) = found else {
        // Past the test harness's capture: a skipped test must be heard of.
        let _ = writeln!(
            io::stderr(),
            "SKIP exposures: no systemd-analyze that checks units offline (systemd 250)"
        );
        return;
    };
    // A setting with several checks is exposed where one of them fails.
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
    // What an older or newer systemd does not check is no fault of the page.
    let mended: Vec<&String> = explained
        .iter()
        .filter(|name| exposed.contains_key(*name) && !failing(name))
        .collect();
    assert!(mended.is_empty(), "the page still excuses {mended:?}");
}
