//! Each control function by what xterm's documentation says it does, on a screen of 10 by 5 where
//! nothing else is said.

mod charset;
mod cursor;
mod edit;
mod erase;
mod mode;
mod rectangle;
mod scroll;
mod sgr;

/// Five rows to move about.
const ROWS: &str = "aaaaa\r\nbbbbb\r\nccccc\r\nddddd\r\neeeee";
