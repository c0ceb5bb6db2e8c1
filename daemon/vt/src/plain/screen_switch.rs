//! Finds switches between the two screens in raw output, without resolving it.

use super::Screen;

/// Returns the screen that the first switch in this output turns on; `None` without a switch.
pub fn first_switch(raw: &[u8]) -> Option<Screen> {
    switches(raw).next()
}

/// Returns the screen that the last switch in this output turns on; `None` without a switch.
pub fn last_switch(raw: &[u8]) -> Option<Screen> {
    switches(raw).last()
}

/// DECSET and DECRST 47, 1047 and 1049. ESC begins a sequence in every state.
fn switches(raw: &[u8]) -> impl Iterator<Item = Screen> {
    let sequences = raw.split(|byte| *byte == 0x1b).skip(1);
    sequences.filter_map(|sequence| {
        let body = sequence.strip_prefix(b"[?")?;
        let length = body
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
        let (modes, last) = body.split_at(length);
        let is_switch = |mode: &[u8]| matches!(mode, b"47" | b"1047" | b"1049");
        if !modes.split(|byte| *byte == b';').any(is_switch) {
            return None;
        }
        match last.first() {
            Some(b'h') => Some(Screen::Alternate),
            Some(b'l') => Some(Screen::Primary),
            _ => None,
        }
    })
}
