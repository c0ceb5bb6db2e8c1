//! Notifications and progress that pass from a program to a person's tty.
//!
//! Pure. What passes tells something and does nothing else: `ConEmu`'s other functions run programs and
//! macros, and kitty's notifications can ask the tty, which answers by typing. Sources: iTerm2 and
//! `ConEmu` (OSC 9), rxvt-unicode (OSC 777), kitty (OSC 99).

use super::control_function::ControlFunction;
use super::undo::Undo;

/// Keys of OSC 99 whose values have no other effect: whether more follows, base64, the name, when it is
/// shown, its part, its urgency.
const PLAIN_KEYS: [&str; 6] = ["d", "e", "i", "o", "p", "u"];

/// What OSC 9, 99 or 777 with this value does; `None` if it does not pass.
pub(super) fn function(number: u16, value: &str) -> Option<ControlFunction<'_>> {
    let (first, rest) = value.split_once(';').unwrap_or((value, ""));
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    match number {
        9 if first == "4" => is_progress(rest).then_some(ControlFunction::Switch(Undo::Progress)),
        9 if is_number => None,
        777 if first != "notify" => None,
        99 if !is_plain(first) => None,
        _ => Some(ControlFunction::Notify),
    }
}

/// `state` or `state;percentage`.
fn is_progress(params: &str) -> bool {
    let (state, percentage) = params.split_once(';').unwrap_or((params, ""));
    matches!(state, "0" | "1" | "2" | "3" | "4")
        && percentage.len() <= 3
        && percentage.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether metadata of OSC 99 (`key=value` with colons between) is of a title or a body alone.
fn is_plain(metadata: &str) -> bool {
    let mut pairs = metadata.split(':').filter(|pair| !pair.is_empty());
    pairs.all(|pair| match pair.split_once('=') {
        Some(("p", part)) => matches!(part, "title" | "body"),
        Some((key, _)) => PLAIN_KEYS.contains(&key),
        None => false,
    })
}
