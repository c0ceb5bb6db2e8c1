//! The cursor, and what DECSC saves with it.

use serde::{Deserialize, Serialize};

use crate::charset::Charsets;
use crate::grid::cell::Protection;
use crate::grid::style::{Style, StyleId};

/// Where the next character goes, and how it will look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Row, 0 at the top.
    pub row: usize,
    /// Column, 0 at the left; never past the last one.
    pub col: usize,
    /// The last column was written to: the next character wraps first (DECAWM).
    pub wrap_pending: bool,
    /// SGR.
    pub style: Style,
    /// Its number; in a dump it would mean nothing.
    #[serde(skip)]
    pub style_id: StyleId,
    /// DECSCA, SPA.
    pub protection: Protection,
    /// G0 to G3, and which of them is shifted in.
    pub charsets: Charsets,
    /// DECOM.
    pub origin: bool,
}
