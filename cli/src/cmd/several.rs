//! One call for each of several terminals.

use std::pin::pin;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde::Serialize;
use serde_json::json;
use termd_client::ClientError;
use termd_proto::TerminalRef;

use super::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// Calls at a time. Each may take as long as a command that does not end by itself is given to.
const AT_ONCE: usize = 8;

/// Makes a call for each terminal, whatever becomes of the others, and says what failed, or with `--json`
/// what became of each. Returns the exit code of the first failure.
pub(super) async fn for_each<T: Serialize>(
    context: Context,
    verb: &str,
    terminals: &[TerminalRef],
    call: impl AsyncFn(&TerminalRef) -> Result<T, ClientError>,
) -> Result<ExitCode, CliError> {
    let call = &call;
    let calls = terminals
        .iter()
        .map(|id| async move { (id, call(id).await) });
    let mut answers = pin!(stream::iter(calls).buffered(AT_ONCE));
    let mut failure = None;
    while let Some((id, result)) = answers.next().await {
        let line = match result.map_err(CliError::from) {
            Ok(result) => json!({ "terminal": id, "result": result }),
            // Without a daemon nothing becomes of the others either.
            Err(error) if error.refusal().is_none() => return Err(error),
            Err(error) => {
                failure.get_or_insert(error.exit_code());
                if context.json {
                    output::report(&error, true);
                } else {
                    output::note(&format!("cannot {verb} {}: {error}", id.0));
                }
                json!({ "terminal": id, "error": error.to_json()["error"] })
            }
        };
        if context.json {
            output::print_json(&line)?;
        }
    }
    Ok(failure.unwrap_or(ExitCode::OK))
}
