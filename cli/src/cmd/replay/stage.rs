//! The screen of a replay: termd's model of a terminal, fed as far as is shown. Pure.

use std::collections::BTreeMap;
use termd_proto::Offset;

use termd_proto::recording::Keyframe;
use termd_proto::screen::{Screen, ScreenRows};
use termd_proto::terminal::Stdio;
use termd_vt::{Event, Model, Scrollback};

/// Rows of scrollback that the model keeps: a screen that grows takes rows back from there.
const SCROLLBACK_ROWS: usize = 1_000;
/// Bytes of it.
const SCROLLBACK_BYTES: usize = 1 << 20;

/// Output after a keyframe that is worth one of termctl's own, in bytes. The daemon keeps one for each half
/// of that, but not of output that is older than its keyframes.
const OWN_KEYFRAME_BYTES: u64 = 8 << 20;
/// Rows of scrollback in it.
const OWN_KEYFRAME_ROWS: usize = 100;
/// Most keyframes of termctl's own: some MiB of memory, for 4 GiB of output.
const MAX_OWN_KEYFRAMES: usize = 512;

/// A model, and the output that it shows.
#[derive(Debug)]
pub(super) struct Stage {
    stdio: Stdio,
    model: Model,
    shown_to: Offset,
    /// Dumps of the model where much output was shown after a keyframe.
    own_keyframes: BTreeMap<Offset, Vec<u8>>,
    /// The last keyframe before `shown_to`, or where the output began.
    keyframe_at: Offset,
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
            own_keyframes: BTreeMap::new(),
            keyframe_at: Offset::ZERO,
        }
    }

    /// Shows a keyframe of the daemon's on the way to an offset, or a later one of its own.
    pub(super) fn jump(&mut self, to: Offset, keyframe: &Keyframe, dump: Option<&[u8]>) -> Jump {
        let own = self.own_keyframes.range(..=to).next_back();
        let own = own.filter(|(at, _)| **at > keyframe.at);
        if let Some((at, dump)) = own
            && let Some(model) = Model::restored(scrollback(), dump)
        {
            self.shown_to = *at;
            self.keyframe_at = *at;
            self.model = fed_by(self.stdio, model);
            return Jump::Kept;
        }
        self.shown_to = keyframe.at;
        self.keyframe_at = keyframe.at;
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
        self.model.skip_to(start.0);
        let fed = self.model.feed(bytes);
        self.shown_to = start + bytes.len() as u64;
        self.keep_keyframe();
        let mut starts = fed.events.iter().rev();
        let start = starts.find(|(_, event)| *event == Event::OutputStart);
        start.map(|(offset, _)| Offset(*offset))
    }

    fn keep_keyframe(&mut self) {
        let is_far = self.shown_to.since(self.keyframe_at) >= OWN_KEYFRAME_BYTES;
        if is_far && self.own_keyframes.len() < MAX_OWN_KEYFRAMES {
            let dump = self.model.short_dump(OWN_KEYFRAME_ROWS);
            self.own_keyframes.insert(self.shown_to, dump);
            self.keyframe_at = self.shown_to;
        }
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
pub(in crate::cmd) fn fed_by(stdio: Stdio, model: Model) -> Model {
    match stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none_kept(at: u64) -> Keyframe {
        Keyframe {
            at: Offset(at),
            cols: 40,
            rows: 5,
            dump: None,
        }
    }

    #[test]
    fn what_was_shown_once_is_jumped_to() {
        let mut stage = Stage::new(Stdio::Pty, 40, 5);
        let line = |number: usize| format!("line {number:010}\r\n");
        let line_bytes = line(0).len() as u64;
        let lines: Vec<_> = (0..1_500_000).map(line).collect();
        let mut at = Offset::ZERO;
        for chunk in lines.chunks(1_000) {
            stage.feed(at, chunk.concat().as_bytes());
            at = stage.shown_to();
        }
        assert_eq!(stage.own_keyframes.len(), 3);
        let to = Offset(line_bytes * 1_200_000);
        stage.jump(to, &none_kept(0), None);
        let from = stage.shown_to();
        assert!(from < to && to.since(from) <= OWN_KEYFRAME_BYTES + 17_000);
        let number = from.0 / line_bytes - 1;
        assert_eq!(stage.model().row_text(3), format!("line {number:010}"));
        // The daemon's is later.
        stage.jump(to, &none_kept(to.0 - 1), None);
        assert_eq!(stage.shown_to(), Offset(to.0 - 1));
        assert_eq!(stage.model().row_text(3), "");
    }
}
