//! Resident memory of processes (`proc_pid_status(5)`, `VmRSS`).

use std::fs;

/// Resident bytes of one process; 0 where it is gone.
pub(crate) fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The processes whose parent is `pid`, and whose name is `name`.
pub(crate) fn children(pid: u32, name: &str) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = listed.unwrap_or_default();
    let pids = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    pids.filter(|pid: &u32| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim_end() == name)
    })
    .collect()
}
