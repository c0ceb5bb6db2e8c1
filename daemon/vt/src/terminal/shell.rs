//! What the shell said of itself: its state, its directory, and a command's progress.

use serde::{Deserialize, Serialize};
use termd_proto::screen::{CommandState, Progress};

use crate::event::Event;

/// Longest path kept, in bytes: Linux's `PATH_MAX`.
const MAX_PATH_BYTES: usize = 4_096;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShellIntegration {
    /// OSC 7, 9;9, 633;P, 1337.
    pub(crate) cwd: Option<String>,
    /// OSC 133, 633.
    pub(crate) command_state: CommandState,
    /// OSC 9;4.
    pub(crate) progress: Option<Progress>,
    /// OSC 133;I: where a command line begins that the next line feed ends, as a row's id and a column.
    pub(crate) line_from: Option<(u64, usize)>,
}

impl ShellIntegration {
    /// Takes the shell's directory. An empty path, one that is too long and one with control
    /// characters are passed over.
    pub(crate) fn set_cwd(&mut self, path: String) -> Option<Event> {
        let is_sound =
            !path.is_empty() && path.len() <= MAX_PATH_BYTES && !path.chars().any(char::is_control);
        if !is_sound || self.cwd.as_ref() == Some(&path) {
            return None;
        }
        self.cwd = Some(path.clone());
        Some(Event::Cwd(path))
    }

    /// OSC 9;4: a state from 0 to 4, and a percentage.
    pub(crate) fn set_progress(&mut self, state: &str, percent: Option<u8>) -> Option<Event> {
        let before = match self.progress {
            Some(Progress::Normal(value) | Progress::Error(value) | Progress::Paused(value)) => {
                value
            }
            _ => 0,
        };
        // An error or a pause without a value keeps the value before it.
        let kept = percent.unwrap_or(before);
        let progress = match state {
            "0" => None,
            "1" => Some(Progress::Normal(percent.unwrap_or(0))),
            "2" => Some(Progress::Error(kept)),
            "3" => Some(Progress::Indeterminate),
            "4" => Some(Progress::Paused(kept)),
            _ => return None,
        };
        if progress == self.progress {
            return None;
        }
        self.progress = progress;
        Some(Event::Progress(progress))
    }
}
