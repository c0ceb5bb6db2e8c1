//! What the parser calls.

use super::{ControlSequence, ControlString};

/// Executes what the parser has read: text, controls and sequences, in the order of the bytes.
pub(crate) trait Handler {
    /// Tells the offset in the output after the bytes whose effect is called next.
    fn set_offset(&mut self, offset: u64);

    /// Whether text is UTF-8 (DOCS). Otherwise each byte is a character of G0 to G3.
    fn is_utf8(&self) -> bool;

    /// Whether escape sequences are a VT52's (DECANM reset).
    fn is_vt52(&self) -> bool;

    /// Prints printable ASCII.
    fn print_ascii(&mut self, text: &[u8]);

    /// Prints text without controls.
    fn print(&mut self, text: &str);

    fn print_char(&mut self, c: char);

    /// Prints a byte from 0xa0 on where text is not UTF-8, by the set in GR.
    fn print_right(&mut self, byte: u8);

    /// Prints UTF-8 text straight from the bytes, where the state allows it. Returns how many bytes
    /// it took: 0 where the bytes at the front are not such text. `None`: not in this state.
    fn print_utf8(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Prints whole lines of ASCII at the front of the bytes, where the state allows it and they
    /// fill more than the screen. Returns how many bytes it took, and how many it looked at.
    /// `None`: not in this state.
    fn print_lines(&mut self, bytes: &[u8]) -> Option<(usize, usize)>;

    /// Whether LF alone begins a new line, as CR LF does (LNM).
    fn line_feed_returns(&self) -> bool;

    /// CR and LF.
    fn new_line(&mut self);

    /// A C0 control.
    fn control(&mut self, byte: u8);

    /// ESC, intermediates and a final byte.
    fn escape(&mut self, intermediates: &[u8], last: u8);

    /// A control sequence.
    fn control_sequence(&mut self, sequence: &ControlSequence);

    /// A control string (OSC, DCS, APC, PM, SOS).
    fn control_string(&mut self, string: &ControlString);

    /// ESC and a byte of a VT52.
    fn vt52_escape(&mut self, byte: u8);

    /// The cursor address of a VT52: row and column, each with 0x20 added.
    fn vt52_address(&mut self, row: u8, column: u8);
}
