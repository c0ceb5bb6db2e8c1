//! A filter between a program's output and a person's tty.
//!
//! Pure. It passes text and the control functions that draw, and drops all others: a terminal answers
//! a query by typing, and the answer would be typed into the program, which termd has answered
//! already, or into the shell; other functions act beyond the screen. It keeps what the program
//! has switched, and switches it back at the end
//! ([0082](../../../docs/decisions/0082-functions-that-draw.md)). Marks that turn the reading direction are
//! dropped from text, as in each picture of a screen; titles and notifications lose all that misleads.

use std::collections::BTreeSet;

use termd_client::escape::misleads;

use super::control_function::{ControlFunction, control_function};
use super::undo::{ANSI_MODES, PRIVATE_MODES, Undo};
use crate::direction_marks::without_direction_marks;
use crate::splitter::{Piece, Splitter};

/// Most entries of a program on the tty's stack of kitty's keyboard flags, per screen. kitty keeps 8
/// and drops the oldest, which are the person's own.
const MAX_KEY_ENTRIES: u16 = 4;

/// Filters a stream, chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct TtyFilter {
    splitter: Splitter,
    switched: Switched,
}

impl TtyFilter {
    /// Takes the tty's alternate screen as the program's whole screen, until [`reset`](Self::reset):
    /// the bytes that switch it on. From then on the program's own switching is dropped.
    pub(crate) fn enter_alternate_screen(&mut self) -> Vec<u8> {
        self.switched.undo.insert(Undo::AlternateScreen);
        b"\x1b[?1049h".to_vec()
    }

    /// Whether the program has switched to its other screen since the last call, which the tty does not
    /// show.
    pub(crate) fn take_switched_screen(&mut self) -> bool {
        std::mem::take(&mut self.switched.has_switched_screen)
    }

    /// The part of the chunk that is for the tty. A sequence is returned when its end has come.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len());
        let switched = &mut self.switched;
        self.splitter.feed(chunk, |piece| match piece {
            Piece::Text(text) => out.extend(&*without_direction_marks(text)),
            // BEL, BS, HT, LF, VT, FF, CR.
            Piece::Control(byte @ 0x07..=0x0d) => out.push(byte),
            // SO, SI.
            Piece::Control(byte @ (0x0e | 0x0f)) => {
                switched.undo.insert(Undo::Charsets);
                out.push(byte);
            }
            // ENQ asks for the answerback string.
            Piece::Control(_) | Piece::Overlong => {}
            Piece::Sequence(sequence) => {
                if let Some(function) = control_function(sequence) {
                    switched.pass(sequence, &function, &mut out);
                }
            }
        });
        out
    }

    /// Switches back for a moment what keeps another picture from being drawn, and keys from being read. All of
    /// it is still switched back at the end.
    pub(crate) fn pause(&mut self) -> Vec<u8> {
        self.switched.paused()
    }

    /// Switches back what was switched. The filter is as new then.
    pub(crate) fn reset(&mut self) -> Vec<u8> {
        std::mem::take(self).switched.undone()
    }
}

/// What the program has switched.
#[derive(Debug, Default)]
struct Switched {
    undo: BTreeSet<Undo>,
    /// The mode that switched the alternate screen on.
    alternate: Option<u16>,
    /// The program has switched its screen, and the tty's alternate screen is all that it has.
    has_switched_screen: bool,
    /// DECOM, which a restored cursor may bring back.
    origin: bool,
    /// The primary and the alternate screen's.
    keys: [KeyStack; 2],
}

/// The program's part of the tty's stack of kitty's keyboard flags. Each screen has one.
#[derive(Debug, Default, Clone, Copy)]
struct KeyStack {
    /// Whether an entry without flags was pushed above the person's own.
    has_base: bool,
    /// The program's entries above that.
    depth: u16,
}

impl KeyStack {
    fn put_base(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_base, true) {
            out.extend(b"\x1b[>0u");
        }
    }

    fn push(&mut self, params: &str, out: &mut Vec<u8>) {
        self.put_base(out);
        let how = if self.depth < MAX_KEY_ENTRIES {
            self.depth += 1;
            '>'
        } else {
            '='
        };
        let flags = number(params).unwrap_or_default();
        out.extend(format!("\x1b[{how}{flags}u").bytes());
    }

    fn pop(&mut self, params: &str, out: &mut Vec<u8>) {
        let count = number(params).unwrap_or(1).max(1);
        let own = count.min(self.depth);
        self.depth -= own;
        if own > 0 {
            out.extend(format!("\x1b[<{own}u").bytes());
        }
        if count > own && self.has_base {
            out.extend(b"\x1b[=0u");
        }
    }

    fn undo(self, out: &mut Vec<u8>) {
        if self.has_base {
            out.extend(format!("\x1b[<{}u", self.depth + 1).bytes());
        }
    }
}

/// The first parameter.
fn number(params: &str) -> Option<u16> {
    params.split(';').next()?.parse().ok()
}

impl Switched {
    fn pass(&mut self, sequence: &[u8], function: &ControlFunction<'_>, out: &mut Vec<u8>) {
        match *function {
            ControlFunction::Draw => out.extend(sequence),
            ControlFunction::Notify => put_seen(sequence, out),
            ControlFunction::Switch(undo) => {
                self.undo.insert(undo);
                out.extend(sequence);
            }
            ControlFunction::PrivateModes { params, last } => {
                let mut passed = known(params, &PRIVATE_MODES);
                if self.undo.contains(&Undo::AlternateScreen) {
                    let all = passed.len();
                    passed.retain(|mode| !matches!(mode, 47 | 1047 | 1049));
                    self.has_switched_screen |= passed.len() < all;
                }
                for mode in &passed {
                    self.switch(*mode, last == 'h');
                }
                put_modes("?", &passed, last, out);
            }
            ControlFunction::AnsiModes { params, last } => {
                let passed = known(params, &ANSI_MODES);
                self.undo
                    .extend(passed.iter().map(|mode| Undo::AnsiMode(*mode)));
                put_modes("", &passed, last, out);
            }
            ControlFunction::PushKeys { params } => self.keys().push(params, out),
            ControlFunction::PopKeys { params } => self.keys().pop(params, out),
            ControlFunction::SetKeys => {
                self.keys().put_base(out);
                out.extend(sequence);
            }
            ControlFunction::Title => {
                if self.undo.insert(Undo::Title) {
                    // XTWINOPS: the person's title is kept on the tty's stack.
                    out.extend(b"\x1b[22;0t");
                }
                put_seen(sequence, out);
            }
            ControlFunction::EndLink => out.extend(b"\x1b]8;;\x1b\\"),
            // The person's own colours stay.
            ControlFunction::ResetColours(number) => {
                if self.undo.contains(&Undo::Colours(number)) {
                    out.extend(sequence);
                }
            }
            // RIS would reset what the person has set, too.
            ControlFunction::Reset => {
                let is_on_alternate = self.undo.remove(&Undo::AlternateScreen);
                out.extend(std::mem::take(self).undone());
                out.extend(b"\x1b[H\x1b[2J");
                if is_on_alternate {
                    self.undo.insert(Undo::AlternateScreen);
                    self.has_switched_screen = true;
                }
            }
        }
    }

    fn switch(&mut self, mode: u16, is_on: bool) {
        match mode {
            6 => self.origin |= is_on,
            47 | 1047 | 1049 => self.alternate = is_on.then_some(mode),
            1048 => {}
            69 => {
                self.undo.insert(Undo::Margins);
            }
            _ => {
                self.undo.insert(Undo::PrivateMode(mode));
            }
        }
    }

    /// The flags of the screen that is shown.
    fn keys(&mut self) -> &mut KeyStack {
        let [primary, alternate] = &mut self.keys;
        if self.alternate.is_some() {
            alternate
        } else {
            primary
        }
    }

    /// What switches back all but the screen and what is around it.
    fn paused(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.origin {
            out.extend(b"\x1b[?6l");
        }
        for undo in &self.undo {
            match undo {
                Undo::AlternateScreen | Undo::Title | Undo::Progress | Undo::Colours(_) => {}
                undo => undo.put(&mut out),
            }
        }
        out
    }

    /// What switches everything back.
    fn undone(self) -> Vec<u8> {
        let mut out = Vec::new();
        let [primary, alternate] = self.keys;
        if self.origin {
            // The cursor goes home, and from there to the last row: nothing is below it.
            out.extend(b"\x1b[?6l\x1b[999;1H");
        }
        // Flags that were left behind on the alternate screen are taken off there.
        let mut leave = self.alternate;
        if alternate.has_base && leave.is_none() {
            out.extend(b"\x1b[?47h");
            leave = Some(47);
        }
        alternate.undo(&mut out);
        if let Some(mode) = leave {
            out.extend(format!("\x1b[?{mode}l").bytes());
        }
        primary.undo(&mut out);
        for undo in self.undo {
            undo.put(&mut out);
        }
        out
    }
}

/// Puts the characters of a sequence but those that hide or reorder the text around them.
fn put_seen(sequence: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(sequence);
    let seen = text.split(misleads);
    out.extend(seen.flat_map(str::bytes));
}

/// The modes among these that may pass.
fn known(params: &str, modes: &[u16]) -> Vec<u16> {
    let asked = params.split(';').filter_map(|mode| mode.parse().ok());
    asked.filter(|mode| modes.contains(mode)).collect()
}

fn put_modes(marker: &str, modes: &[u16], last: char, out: &mut Vec<u8>) {
    let modes: Vec<String> = modes.iter().map(u16::to_string).collect();
    if !modes.is_empty() {
        out.extend(format!("\x1b[{marker}{}{last}", modes.join(";")).bytes());
    }
}

#[cfg(test)]
mod tests;
