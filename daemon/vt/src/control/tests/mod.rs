//! Each control function as xterm documents it, on a screen of 10 by 5 unless a test says
//! otherwise.

mod charset;
mod cursor;
mod edit;
mod erase;
mod mode;
mod rectangle;
mod scroll;
mod sgr;

/// Five rows of text.
const ROWS: &str = "aaaaa\r\nbbbbb\r\nccccc\r\nddddd\r\neeeee";
