//! What is done to a cgroup by its directory.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use nix::libc::SIGKILL;

use crate::sys::{self, Unreaped};

/// The most that is read of `cgroup.procs`: a hundred thousand pids.
const MAX_PROCS: u64 = 1 << 20;
/// The most cgroups below one that are looked at.
const MAX_CGROUPS: usize = 1024;
/// How often a frozen cgroup is searched where the kernel has no `cgroup.kill`. A process that was
/// being forked may be missed once.
const KILL_PASSES: usize = 4;

/// Kills every process in a cgroup and below it, also those that are being forked.
pub(crate) fn kill(cgroup: &Path) {
    if write(cgroup, "cgroup.kill", "1").is_ok() {
        return;
    }
    // Before Linux 5.14.
    let _ = write(cgroup, "cgroup.freeze", "1");
    for _ in 0..KILL_PASSES {
        for pid in pids_in(cgroup) {
            sys::kill_unreaped(Unreaped::Child(pid), SIGKILL);
        }
    }
    let _ = write(cgroup, "cgroup.freeze", "0");
}

/// Writes a file of a cgroup. One that the kernel lacks is not created.
pub(super) fn write(cgroup: &Path, file: &str, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(cgroup.join(file))?;
    file.write_all(text.as_bytes())
}

/// Whether a process is in a cgroup or below it. A zombie is in none.
pub(crate) fn is_populated(cgroup: &Path) -> bool {
    let events = fs::read_to_string(cgroup.join("cgroup.events"));
    events.is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

/// Removes a cgroup and those that its processes have made below it, if it has no process. Whether it
/// is gone.
pub(crate) fn remove(cgroup: &Path) -> bool {
    if fs::remove_dir(cgroup).is_ok() || !cgroup.exists() {
        return true;
    }
    if is_populated(cgroup) {
        return false;
    }
    let below = cgroups_from(cgroup);
    // The last found is the deepest.
    for directory in below.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
    !cgroup.exists()
}

fn pids_in(cgroup: &Path) -> BTreeSet<i32> {
    let mut pids = BTreeSet::new();
    for cgroup in cgroups_from(cgroup) {
        let mut listed = String::new();
        if let Ok(file) = File::open(cgroup.join("cgroup.procs")) {
            let _ = file.take(MAX_PROCS).read_to_string(&mut listed);
        }
        pids.extend(listed.lines().filter_map(|line| line.parse::<i32>().ok()));
    }
    pids
}

/// A cgroup and those below it, each before its own.
fn cgroups_from(cgroup: &Path) -> Vec<PathBuf> {
    let mut found = vec![cgroup.to_owned()];
    let mut next = 0;
    while let Some(cgroup) = found.get(next) {
        let below = fs::read_dir(cgroup).into_iter().flatten().flatten();
        let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let free = MAX_CGROUPS.saturating_sub(found.len());
        let below: Vec<_> = below.take(free).map(|entry| entry.path()).collect();
        found.extend(below);
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_goes_with_those_below_it() {
        let root = tempfile::tempdir().unwrap();
        let cgroup = root.path().join("terminal");
        fs::create_dir_all(cgroup.join("a/b/c")).unwrap();
        fs::create_dir_all(cgroup.join("d")).unwrap();
        assert_eq!(cgroups_from(&cgroup).len(), 5);
        assert!(remove(&cgroup));
        assert!(!cgroup.exists());
        assert!(remove(&cgroup), "what is gone is gone");
    }

    #[test]
    fn a_populated_cgroup_stays() {
        let root = tempfile::tempdir().unwrap();
        let cgroup = root.path().join("terminal");
        fs::create_dir_all(cgroup.join("below")).unwrap();
        fs::write(cgroup.join("cgroup.events"), "populated 1\nfrozen 0\n").unwrap();
        assert!(is_populated(&cgroup));
        assert!(!remove(&cgroup));
        assert!(cgroup.join("below").exists());
        fs::write(cgroup.join("cgroup.events"), "populated 0\nfrozen 0\n").unwrap();
        assert!(!is_populated(&cgroup));
    }
}
