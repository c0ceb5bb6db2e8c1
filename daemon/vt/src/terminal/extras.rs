//! What a terminal keeps beside its grid: titles, marks' state, colours, keyboard flags.

use serde::{Deserialize, Serialize};
use termd_proto::screen::{CommandState, Progress};

use crate::color::{Palette, SavedPalettes};
use crate::screen::checksum::ChecksumFlags;
use crate::terminal::keyboard::Keyboard;
use crate::terminal::titles::SavedTitles;

/// All of it. Small while no program has set anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Extras {
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
    /// Pictures (sixel, `ReGIS`, kitty, iTerm2) that were sent; none is drawn.
    pub pictures: u64,
    /// OSC 4, 5, 10 to 19.
    pub palette: Palette,
    /// XTPUSHCOLORS.
    pub saved_palettes: SavedPalettes,
    /// kitty's flags, XTMODKEYS.
    pub keyboard: Keyboard,
    /// XTCHECKSUM.
    pub checksum: ChecksumFlags,
}

impl Extras {
    /// RIS: what a program has set goes; what is known of the shell and what was counted stays.
    pub(crate) fn full_reset(&mut self) {
        self.soft_reset();
        self.saved_titles = SavedTitles::default();
        self.titles_in_hex = false;
        self.palette = Palette::default();
        self.saved_palettes = SavedPalettes::default();
        self.keyboard = Keyboard::default();
        self.progress = None;
    }

    /// DECSTR.
    pub(crate) fn soft_reset(&mut self) {
        self.checksum = ChecksumFlags::default();
        self.keyboard.modify_none();
    }
}
