//! The terminal as one program sees it: the screen, the modes, and what is kept beside them.
//!
//! The parser calls it through [`Handler`](crate::parser::Handler); the files of `control` say
//! which control function does what to which part. No function here can fail.

pub(crate) mod keyboard;
pub(crate) mod saved_state;
pub(crate) mod shell;
pub(crate) mod terminfo;
pub(crate) mod titles;

use self::keyboard::Keyboard;
use self::saved_state::SavedState;
use self::shell::ShellIntegration;
use self::titles::Titles;
use crate::color::Colors;
use crate::event::{Event, Fed};
use crate::grid::Size;
use crate::modes::Modes;
use crate::screen::Screen;
use crate::screen::checksum::ChecksumFlags;
use crate::scrollback::Scrollback;

#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) screen: Screen,
    pub(crate) modes: Modes,
    pub(crate) saved: SavedState,
    pub(crate) titles: Titles,
    pub(crate) colors: Colors,
    pub(crate) keyboard: Keyboard,
    pub(crate) shell: ShellIntegration,
    /// XTCHECKSUM.
    pub(crate) checksum: ChecksumFlags,
    /// BELs so far.
    pub(crate) bells: u64,
    /// Pictures (sixel, `ReGIS`, kitty, iTerm2) so far; none is drawn.
    pub(crate) pictures: u64,
    /// The offset in the output after the bytes whose effect is made now.
    pub(crate) offset: u64,
    /// Replies and events of the feed in progress.
    pub(crate) fed: Fed,
    /// RIS leaves LNM set.
    pub(crate) new_lines: bool,
}

impl Terminal {
    pub(crate) fn new(size: Size, scrollback: Scrollback) -> Self {
        let mut terminal = Self {
            screen: Screen::new(size, scrollback),
            modes: Modes::default(),
            saved: SavedState::default(),
            titles: Titles::default(),
            colors: Colors::default(),
            keyboard: Keyboard::default(),
            shell: ShellIntegration::default(),
            checksum: ChecksumFlags::default(),
            bells: 0,
            pictures: 0,
            offset: 0,
            fed: Fed::default(),
            new_lines: false,
        };
        terminal.update_fast_text();
        terminal
    }

    /// Takes another size, with reflow. Mode 2048 reports it.
    pub(crate) fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size != self.screen.size {
            self.screen.resize(size);
            self.update_fast_text();
            self.report_size_in_band();
        }
    }

    /// Reports an event at the end of the bytes read so far.
    pub(crate) fn event(&mut self, event: Event) {
        self.fed.event(self.offset, event);
    }

    /// Reports what a part of the terminal returned.
    pub(crate) fn emit(&mut self, event: Option<Event>) {
        if let Some(event) = event {
            self.event(event);
        }
    }

    /// Must follow every change of modes, charsets, margins or protection.
    pub(crate) fn update_fast_text(&mut self) {
        self.screen.update_fast_text(&self.modes);
    }
}
