//! What a terminal keeps beside its grid: titles, marks' state, colours, keyboard flags.

use serde::{Deserialize, Serialize};
use termd_proto::screen::{CommandState, Progress};

use super::keyboard::Keyboard;
use super::palette::{Palette, SavedPalettes};
use super::titles::SavedTitles;

/// All of it. Small while no program has set anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extras {
    /// OSC 0, 2: the window's title, cleaned.
    pub title: String,
    /// OSC 0, 1: the icon's name, cleaned.
    pub icon_name: String,
    /// XTWINOPS 22 and 23.
    pub saved_titles: SavedTitles,
    /// XTSMTITLE 0: titles are sent as hexadecimal digits.
    pub titles_in_hex: bool,
    /// The shell's directory.
    pub cwd: Option<String>,
    /// OSC 133, 633.
    pub command_state: CommandState,
    /// OSC 9;4.
    pub progress: Option<Progress>,
    /// BEL.
    pub bells: u64,
    /// Pictures (sixel, ReGIS, kitty, iTerm2) that were sent; none is drawn.
    pub pictures: u64,
    /// OSC 4, 5, 10 to 19.
    pub palette: Palette,
    /// XTPUSHCOLORS.
    pub saved_palettes: SavedPalettes,
    /// kitty's flags, XTMODKEYS.
    pub keyboard: Keyboard,
    /// XTCHECKSUM.
    pub checksum: ChecksumFlags,
    /// Modes of xterm's that change nothing here.
    pub remembered: RememberedModes,
}

impl Extras {
    /// RIS: what a program has set goes; what is known of the shell and what was counted stays.
    pub fn full_reset(&mut self) {
        self.soft_reset();
        self.saved_titles = SavedTitles::default();
        self.titles_in_hex = false;
        self.palette = Palette::default();
        self.saved_palettes = SavedPalettes::default();
        self.keyboard = Keyboard::default();
        self.remembered = RememberedModes::default();
        self.progress = None;
    }

    /// DECSTR.
    pub fn soft_reset(&mut self) {
        self.checksum = ChecksumFlags::default();
    }
}

/// XTCHECKSUM: how DECRQCRA reckons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksumFlags(pub u16);

impl ChecksumFlags {
    /// The sum, and not what is left to 0.
    pub const POSITIVE: u16 = 1;
    /// Characters alone, without their attributes.
    pub const NO_ATTRIBUTES: u16 = 1 << 1;
    /// Blanks count.
    pub const BLANKS: u16 = 1 << 2;
    /// Cells that nothing was written to count as blanks.
    pub const UNWRITTEN: u16 = 1 << 3;
    /// Whole code points.
    pub const WHOLE: u16 = 1 << 4;

    /// Whether a flag is set.
    pub fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }
}

impl Default for ChecksumFlags {
    /// The plain sum of the characters, blanks as spaces: xterm's of patch 334 (its resource
    /// `checksumExtension: 23`), and that of the other emulators that have this function. xterm
    /// itself starts with 0, what a VT520 reckons; who wants that asks for it with `CSI 0 # y`.
    fn default() -> Self {
        Self(Self::POSITIVE | Self::NO_ATTRIBUTES | Self::BLANKS | Self::WHOLE)
    }
}

/// Modes that are kept for DECRQM alone, and those that switch a report on: xterm's keyboards,
/// scroll bars, printers and the like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedModes(u64);

/// Each mode, and whether it is set at the start; a mode's place is its bit.
const REMEMBERED: [(u16, bool); 39] = [
    // DECSCLM: smooth scroll.
    (4, false),
    // DECPFF, DECPEX: the printer's.
    (18, false),
    (19, false),
    // Scroll bar, font keys.
    (30, false),
    (35, true),
    // more(1)'s fix, DECNRCM, margin bell.
    (41, false),
    (42, false),
    (44, false),
    // DECBKM, DECSDM.
    (67, false),
    (80, false),
    // Scroll on output and on keys, fast scroll.
    (1010, true),
    (1011, false),
    (1014, false),
    // What Meta, Num Lock, Delete and Alt do.
    (1034, true),
    (1035, true),
    (1036, false),
    (1037, false),
    (1039, false),
    // Selections, bells and the clipboard.
    (1040, true),
    (1041, false),
    (1042, false),
    (1043, false),
    (1044, false),
    (1046, true),
    // Function keys of other makers.
    (1050, false),
    (1051, false),
    (1052, false),
    (1053, false),
    (1060, false),
    (1061, false),
    // Sixel's colours.
    (1070, true),
    // Readline's mouse and pastes.
    (2001, false),
    (2002, false),
    (2003, false),
    (2005, false),
    (2006, false),
    // Reports of the colour scheme and of the size.
    (COLOR_SCHEME_REPORTS, false),
    (SIZE_REPORTS, false),
    // Sixel's cursor.
    (8452, false),
];

/// Mode 2031: the program wants to be told when dark becomes light.
pub const COLOR_SCHEME_REPORTS: u16 = 2031;
/// Mode 2048: the program wants to be told the size in band.
pub const SIZE_REPORTS: u16 = 2048;

impl Default for RememberedModes {
    fn default() -> Self {
        let set = REMEMBERED.iter().enumerate().filter(|(_, mode)| mode.1);
        Self(set.fold(0, |bits, (at, _)| bits | 1 << at))
    }
}

impl RememberedModes {
    /// Whether a mode is set; `None`: it is none of these.
    pub fn get(&self, mode: u16) -> Option<bool> {
        match Self::bit(mode) {
            0 => None,
            bit => Some(self.0 & bit != 0),
        }
    }

    /// Sets a mode (DECSET); what is none of these is passed over.
    pub fn set(&mut self, mode: u16) {
        self.0 |= Self::bit(mode);
    }

    /// Resets a mode (DECRST).
    pub fn reset(&mut self, mode: u16) {
        self.0 &= !Self::bit(mode);
    }

    fn bit(mode: u16) -> u64 {
        let at = REMEMBERED.iter().position(|known| known.0 == mode);
        at.map_or(0, |at| 1 << at)
    }
}
