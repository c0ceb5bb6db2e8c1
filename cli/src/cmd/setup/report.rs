//! What was done to each client, as lines or as JSON.

use std::path::Path;

use serde_json::{Value, json};
use termd_client::escape::escaped;

use crate::cmd::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::{Outcome, SetupError};

/// The results so far.
#[derive(Debug)]
pub(super) struct Report {
    json: bool,
    rows: Vec<Value>,
    code: ExitCode,
}

impl Report {
    pub(super) fn new(context: Context) -> Self {
        Self {
            json: context.json,
            rows: Vec::new(),
            code: ExitCode::OK,
        }
    }

    /// Whether each client was done.
    pub(super) fn is_ok(&self) -> bool {
        self.code == ExitCode::OK
    }

    /// Adds a client. With `is_hint` an error is advice, and no failure.
    pub(super) fn add(
        &mut self,
        client: &str,
        path: &Path,
        outcome: Result<Outcome, SetupError>,
        is_hint: bool,
    ) -> Result<(), CliError> {
        if outcome.is_err() && !is_hint {
            self.code = ExitCode::FAILED;
        }
        if self.json {
            self.rows.push(row(client, path, &outcome));
            return Ok(());
        }
        match outcome {
            Ok(done) => {
                let backup = done.backup.map_or_else(String::new, |backup| {
                    format!("; what it was: {}", escaped(&backup.display().to_string()))
                });
                let shown = escaped(&path.display().to_string());
                let line = format!("{client}: {} ({shown}{backup})\n", done.change.phrase());
                output::print(line.as_bytes())
            }
            Err(error) => {
                output::note(&escaped(&error.to_string()));
                Ok(())
            }
        }
    }

    /// Prints what is still to be printed.
    pub(super) fn finish(self) -> Result<ExitCode, CliError> {
        if self.json {
            output::print_json(&json!({ "clients": self.rows }))?;
        }
        Ok(self.code)
    }
}

fn row(client: &str, path: &Path, outcome: &Result<Outcome, SetupError>) -> Value {
    let (change, backup, error) = match outcome {
        Ok(done) => (done.change.as_str(), done.backup.as_deref(), None),
        Err(error @ SetupError::ByHand { .. }) => ("by_hand", None, Some(error.to_string())),
        Err(error) => ("failed", None, Some(error.to_string())),
    };
    json!({ "client": client, "file": path, "change": change, "backup": backup, "error": error })
}
