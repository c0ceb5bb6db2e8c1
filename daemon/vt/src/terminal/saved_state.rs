//! State that a program saves to restore it later: XTPUSHSGR, XTSAVE, and the state before VT52
//! mode.

use serde::{Deserialize, Serialize};

use crate::grid::style::{Attributes, LinkId, Style};
use crate::modes::Modes;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;

/// Depth of XTPUSHSGR's stack, as in xterm. Pushes beyond it are only counted.
const MAX_PUSHED_SGR: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedState {
    /// XTPUSHSGR, the newest last.
    sgr: Vec<PushedSgr>,
    /// Pushes beyond [`MAX_PUSHED_SGR`].
    sgr_beyond: u32,
    /// XTSAVE: mode and setting. Only known modes are here, each once.
    modes: Vec<(u16, bool)>,
    pub(crate) before_vt52: Option<Box<BeforeVt52>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PushedSgr {
    /// The attributes that XTPOPSGR restores: bit n for parameter n of XTPUSHSGR.
    which: u32,
    /// Without its link.
    style: Style,
}

/// What `ESC <` restores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BeforeVt52 {
    pub(crate) modes: Modes,
    /// Attributes, character sets and origin mode; its position is not restored.
    pub(crate) cursor: Cursor,
    /// Of these, left and right are restored.
    pub(crate) margins: Margins,
}

impl SavedState {
    /// XTPUSHSGR: the whole style, or the attributes that are named.
    pub(crate) fn push_sgr(&mut self, style: Style, named: &[u16]) {
        if self.sgr.len() >= MAX_PUSHED_SGR {
            self.sgr_beyond = self.sgr_beyond.saturating_add(1);
            return;
        }
        let which = if named.iter().all(|number| *number == 0) {
            u32::MAX
        } else {
            let numbers = named.iter().filter(|number| (1..32).contains(*number));
            numbers.fold(0, |which, number| which | 1 << number)
        };
        let style = Style {
            link: LinkId::default(),
            ..style
        };
        self.sgr.push(PushedSgr { which, style });
    }

    /// XTPOPSGR: restores into this style what the last push saved.
    pub(crate) fn pop_sgr(&mut self, style: &mut Style) {
        if self.sgr_beyond > 0 {
            self.sgr_beyond -= 1;
            return;
        }
        let Some(PushedSgr { which, style: old }) = self.sgr.pop() else {
            return;
        };
        let has = |bit: u32| which & 1 << bit != 0;
        for (bit, attribute) in [
            (1, Attributes::BOLD),
            (2, Attributes::FAINT),
            (3, Attributes::ITALIC),
            (5, Attributes::BLINK),
            (5, Attributes::RAPID_BLINK),
            (7, Attributes::INVERSE),
            (8, Attributes::INVISIBLE),
            (9, Attributes::CROSSED_OUT),
        ] {
            if has(bit) {
                style
                    .attributes
                    .set(attribute, old.attributes.contains(attribute));
            }
        }
        if has(4) || has(21) {
            style.underline = old.underline;
            style.underline_color = old.underline_color;
        }
        // Before patch 333 of xterm, 10 and 11 meant what 30 and 31 mean now.
        if has(30) || has(10) {
            style.foreground = old.foreground;
        }
        if has(31) || has(11) {
            style.background = old.background;
        }
    }

    /// XTSAVE of one mode.
    pub(crate) fn save_mode(&mut self, mode: u16, on: bool) {
        match self.modes.iter_mut().find(|(saved, _)| *saved == mode) {
            Some(saved) => saved.1 = on,
            None => self.modes.push((mode, on)),
        }
    }

    /// The setting that XTSAVE saved.
    pub(crate) fn saved_mode(&self, mode: u16) -> Option<bool> {
        let saved = self.modes.iter().find(|(saved, _)| *saved == mode)?;
        Some(saved.1)
    }
}
