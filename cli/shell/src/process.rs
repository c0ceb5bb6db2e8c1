//! Processes as /proc shows them.

use std::fs;
use std::path::PathBuf;

/// Most parents that are looked at: a chain that is longer is none of an agent's.
const MAX_DEPTH: usize = 64;

/// The parents of this process, the nearest first.
pub(crate) fn parents() -> Vec<i32> {
    let first = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    let chain = std::iter::successors(first, |pid| parent_of(*pid));
    chain.take_while(|pid| *pid > 0).take(MAX_DEPTH).collect()
}

/// The parent, by `proc_pid_stat(5)`. The fields are counted from behind the name, which may hold
/// blanks and parentheses.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// The name of a process, `proc_pid_comm(5)`.
pub(crate) fn name_of(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// The directory in which a process works.
pub(crate) fn directory_of(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parent_is_the_nearest() {
        let parents = parents();
        let own = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        assert_eq!(parents.first(), Some(&own));
        assert!(name_of(own).is_some_and(|name| !name.is_empty()));
    }
}
