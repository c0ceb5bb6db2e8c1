//! This process's own two ends.

use tokio::io::{Stdin, Stdout};

use crate::error::CliError;

/// Standard input and output.
pub(in crate::acp) fn stdio() -> Result<(Stdin, Stdout), CliError> {
    Ok((tokio::io::stdin(), tokio::io::stdout()))
}
