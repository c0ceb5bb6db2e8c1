//! A daemon by whose profile a command is soon at a limit, and scripts that are.

use super::daemon::TestDaemon;

/// A script that is ended for what it writes (`file_bytes`), with the code 153 of a shell.
pub(crate) const GROW: &str = "head -c 10000 /dev/zero > grown; exit $?";
/// A script that is ended for its processor time (`cpu_time`), by SIGXCPU.
pub(crate) const BURN: &str = "while :; do :; done";

/// What comes through this front has a second of processor time, and 4 KiB a file.
pub(crate) fn limited(front: &str) -> TestDaemon {
    TestDaemon::configured(&format!(
        "kill_grace_ms = 300\n[policy.fronts.{front}]\nprofile = 'held'\n\
         [policy.profiles.held]\nlimits = {{ cpu_time = '1s', file_bytes = '4KiB' }}\n"
    ))
}
