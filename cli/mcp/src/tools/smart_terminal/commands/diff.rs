//! `terminal_diff`: the outputs of two commands, side by side.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::{Algorithm, TextDiff};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::ErrorKind;
use termd_proto::policy::{CheckPolicy, Effect as GateEffect};
use termd_proto::terminal::{Front, TerminalInfo};

use super::command::{CommandRequest, CommandResult, execute};
use crate::tool::{
    Bounds, Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, ToolError,
};
use crate::tools::smart_terminal::output::text::{WIDEST, bounds};
use crate::tools::smart_terminal::params::{Confirmed, MaxLines, SessionName, Timeout};
use crate::tools::smart_terminal::results::{self, bad};
use crate::tools::smart_terminal::sessions::session::alive;

/// The longest search for the smallest difference. Then a larger one is returned.
const MAX_SEARCH: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    #[schemars(length(min = 1))]
    command_a: String,
    #[schemars(length(min = 1))]
    command_b: String,
    /// Most milliseconds for each
    timeout: Timeout,
    max_lines: MaxLines,
    #[schemars(range(min = 0, max = 20), extend("default" = 3))]
    context_lines: usize,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_diff",
        title: "Compare two commands",
        description: "Run two commands in a terminal, one after the other, and return a unified diff \
                      of their outputs.",
        effect: Effect::Runs,
        output: results::output_or_question(vec![
            Field::object("resultA", "As terminal_exec gives it"),
            Field::object("resultB", ""),
            Field::string("diff", ""),
            Field::boolean("identical", ""),
        ]),
        handler: Handler::new(diff),
    }
}

async fn diff(call: Call, arguments: Arguments) -> Outcome {
    let info = alive(&call, &arguments.session_id.0).await?;
    // Judged before the first runs: the whole call is repeated once somebody has agreed.
    judge(&call, &info, &arguments.command_b).await?;
    let request = |command| CommandRequest {
        command,
        timeout: arguments.timeout.to_duration(),
        quiet: None,
        confirmed: arguments.confirmed.0,
    };
    let first = execute(&call, &info, &request(&arguments.command_a)).await?;
    let bounds = bounds(&call, arguments.max_lines, None);
    let (result_a, text_a) = both(&call, &first, bounds).await?;
    if first.is_running {
        return Err(bad(format!(
            "commandA is not done after {} ms and still runs; commandB was not run",
            arguments.timeout.0
        )));
    }
    let second = execute(&call, &info, &request(&arguments.command_b)).await?;
    let (result_b, text_b) = both(&call, &second, bounds).await?;
    Ok(ToolAnswer::Facts(json!({
        "resultA": result_a,
        "resultB": result_b,
        "diff": unified(
            (&arguments.command_a, &text_a),
            (&arguments.command_b, &text_b),
            arguments.context_lines,
        ),
        "identical": text_a == text_b,
    })))
}

/// A command's result, and its whole output.
async fn both(
    call: &Call,
    result: &CommandResult,
    bounds: Bounds,
) -> Result<(Facts, String), ToolError> {
    let facts = result.describe(call, bounds).await?;
    let whole = result.text(call, WIDEST).await?;
    Ok((facts, whole.text))
}

/// Two named texts in the unified format (POSIX diff -u), each name on one line.
fn unified(from: (&str, &str), to: (&str, &str), context: usize) -> String {
    let name = |text: &str| text.replace('\n', "\\n").replace('\r', "\\r");
    let ended = |text: &str| {
        if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n")
        }
    };
    let (old, new) = (ended(from.1), ended(to.1));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(MAX_SEARCH)
        .diff_lines(old.as_str(), new.as_str());
    let hunks = diff.unified_diff().context_radius(context).to_string();
    let hunks = hunks.trim_end_matches('\n');
    let header = format!("--- {}\n+++ {}", name(from.0), name(to.0));
    if hunks.is_empty() {
        header
    } else {
        format!("{header}\n{hunks}")
    }
}

/// The gate's judgement of a command that is not run yet.
async fn judge(call: &Call, info: &TerminalInfo, command: &str) -> Result<(), ToolError> {
    let judged = call
        .backend()
        .pool()
        .repeat(&CheckPolicy {
            line: Some(command.to_owned()),
            cwd: Some(info.cwd.clone()),
            front: Some(Front::Mcp),
            ..CheckPolicy::default()
        })
        .await;
    let judged = match judged {
        // An older daemon, which judges the line when it is typed.
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::MethodNotFound) =>
        {
            return Ok(());
        }
        judged => judged?,
    };
    let reason = judged
        .reason
        .unwrap_or_else(|| "it looks dangerous".to_owned());
    match judged.effect {
        GateEffect::Allow => Ok(()),
        GateEffect::Confirm => Err(ToolError::Failed {
            kind: "denied",
            message: format!(
                "commandB needs a confirmation ({reason}), and the first command would run again \
                 after it: run both with terminal_exec; nothing was run"
            ),
        }),
        GateEffect::Deny => Err(ToolError::Failed {
            kind: "denied",
            message: format!("commandB is not allowed: {reason}; nothing was run"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_in_the_unified_format() {
        let diff = unified(("cat a", "a\nb\nc"), ("cat b", "a\nB\nc"), 1);
        assert_eq!(
            diff,
            "--- cat a\n+++ cat b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"
        );
        let same = unified(("a\nb", "x"), ("c", "x"), 3);
        assert_eq!(same, "--- a\\nb\n+++ c");
        let none = unified(("a", ""), ("b", "x"), 0);
        assert_eq!(none, "--- a\n+++ b\n@@ -0,0 +1 @@\n+x");
    }
}
