//! What the caller of a wait has typed itself.

use termd_proto::interact::TypedInput;

/// Keys that end a line.
const ENTER_KEYS: [&str; 6] = ["enter", "return", "kp-enter", "ctrl-m", "c-m", "ctrl-j"];

/// The caller's own input. Keys and secrets count too, which the terminal does not remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnInput {
    /// How often Enter was pressed.
    pub(super) lines: usize,
}

impl OwnInput {
    /// Counts the lines of `input`.
    pub fn of(input: &TypedInput) -> Self {
        let text = input.text.as_deref().unwrap_or_default();
        let is_enter = |key: &&String| ENTER_KEYS.contains(&key.to_ascii_lowercase().as_str());
        let pressed = input.keys.iter().filter(is_enter).count();
        let ends = text
            .lines()
            .count()
            .saturating_sub(usize::from(!text.ends_with(['\n', '\r'])));
        // Bytes are not looked into: they count as one line.
        let lines = ends + pressed + usize::from(input.enter || input.data.is_some());
        Self { lines }
    }
}
