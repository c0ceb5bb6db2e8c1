//! What a terminal keeps beside its grid: title, marks, colours, keyboard flags.

use serde::{Deserialize, Serialize};

use termd_proto::screen::{CommandState, Progress};

/// All of it. Small while no program has set anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extras {
    /// OSC 0, 2.
    pub title: String,
    /// OSC 1.
    pub icon_name: String,
    /// The shell's directory.
    pub cwd: Option<String>,
    /// OSC 133, 633.
    pub command_state: CommandState,
    /// OSC 9;4.
    pub progress: Option<Progress>,
    /// BEL.
    pub bells: u64,
}
