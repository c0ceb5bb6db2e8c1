//! The modes of SM and RM (ANSI), and of DECSET and DECRST (DEC, private), as xterm has them.

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

/// DECSACE: which cells DECCARA and DECRARA change.
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

/// DECSCL's operating level of a fresh terminal: a VT420's, as in xterm.
pub(crate) const FIRST_LEVEL: u8 = 4;

/// Private modes of xterm that change nothing here, and their first setting. They are kept so that
/// XTSAVE, XTRESTORE and DECRQM answer as xterm does.
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

/// DECBKM: the backarrow key sends BS.
pub(crate) const DECBKM: u16 = 67;
/// The program asks to be told when the colours change between dark and light (kitty, Contour).
pub(crate) const COLOR_SCHEME_REPORTS: u16 = 2031;
/// The program asks to be told the size in band.
pub(crate) const SIZE_REPORTS: u16 = 2048;

/// The settings of [`KEPT_MODES`], one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptModes(pub u64);

impl Default for KeptModes {
    fn default() -> Self {
        let bits = KEPT_MODES.iter().rev();
        Self(bits.fold(0, |all, (_, on)| all << 1 | u64::from(*on)))
    }
}

impl KeptModes {
    /// The setting of a mode; `None` if it is not one of [`KEPT_MODES`].
    pub(crate) fn get(self, mode: u16) -> Option<bool> {
        let at = KEPT_MODES.iter().position(|(kept, _)| *kept == mode)?;
        Some(self.0 & 1 << at != 0)
    }

    /// Sets or resets a mode, if it is one of [`KEPT_MODES`].
    pub(crate) fn set(&mut self, mode: u16, switch: Switch) {
        if let Some(at) = KEPT_MODES.iter().position(|(kept, _)| *kept == mode) {
            self.0 &= !(1 << at);
            self.0 |= u64::from(switch.is_on()) << at;
        }
    }
}

/// The modes. DECOM is not here: it is saved with the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
// Each flag is a mode of its own with a name of its own.
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
    /// SRM, 12: the terminal does not echo input by itself; kept for DECRQM.
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
    /// ?2027: a grapheme cluster takes the cells, and not each code point.
    pub grapheme_clusters: bool,
    /// ?40: DECCOLM is allowed.
    pub allow_column_mode: bool,
    /// ?3: 132 columns.
    pub column_132: bool,
    /// ?95: DECCOLM does not erase the screen.
    pub no_clear_on_column: bool,
    /// DECANM, ?2, reset.
    pub vt52: bool,
    /// ESC % G (UTF-8, the default) or ESC % @.
    pub utf8: bool,
    /// S8C1T: replies use 8-bit C1 controls.
    pub eight_bit_replies: bool,
    /// XTMODKEYS 4.
    pub modify_other_keys: u8,
    /// ?41: a tab after a pending wrap wraps first.
    pub more_fix: bool,
    /// DECNRCM, ?42: the national character sets are available, and UTF-8 is off.
    pub national: bool,
    /// UTF-8 was on when DECNRCM was set.
    pub utf8_before_national: bool,
    /// ?1046: modes 47, 1047, 1048 and 1049 are allowed.
    pub allow_alternate: bool,
    /// Which control function protected characters last: `screen/erase.rs` says what that means.
    pub protection: Protection,
    /// DECSACE.
    pub change_extent: ChangeExtent,
    /// DECSCL: 1 to 5.
    pub level: u8,
    /// The modes that change nothing here.
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

impl Modes {
    /// An ANSI mode's setting; `None` for an unknown mode.
    pub(crate) fn ansi(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            2 => self.keyboard_locked,
            4 => self.insert,
            12 => self.send_receive,
            20 => self.line_feed_new_line,
            _ => return None,
        })
    }

    /// SM, RM of one mode.
    pub(crate) fn set_ansi(&mut self, mode: u16, switch: Switch) {
        let on = switch.is_on();
        match mode {
            2 => self.keyboard_locked = on,
            4 => self.insert = on,
            12 => self.send_receive = on,
            20 => self.line_feed_new_line = on,
            _ => {}
        }
    }

    /// A private mode's setting; `None` for an unknown mode, and for one that the screen keeps.
    pub(crate) fn private(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            1 => self.application_cursor_keys,
            2 => !self.vt52,
            3 => self.column_132,
            5 => self.reverse_video,
            7 => self.autowrap,
            9 => self.mouse == MouseMode::X10,
            12 => self.cursor_blinks,
            25 => self.cursor_visible,
            40 => self.allow_column_mode,
            41 => self.more_fix,
            42 => self.national,
            45 => self.reverse_wrap,
            66 => self.application_keypad,
            69 => self.left_right_margins,
            95 => self.no_clear_on_column,
            1000 => self.mouse == MouseMode::Normal,
            1001 => self.mouse == MouseMode::Highlight,
            1002 => self.mouse == MouseMode::Button,
            1003 => self.mouse == MouseMode::Any,
            1004 => self.focus_events,
            1005 => self.mouse_encoding == MouseEncoding::Utf8,
            1006 => self.mouse_encoding == MouseEncoding::Sgr,
            1007 => self.alternate_scroll,
            1015 => self.mouse_encoding == MouseEncoding::Urxvt,
            1016 => self.mouse_encoding == MouseEncoding::SgrPixels,
            1045 => self.extended_reverse_wrap,
            1046 => self.allow_alternate,
            2004 => self.bracketed_paste,
            2026 => self.synchronized_output,
            2027 => self.grapheme_clusters,
            _ => return self.kept.get(mode),
        })
    }

    /// DECSET, DECRST of a mode that changes nothing but its own setting.
    pub(crate) fn set_private(&mut self, mode: u16, switch: Switch) {
        let on = switch.is_on();
        match mode {
            1 => self.application_cursor_keys = on,
            5 => self.reverse_video = on,
            7 => self.autowrap = on,
            9 => self.set_mouse(MouseMode::X10, switch),
            12 => self.cursor_blinks = on,
            25 => self.cursor_visible = on,
            40 => self.allow_column_mode = on,
            41 => self.more_fix = on,
            45 => self.reverse_wrap = on,
            66 => self.application_keypad = on,
            95 if self.level >= 5 => self.no_clear_on_column = on,
            1000 => self.set_mouse(MouseMode::Normal, switch),
            1001 => self.set_mouse(MouseMode::Highlight, switch),
            1002 => self.set_mouse(MouseMode::Button, switch),
            1003 => self.set_mouse(MouseMode::Any, switch),
            1004 => self.focus_events = on,
            1005 => self.set_mouse_encoding(MouseEncoding::Utf8, switch),
            1006 => self.set_mouse_encoding(MouseEncoding::Sgr, switch),
            1007 => self.alternate_scroll = on,
            1015 => self.set_mouse_encoding(MouseEncoding::Urxvt, switch),
            1016 => self.set_mouse_encoding(MouseEncoding::SgrPixels, switch),
            1045 => self.extended_reverse_wrap = on,
            2004 => self.bracketed_paste = on,
            2026 => self.synchronized_output = on,
            2027 => self.grapheme_clusters = on,
            _ => self.kept.set(mode, switch),
        }
    }

    /// As in xterm, the reset of any mouse mode ends mouse reports.
    fn set_mouse(&mut self, mode: MouseMode, switch: Switch) {
        self.mouse = match switch {
            Switch::On => mode,
            Switch::Off => MouseMode::Off,
        };
    }

    /// Encodings exclude each other; a reset counts for the one that is set.
    fn set_mouse_encoding(&mut self, encoding: MouseEncoding, switch: Switch) {
        match switch {
            Switch::On => self.mouse_encoding = encoding,
            Switch::Off if self.mouse_encoding == encoding => {
                self.mouse_encoding = MouseEncoding::X10;
            }
            Switch::Off => {}
        }
    }

    /// DECNRCM: the national sets have seven bits, so UTF-8 is off with them.
    pub(crate) fn set_national(&mut self, switch: Switch) {
        if self.level < 2 || self.national == switch.is_on() {
            return;
        }
        self.national = switch.is_on();
        match switch {
            Switch::On => {
                self.utf8_before_national = self.utf8;
                self.utf8 = false;
            }
            Switch::Off => self.utf8 = self.utf8_before_national,
        }
    }
}
