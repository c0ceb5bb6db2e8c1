//! Where the output of a line goes.

use crate::direction_marks::for_stdout;
use crate::error::CliError;
use crate::output::Pump;

/// Most bytes that are kept for `--json`.
const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// What becomes of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputForm {
    /// It goes to standard output as it comes.
    Streamed,
    /// The last MiB is kept.
    Kept,
}

#[derive(Debug)]
pub(super) enum LineOutput {
    Streamed(Pump),
    Kept(String),
}

impl LineOutput {
    pub(super) fn new(form: OutputForm) -> Result<Self, CliError> {
        Ok(match form {
            OutputForm::Streamed => Self::Streamed(Pump::start()?),
            OutputForm::Kept => Self::Kept(String::new()),
        })
    }

    pub(super) async fn write(&mut self, text: Vec<u8>) -> Result<(), CliError> {
        match self {
            Self::Streamed(pump) => pump.write(for_stdout(&text).into_owned()).await,
            Self::Kept(kept) => {
                kept.push_str(&String::from_utf8_lossy(&text));
                let surplus = kept.len().saturating_sub(MAX_KEPT_BYTES);
                kept.drain(..kept.ceil_char_boundary(surplus));
                Ok(())
            }
        }
    }

    /// Waits until all is written.
    pub(super) async fn finish(self) -> Result<(), CliError> {
        match self {
            Self::Streamed(pump) => pump.finish().await,
            Self::Kept(_) => Ok(()),
        }
    }

    /// What was kept.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Streamed(_) => String::new(),
            Self::Kept(kept) => kept,
        }
    }
}
