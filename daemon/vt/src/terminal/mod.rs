//! The terminal as one program sees it: the screen, the modes, and what is kept beside them.
//!
//! The parser calls it through [`Handler`](crate::parser::Handler); the files of `control` say
//! which control function does what to which part. No function here can fail.

pub(crate) mod extras;
pub(crate) mod keyboard;
pub(crate) mod stash;
pub(crate) mod terminfo;
pub(crate) mod titles;

use self::extras::Extras;
use self::stash::Stash;
use crate::event::{Event, Fed};
use crate::grid::Size;
use crate::modes::Modes;
use crate::screen::Screen;
use crate::scrollback::Scrollback;

#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    pub(crate) screen: Screen,
    pub(crate) modes: Modes,
    /// Titles, colours, keyboards: state that is not on the screen.
    pub(crate) extras: Extras,
    /// State that programs saved to restore it later.
    pub(crate) stash: Stash,
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
            extras: Extras::default(),
            stash: Stash::default(),
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

    /// Must follow every change of modes, charsets, margins or protection.
    pub(crate) fn update_fast_text(&mut self) {
        self.screen.update_fast_text(&self.modes);
    }
}
