//! Asking the person at the tty before something runs that the gate has doubts about.
//!
//! It promises to ask only where somebody can answer: elsewhere the daemon's refusal stands.

use std::io::{self, BufRead as _, IsTerminal as _};

use termd_proto::ErrorKind;
use tokio::sync::oneshot;

use crate::error::{CliError, kind_of};
use crate::escape::escaped;
use crate::output;

/// Whether somebody has agreed to what is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// `--confirmed`, or the keys are a person's own.
    Given,
    /// The gate may ask.
    Asked,
}

impl Consent {
    /// What `--confirmed` says.
    pub(crate) fn of_flag(confirmed: bool) -> Self {
        if confirmed { Self::Given } else { Self::Asked }
    }

    /// As the contract has it.
    pub(crate) fn is_given(self) -> bool {
        self == Self::Given
    }
}

/// Whether the gate asks for a confirmation.
pub(crate) fn is_asked_for(error: &CliError) -> bool {
    let CliError::Refused(refusal) = error else {
        return false;
    };
    kind_of(refusal) == Some(ErrorKind::ConfirmationRequired)
}

/// Whether this failure is the gate's question, and the person at the tty says yes to it.
pub(crate) async fn is_agreed(error: &CliError) -> bool {
    let CliError::Refused(refusal) = error else {
        return false;
    };
    let can_answer = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !is_asked_for(error) || !can_answer {
        return false;
    }
    output::ask(&format!(
        "{}. Run it anyway? [y/N] ",
        escaped(refusal.message())
    ));
    let (answer, told) = oneshot::channel();
    // A thread of its own: it may sit in read(2) for ever, and ends with the process.
    let asking = std::thread::Builder::new()
        .name("confirm".to_owned())
        .spawn(move || {
            let mut line = String::new();
            let read = io::stdin().lock().read_line(&mut line);
            let _ = answer.send(read.is_ok() && is_yes(&line));
        });
    asking.is_ok() && told.await.unwrap_or(false)
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (line, yes) in [
            ("y\n", true),
            ("YES\n", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yeah\n", false),
        ] {
            assert_eq!(is_yes(line), yes, "{line:?}");
        }
    }
}
