//! The modes: ANSI's (SM, RM) and DEC's (DECSET, DECRST), as xterm has them.

use serde::{Deserialize, Serialize};

use termd_proto::screen::{CursorShape, MouseEncoding, MouseMode};

use crate::grid::cell::Protection;

/// What SM, RM, DECSET and DECRST do to a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// SM, DECSET.
    On,
    /// RM, DECRST.
    Off,
}

impl Switch {
    /// Whether the mode is set after it.
    #[inline]
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}

impl From<bool> for Switch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// DECSACE: what DECCARA and DECRARA change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChangeExtent {
    /// 0, 1: the characters from the first corner to the last, over whole rows between.
    #[default]
    Stream,
    /// 2: the rectangle.
    Rectangle,
}

impl From<u16> for ChangeExtent {
    fn from(param: u16) -> Self {
        if param == 2 {
            Self::Rectangle
        } else {
            Self::Stream
        }
    }
}

/// DECSCL's operating level that a terminal starts with: a VT420's, as xterm's.
pub(crate) const FIRST_LEVEL: u8 = 4;

/// Private modes of xterm that change nothing here: kept, so that XTSAVE, XTRESTORE and DECRQM
/// answer as xterm does. With what they are at the beginning.
pub(crate) const KEPT_MODES: [(u16, bool); 39] = [
    (4, false),
    (8, true),
    (10, false),
    (18, false),
    (19, true),
    (30, false),
    (35, true),
    (38, false),
    (44, false),
    (DECBKM, false),
    (80, false),
    (1010, false),
    (1011, false),
    (1014, false),
    (1034, false),
    (1035, true),
    (1036, true),
    (1037, false),
    (1039, false),
    (1040, true),
    (1041, false),
    (1042, false),
    (1043, false),
    (1044, false),
    (1050, true),
    (1051, false),
    (1052, false),
    (1053, false),
    (1060, false),
    (1061, false),
    (1070, true),
    (2001, false),
    (2002, false),
    (2003, false),
    (2005, false),
    (2006, false),
    (COLOR_SCHEME_REPORTS, false),
    (SIZE_REPORTS, false),
    (8452, false),
];

/// The backarrow key sends BS.
pub(crate) const DECBKM: u16 = 67;
/// The program wants to be told when dark colours become light: kitty's and Contour's.
pub(crate) const COLOR_SCHEME_REPORTS: u16 = 2031;
/// The program wants to be told the size in band.
pub(crate) const SIZE_REPORTS: u16 = 2048;

/// The settings of [`KEPT_MODES`], a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptModes(pub u64);

impl Default for KeptModes {
    fn default() -> Self {
        let bits = KEPT_MODES.iter().rev();
        Self(bits.fold(0, |all, (_, on)| all << 1 | u64::from(*on)))
    }
}

impl KeptModes {
    /// A mode's setting; `None`: it is not one of them.
    pub(crate) fn get(self, mode: u16) -> Option<bool> {
        let at = KEPT_MODES.iter().position(|(kept, _)| *kept == mode)?;
        Some(self.0 & 1 << at != 0)
    }

    /// Sets or resets it, if it is one of them.
    pub(crate) fn set(&mut self, mode: u16, switch: Switch) {
        if let Some(at) = KEPT_MODES.iter().position(|(kept, _)| *kept == mode) {
            self.0 &= !(1 << at);
            self.0 |= u64::from(switch.is_on()) << at;
        }
    }
}

/// The modes, apart from DECOM, which is saved with the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
// Each is one bit of the terminal's own and has a name of its own.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Modes {
    /// DECAWM, 7.
    pub autowrap: bool,
    /// Reverse wraparound, 45.
    pub reverse_wrap: bool,
    /// Extended reverse wraparound, 1045.
    pub extended_reverse_wrap: bool,
    /// IRM, 4.
    pub insert: bool,
    /// LNM, 20.
    pub line_feed_new_line: bool,
    /// SRM, 12: what is typed is not shown by the terminal itself; kept for DECRQM.
    pub send_receive: bool,
    /// KAM, 2; kept for DECRQM.
    pub keyboard_locked: bool,
    /// DECCKM, ?1.
    pub application_cursor_keys: bool,
    /// DECNKM, ?66, and DECKPAM.
    pub application_keypad: bool,
    /// DECSCNM, ?5.
    pub reverse_video: bool,
    /// DECLRMM, ?69.
    pub left_right_margins: bool,
    /// DECTCEM, ?25.
    pub cursor_visible: bool,
    /// DECSCUSR and ?12.
    pub cursor_blinks: bool,
    /// DECSCUSR.
    pub cursor_shape: CursorShape,
    /// ?2004.
    pub bracketed_paste: bool,
    /// ?1004.
    pub focus_events: bool,
    /// ?9, ?1000 to ?1003.
    pub mouse: MouseMode,
    /// ?1005, ?1006, ?1015, ?1016.
    pub mouse_encoding: MouseEncoding,
    /// ?1007.
    pub alternate_scroll: bool,
    /// ?2026.
    pub synchronized_output: bool,
    /// ?2027: grapheme clusters and not code points take cells.
    pub grapheme_clusters: bool,
    /// ?40: DECCOLM is obeyed.
    pub allow_column_mode: bool,
    /// ?3: 132 columns.
    pub column_132: bool,
    /// ?95: DECCOLM leaves the screen.
    pub no_clear_on_column: bool,
    /// DECANM, ?2, reset: VT52.
    pub vt52: bool,
    /// ESC % G (UTF-8, the default) or ESC % @.
    pub utf8: bool,
    /// S8C1T: answers with 8-bit C1.
    pub eight_bit_replies: bool,
    /// XTMODKEYS 4.
    pub modify_other_keys: u8,
    /// ?41: a tab after a pending wrap wraps first.
    pub more_fix: bool,
    /// DECNRCM, ?42: the national character sets are there, and UTF-8 is not.
    pub national: bool,
    /// UTF-8 was on when DECNRCM was set.
    pub utf8_before_national: bool,
    /// ?1046: 47, 1047, 1048 and 1049 are obeyed.
    pub allow_alternate: bool,
    /// Which control function has protected characters last; what that means for erasing, see
    /// `control/erase.rs`.
    pub protection: Protection,
    /// DECSACE.
    pub change_extent: ChangeExtent,
    /// DECSCL: 1 to 5.
    pub level: u8,
    /// The others.
    pub kept: KeptModes,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            autowrap: true,
            reverse_wrap: false,
            extended_reverse_wrap: false,
            insert: false,
            line_feed_new_line: false,
            send_receive: true,
            keyboard_locked: false,
            application_cursor_keys: false,
            application_keypad: false,
            reverse_video: false,
            left_right_margins: false,
            cursor_visible: true,
            cursor_blinks: false,
            cursor_shape: CursorShape::Block,
            bracketed_paste: false,
            focus_events: false,
            mouse: MouseMode::Off,
            mouse_encoding: MouseEncoding::X10,
            alternate_scroll: false,
            synchronized_output: false,
            grapheme_clusters: false,
            allow_column_mode: false,
            column_132: false,
            no_clear_on_column: false,
            vt52: false,
            utf8: true,
            eight_bit_replies: false,
            modify_other_keys: 0,
            more_fix: false,
            national: false,
            utf8_before_national: false,
            allow_alternate: true,
            protection: Protection::None,
            change_extent: ChangeExtent::Stream,
            level: FIRST_LEVEL,
            kept: KeptModes::default(),
        }
    }
}
