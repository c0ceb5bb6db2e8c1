//! Waiting for what comes of input: a pattern, the command's end, quiet, the exit.
//!
//! A wait has no thread and does not poll: the terminal's watch channel and its own deadlines wake it.
//! Only a wait for `done` without the shell's marks reads `/proc` now and then. A wait that is dropped
//! has ended. Waits take no output away from anybody.
//!
//! Pure parts: [`pattern`], [`echo`], [`pattern_matcher`], [`completion`], [`awaited_input`], [`prompt`].

pub mod activity;
pub mod awaited_input;
pub mod completion;
pub mod completion_probe;
pub mod condition;
pub mod echo;
mod echo_filter;
mod offset_text;
pub mod output_follower;
pub mod own_input;
pub mod pattern;
pub mod pattern_matcher;
pub mod program;
pub mod prompt;
pub mod screen_wait;
pub mod waiter;

pub use activity::activity;
pub use condition::WaitCondition;
pub use own_input::OwnInput;
pub use waiter::{until_awaited, wait_for};
