//! A daemon whose profile lets commands run into a limit, and scripts that do.

use crate::TestDaemon;

/// A script that writes more than `file_bytes` allows. The shell passes the end on as code 153.
pub const OVER_FILE_BYTES: &str = "head -c 10000 /dev/zero > grown; exit $?";
/// A script that uses more than `cpu_time` allows, and is ended by SIGXCPU.
pub const OVER_CPU_TIME: &str = "while :; do :; done";

/// A daemon that gives commands of this front 1 s of processor time and 4 KiB a file.
pub fn daemon_with_limits(front: &str) -> TestDaemon {
    TestDaemon::configured(&format!(
        "kill_grace_ms = 300\n[policy.fronts.{front}]\nprofile = 'held'\n\
         [policy.profiles.held]\nlimits = {{ cpu_time = '1s', file_bytes = '4KiB' }}\n"
    ))
}
