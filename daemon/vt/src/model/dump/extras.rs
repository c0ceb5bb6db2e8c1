//! The state beside the screen, in the form of a dump.

use serde::{Deserialize, Serialize};
use termd_proto::screen::{CommandState, Progress};

use crate::color::{Colors, Palette, SavedPalettes};
use crate::screen::checksum::ChecksumFlags;
use crate::terminal::Terminal;
use crate::terminal::keyboard::Keyboard;
use crate::terminal::shell::ShellIntegration;
use crate::terminal::titles::{SavedTitles, Titles};

/// One level of names, as in the first dumps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Extras {
    title: String,
    icon_name: String,
    saved_titles: SavedTitles,
    titles_in_hex: bool,
    cwd: Option<String>,
    command_state: CommandState,
    progress: Option<Progress>,
    /// Left out where there is none: the first dumps have no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_from: Option<(u64, usize)>,
    bells: u64,
    pictures: u64,
    palette: Palette,
    saved_palettes: SavedPalettes,
    keyboard: Keyboard,
    checksum: ChecksumFlags,
}

impl Extras {
    pub(crate) fn of(terminal: &Terminal) -> Self {
        let Titles {
            window,
            icon,
            saved,
            in_hex,
        } = terminal.titles.clone();
        let ShellIntegration {
            cwd,
            command_state,
            progress,
            line_from,
        } = terminal.shell.clone();
        Self {
            title: window,
            icon_name: icon,
            saved_titles: saved,
            titles_in_hex: in_hex,
            cwd,
            command_state,
            progress,
            line_from,
            bells: terminal.bells,
            pictures: terminal.pictures,
            palette: terminal.colors.palette.clone(),
            saved_palettes: terminal.colors.saved.clone(),
            keyboard: terminal.keyboard.clone(),
            checksum: terminal.checksum,
        }
    }

    pub(super) fn restore(self, terminal: &mut Terminal) {
        terminal.titles = Titles {
            window: self.title,
            icon: self.icon_name,
            saved: self.saved_titles,
            in_hex: self.titles_in_hex,
        };
        terminal.shell = ShellIntegration {
            cwd: self.cwd,
            command_state: self.command_state,
            progress: self.progress,
            line_from: self.line_from,
        };
        terminal.bells = self.bells;
        terminal.pictures = self.pictures;
        terminal.colors = Colors {
            palette: self.palette,
            saved: self.saved_palettes,
        };
        terminal.keyboard = self.keyboard;
        terminal.checksum = self.checksum;
    }
}
