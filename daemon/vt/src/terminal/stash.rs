//! What programs put aside to take it back later: XTPUSHSGR, XTSAVE, and the state before VT52 mode.

use serde::{Deserialize, Serialize};

use crate::grid::style::Style;
use crate::modes::Modes;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;

/// Looks that XTPUSHSGR keeps, as in xterm; those pushed beyond are only counted.
pub(crate) const MAX_PUSHED_SGR: usize = 10;

/// All of it. Small while no program has put anything aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stash {
    /// XTPUSHSGR, the newest last.
    pub sgr: Vec<PushedSgr>,
    /// Pushes beyond [`MAX_PUSHED_SGR`].
    pub sgr_beyond: u32,
    /// XTSAVE: mode and setting; only modes that are known, each once.
    pub modes: Vec<(u16, bool)>,
    /// What to bring back after VT52 mode.
    pub before_vt52: Option<Box<BeforeVt52>>,
}

/// A look that was pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PushedSgr {
    /// The attributes that popping brings back: bit n for parameter n of XTPUSHSGR.
    pub which: u32,
    /// The look; its link is not kept.
    pub style: Style,
}

/// What `ESC <` brings back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BeforeVt52 {
    /// Modes.
    pub modes: Modes,
    /// Attributes, character sets, origin; its place is not taken back.
    pub cursor: Cursor,
    /// Left and right margins.
    pub margins: Margins,
}
