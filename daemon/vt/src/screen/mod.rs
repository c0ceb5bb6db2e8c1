//! The parts of a screen, and how text gets onto it.

mod cluster;
pub(crate) mod cursor;
pub(crate) mod line_run;
pub(crate) mod marks;
mod print;
pub(crate) mod reflow;
pub(crate) mod tab_stops;
mod text_run;
