//! Switches between the two screens, found in raw output without resolving it.

use super::Screen;

/// The first switch of screens in this output: which one it turned on.
pub fn first_switch(raw: &[u8]) -> Option<Screen> {
    switches(raw).next()
}

/// The last switch of screens in this output: which one it left on.
pub fn last_switch(raw: &[u8]) -> Option<Screen> {
    switches(raw).last()
}

/// DECSET and DECRST 47, 1047 and 1049, wherever they stand: ESC begins anew in every state.
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
