//! The overview of all terminals at a person's tty (`termctl top`), and the parts that it is drawn of.
//!
//! - The parts: [`input`] reads keys, [`text_field`] edits a line, [`screen_view`] draws a terminal's
//!   screen, [`text`] cuts and wraps, [`canvas`] makes bytes of what has changed, [`clipboard`] those that
//!   copy.
//! - [`top`] is the overview. Its model is pure, and so is what it shows of it; what it does is a value
//!   ([`top::effect::Effect`]) that is carried out elsewhere.
//!
//! **Invariant:** a tty gets cells and nothing else of what programs have printed and named. This crate
//! knows the daemon by its contract alone, and reads no tty itself.

pub mod canvas;
pub mod clipboard;
pub mod input;
pub mod screen_view;
pub mod text;
pub mod text_field;
pub mod top;
