//! Signals by name and number (signal(7)).

use std::num::NonZeroU8;

pub(crate) const SIGHUP: NonZeroU8 = NonZeroU8::MIN;
pub(crate) const SIGINT: NonZeroU8 = NonZeroU8::MIN.saturating_add(1);
pub(crate) const SIGQUIT: NonZeroU8 = NonZeroU8::MIN.saturating_add(2);
pub(crate) const SIGTERM: NonZeroU8 = NonZeroU8::MIN.saturating_add(14);

/// A file has become longer than the process may write (`ulimit -f`).
pub(crate) const SIGXFSZ: i32 = 25;

/// The signals' names in the order of their numbers, from 1 on (signal(7)).
pub(crate) const SIGNAL_NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The number of a signal's name, in any case, with or without `SIG`. Also reads a bare number and
/// `SIGRTMIN+n`.
pub(crate) fn number(name: &str) -> Option<NonZeroU8> {
    let name = name.to_ascii_uppercase();
    let bare = name.strip_prefix("SIG").unwrap_or(&name);
    let number = if let Some(position) = SIGNAL_NAMES.iter().position(|&signal| signal == bare) {
        u8::try_from(position).ok()?.checked_add(1)?
    } else if let Some(beyond) = bare.strip_prefix("RTMIN") {
        // glibc keeps 32 and 33 for itself.
        let beyond = beyond.strip_prefix('+').unwrap_or("0");
        beyond.parse::<u8>().ok()?.checked_add(34)?
    } else {
        bare.parse().ok()?
    };
    NonZeroU8::new(number).filter(|number| number.get() <= 64)
}
