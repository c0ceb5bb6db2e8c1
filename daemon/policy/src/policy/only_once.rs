//! Why a command is approved once only.

use thiserror::Error;

use super::approved::MAX_COMMAND_BYTES;
use crate::inspect::inspection::Inspection;
use crate::request::Completeness;

/// Why a command can be approved once, and not for always.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OnlyOnceReason {
    /// A rule of config.toml asks each time, and is stronger.
    #[error("rule {number} of config.toml (line {line}) asks each time")]
    Rule {
        /// The number of the rule, from 1.
        number: usize,
        /// The line of the file that it stands in, from 1.
        line: usize,
    },
    /// A rule gives the command another profile than its terminal has.
    #[error("a rule wants it in a terminal that is held to another profile")]
    Profile,
    /// The same text may be another command the next time.
    #[error("what it does is only known when it runs")]
    Computed,
    /// It is typed, and the program may run elsewhere the next time.
    #[error("what is typed runs wherever its program is by then")]
    Typed,
    /// The client has no name, so anybody may ask the same.
    #[error("whoever asks has not said a name")]
    Unnamed,
    /// The file of approvals would hold a secret.
    #[error("it seems to hold a secret")]
    Secret,
    /// No person has seen the whole command.
    #[error("it is longer than is shown ({MAX_COMMAND_BYTES} bytes)")]
    Long,
    /// The directory has no name that can be written.
    #[error("its directory cannot be written down")]
    Directory,
}

impl OnlyOnceReason {
    /// The reason that lies in the text itself.
    pub(super) fn of(inspection: &Inspection, completeness: Completeness) -> Option<Self> {
        let mut commands = inspection.commands.iter();
        let is_computed = completeness != Completeness::Whole
            || commands.any(|command| !command.is_known())
            || inspection.first_unknown().is_some();
        is_computed.then_some(Self::Computed)
    }
}
