//! The cursor, and what DECSC saves with it.

use serde::{Deserialize, Serialize};

use crate::charset::Charsets;
use crate::grid::cell::Protection;
use crate::grid::style::{Style, StyleId};

/// Where the next character goes, and what it looks like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// From 0 at the top.
    pub row: usize,
    /// From 0 at the left, never past the last column.
    pub col: usize,
    /// The last column was written to, so the next character wraps first (DECAWM).
    pub wrap_pending: bool,
    /// SGR.
    pub style: Style,
    /// The number of `style`. It means nothing in a dump.
    #[serde(skip)]
    pub style_id: StyleId,
    /// DECSCA, SPA.
    pub protection: Protection,
    /// G0 to G3, and which of them are shifted in.
    pub charsets: Charsets,
    /// DECOM.
    pub origin: bool,
}
