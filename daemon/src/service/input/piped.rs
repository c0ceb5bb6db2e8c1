//! Typed input for a command that reads a pipe and has no tty.

use termd_proto::interact::TypedInput;

use crate::terminal::error::TerminalError;
use crate::terminal::input::PipePosition;

/// The names of the two keys that mean something to a pipe.
const ENTER: &str = "enter";
const END_OF_FILE: &str = "ctrl-d";

/// What goes into the pipe: text as it stands, a line feed for Enter, and its end for Ctrl-D.
pub(super) fn of_typed(input: &TypedInput) -> Result<(Vec<u8>, PipePosition), TerminalError> {
    let invalid = |field, problem: &str| {
        let problem = problem.to_owned();
        Err(TerminalError::Invalid { field, problem })
    };
    if input.data.is_some() {
        return invalid("data", "goes into a pipe by session.send");
    }
    let mut bytes = input.text.clone().unwrap_or_default().into_bytes();
    let mut position = PipePosition::default();
    for key in &input.keys {
        match key.as_str() {
            _ if position.is_last => return invalid("keys", "stand behind the end of the input"),
            ENTER => bytes.push(b'\n'),
            END_OF_FILE => position.is_last = true,
            _ => return invalid("keys", "other than enter and ctrl-d mean nothing to a pipe"),
        }
    }
    if input.enter {
        bytes.push(b'\n');
    }
    if bytes.is_empty() && !position.is_last {
        return invalid("text", "or `keys` must hold something");
    }
    Ok((bytes, position))
}
