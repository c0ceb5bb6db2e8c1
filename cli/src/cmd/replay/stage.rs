//! The screen of a replay: termd's model of a terminal, fed as far as is shown. Pure.

use termd_proto::Offset;
use termd_proto::recording::Keyframe;
use termd_proto::screen::{Screen, ScreenRows};
use termd_proto::terminal::Stdio;
use termd_vt::{Event, Model, Scrollback};

/// Rows of scrollback that the model keeps: a screen that grows takes rows back from there.
const SCROLLBACK_ROWS: usize = 1_000;
/// Bytes of it.
const SCROLLBACK_BYTES: usize = 1 << 20;

/// A model, and the output that it shows.
#[derive(Debug)]
pub(super) struct Stage {
    stdio: Stdio,
    model: Model,
    shown_to: Offset,
}

/// Where a replay goes on after a jump.
#[derive(Debug)]
pub(super) enum Jump {
    /// From a screen that was kept.
    Kept,
    /// From an empty screen where the output begins.
    Start,
    /// The screen that was kept is of another version of termd.
    Unreadable,
}

impl Stage {
    /// An empty screen.
    pub(super) fn new(stdio: Stdio, cols: u16, rows: u16) -> Self {
        Self {
            stdio,
            model: fed_by(stdio, empty(cols, rows)),
            shown_to: Offset::ZERO,
        }
    }

    /// Shows a keyframe.
    pub(super) fn jump(&mut self, keyframe: &Keyframe, dump: Option<&[u8]>) -> Jump {
        self.shown_to = keyframe.at;
        let restored = dump.map(|dump| Model::restored(scrollback(), dump));
        let (model, jump) = match restored {
            Some(Some(model)) => (model, Jump::Kept),
            Some(None) => (empty(keyframe.cols, keyframe.rows), Jump::Unreadable),
            None => (empty(keyframe.cols, keyframe.rows), Jump::Start),
        };
        self.model = fed_by(self.stdio, model);
        jump
    }

    /// Shows more output. Its queries stay without an answer. Returns where the last command in it began
    /// to print, as its shell reports.
    pub(super) fn feed(&mut self, start: Offset, bytes: &[u8]) -> Option<Offset> {
        if start != self.shown_to {
            self.model.go_on_at(start.0);
        }
        let fed = self.model.feed(bytes);
        self.shown_to = start + bytes.len() as u64;
        let mut starts = fed.events.iter().rev();
        let start = starts.find(|(_, event)| *event == Event::OutputStart);
        start.map(|(offset, _)| Offset(*offset))
    }

    pub(super) fn resize(&mut self, cols: u16, rows: u16) {
        let size = size(cols, rows);
        if self.model.size() != size {
            self.model.resize(size);
        }
    }

    /// The end of the output that is shown.
    pub(super) fn shown_to(&self) -> Offset {
        self.shown_to
    }

    /// Whether the program is in the middle of a frame (mode 2026).
    pub(super) fn is_drawing(&self) -> bool {
        self.model.is_drawing()
    }

    pub(super) fn model(&self) -> &Model {
        &self.model
    }

    pub(super) fn screen(&self) -> Screen {
        self.model.screen(ScreenRows::default())
    }
}

fn size(cols: u16, rows: u16) -> termd_vt::Size {
    termd_vt::Size {
        cols: usize::from(cols),
        rows: usize::from(rows),
    }
}

fn scrollback() -> Scrollback {
    Scrollback::new(SCROLLBACK_ROWS, SCROLLBACK_BYTES)
}

fn empty(cols: u16, rows: u16) -> Model {
    Model::new(size(cols, rows), scrollback())
}

/// A program on pipes writes LF where a tty would make CR LF.
fn fed_by(stdio: Stdio, model: Model) -> Model {
    match stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    }
}
