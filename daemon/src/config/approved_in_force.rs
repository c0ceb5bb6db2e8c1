//! Which approved rules a server runs on: the file, or the last good one where the file is bad, or where
//! the server before ended unasked.
//!
//! Where there was no good file, nothing is agreed to. What is to be recorded of a change is returned.

use std::io;
use std::path::Path;

use super::approved::{NAME, load, parse};
use super::in_force::{Change, StartReason, unrequested};
use super::kept_text::{hash, keep_text, kept};
use termd_policy::Approved;

/// The last good text, in the state directory.
const KEPT_NAME: &str = "approved.in-force.toml";

/// The approved rules in force.
#[derive(Debug, Default)]
pub struct ApprovedInForce {
    /// The rules, compiled.
    pub approved: Approved,
    /// The text of the rules.
    pub text: String,
    /// Why the file on disk is not in force, in one line.
    pub fault: Option<String>,
    /// What is to be recorded before it is in force.
    pub change: Option<Change>,
    previous: Option<(Approved, String)>,
}

impl ApprovedInForce {
    /// Reads the file, and what was in force before.
    pub fn find(file: &Path, state_dir: &Path, reason: StartReason) -> Self {
        let previous = kept(&state_dir.join(KEPT_NAME));
        let previous = previous.and_then(|text| Some((parse(&text, file).ok()?, text)));
        let old = previous.as_ref().map(|(_, text)| hash(text));
        let in_force = previous.as_ref().map_or("", |(_, text)| text);
        match load(file) {
            Ok((_, text)) if reason == StartReason::Recovery && text != in_force => {
                let stays = hash(in_force);
                let (approved, in_force) = previous.unwrap_or_default();
                Self {
                    approved,
                    fault: Some(unrequested(file)),
                    change: Some(Change::Refused {
                        stays,
                        refused: Some(hash(&text)),
                    }),
                    text: in_force,
                    previous: None,
                }
            }
            Ok((approved, text)) => {
                let new = hash(&text);
                let is_new = old.as_ref() != Some(&new) && !(old.is_none() && text.is_empty());
                Self {
                    approved,
                    text,
                    fault: None,
                    change: is_new.then_some(Change::Made { old, new }),
                    previous,
                }
            }
            Err(error) => {
                let (approved, text) = previous.unwrap_or_default();
                let refused = std::fs::read_to_string(file).ok().map(|text| hash(&text));
                Self {
                    change: Some(Change::Refused {
                        stays: hash(&text),
                        refused,
                    }),
                    approved,
                    text,
                    fault: Some(error.to_string()),
                    previous: None,
                }
            }
        }
    }

    /// The change could not be recorded. The rules before stay, or none where there were none.
    #[must_use]
    pub fn unrecorded(self, why: &str) -> Self {
        let (approved, text) = match self.fault {
            Some(_) => (self.approved, self.text),
            None => self.previous.unwrap_or_default(),
        };
        Self {
            approved,
            text,
            fault: Some(format!("a change of {NAME} cannot be recorded: {why}")),
            ..Self::default()
        }
    }
}

/// The text in force.
pub(super) fn approved_text(state_dir: &Path) -> String {
    kept(&state_dir.join(KEPT_NAME)).unwrap_or_default()
}

/// Keeps the text in force for the next server.
pub fn keep_approved(text: &str, state_dir: &Path) -> io::Result<()> {
    if text.is_empty() && kept(&state_dir.join(KEPT_NAME)).is_none() {
        return Ok(());
    }
    keep_text(text, state_dir, KEPT_NAME)
}
