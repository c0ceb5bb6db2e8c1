//! The terminal model for the fuzz targets.

pub use termd_vt::{Model, Scrollback, Size};

/// A terminal of which the first two bytes say the size; and the bytes after them.
pub fn sized(data: &[u8]) -> Option<(Model, &[u8])> {
    let ([cols, rows], rest) = data.split_first_chunk()?;
    let size = Size {
        cols: usize::from(*cols),
        rows: usize::from(*rows) / 4,
    };
    Some((Model::new(size, Scrollback::new(200, 1 << 18)), rest))
}

/// Most memory that a model of such a size may take, in bytes.
pub const MOST_BYTES: usize = 16 << 20;
