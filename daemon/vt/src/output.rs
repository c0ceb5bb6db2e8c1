//! The output format: a [`Screen`] of rows, runs of one [`Style`], cursor and modes.
//!
//! The types are plain data that serialize with serde. They come from the crate `termd-proto`, so
//! that a program which only receives screens need not depend on the emulator.

pub use termd_proto::cells::{Cell, Cells};
pub use termd_proto::screen::{
    Color, CommandState, Cursor, CursorShape, LineSize, MouseEncoding, MouseMode, Progress, Screen,
    ScreenFormat, ScreenModes, ScreenRow, ScreenRows, Style, StyleRun, Underline,
};
