//! Control functions that ask, and those that are not of the other files.

use crate::term::core::Core;
use crate::term::input::ControlSequence;

impl Core {
    /// What the other files do not know.
    pub(super) fn report(&mut self, sequence: &ControlSequence) {
        let _ = sequence;
    }
}
