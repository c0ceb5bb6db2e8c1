//! Asking the person at the tty before something runs that the gate has doubts about.
//!
//! It promises to ask only where somebody can answer: elsewhere the daemon's refusal stands.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::{Duration, Instant};

use termd_proto::ErrorKind;
use tokio::sync::mpsc;

use crate::error::{CliError, kind_of};
use crate::escape::escaped;
use crate::output;

/// A line that comes faster than this after a question, where another one was open before it, was
/// meant for that.
const READING_TIME: Duration = Duration::from_millis(200);

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
    if !is_asked_for(error) {
        return false;
    }
    let Some(mut person) = Person::at_the_tty() else {
        return false;
    };
    let question = format!("{}. Run it anyway? [y/N] ", escaped(refusal.message()));
    person.agrees(&question).await
}

/// Somebody who can be asked.
#[derive(Debug)]
pub(crate) struct Person {
    /// Asks for a line to be read.
    wanted: std::sync::mpsc::Sender<()>,
    lines: mpsc::Receiver<Line>,
    /// A line was asked for, and has not come.
    is_awaited: bool,
}

/// What was typed.
#[derive(Debug)]
struct Line {
    text: String,
    at: Instant,
}

impl Person {
    /// Whoever sits at the tty; `None` where nobody does.
    pub(crate) fn at_the_tty() -> Option<Self> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return None;
        }
        let (wanted, wants) = std::sync::mpsc::channel();
        let (tell, lines) = mpsc::channel(1);
        // A thread of its own: it may sit in read(2) for ever, and ends with the process. It reads a
        // line when one is wanted, for what comes after is for others to read.
        let reading = std::thread::Builder::new()
            .name("confirm".to_owned())
            .spawn(move || {
                while wants.recv().is_ok() {
                    let mut text = String::new();
                    let read = io::stdin().lock().read_line(&mut text);
                    let line = Line {
                        text,
                        at: Instant::now(),
                    };
                    if !matches!(read, Ok(1..)) || tell.blocking_send(line).is_err() {
                        return;
                    }
                }
            });
        reading.ok()?;
        Some(Self {
            wanted,
            lines,
            is_awaited: false,
        })
    }

    /// Asks, and waits for a line: whether it says yes. No more lines mean no. May be dropped: what
    /// is typed then is no answer to another question.
    pub(crate) async fn agrees(&mut self, question: &str) -> bool {
        loop {
            output::ask(question);
            let asked = Instant::now();
            let was_awaited = std::mem::replace(&mut self.is_awaited, true);
            if !was_awaited && self.wanted.send(()).is_err() {
                return false;
            }
            let Some(line) = self.lines.recv().await else {
                return false;
            };
            self.is_awaited = false;
            if !was_awaited || line.at.duration_since(asked) >= READING_TIME {
                return is_yes(&line.text);
            }
        }
    }
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
