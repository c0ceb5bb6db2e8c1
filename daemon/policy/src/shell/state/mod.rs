//! What a text has set in its shell so far: variables, parameters, functions, aliases, and where it is.
//!
//! **Promise:** what is not in a [`ShellState`] is unknown, and a [`StateUnion`](state_union::StateUnion) holds
//! what may be so behind any of its courses.

pub(crate) mod place;
mod shell_state;
pub(crate) mod state_union;

pub(crate) use shell_state::{Content, PARAMETERS, ShellState, Values};
