//! The shell that agents call, end to end: the real binaries, over the real socket.

mod children;
mod door;
mod gate;
mod in_place;
mod inherited;
mod output;
mod signals;

use door::{Door, Ended};
