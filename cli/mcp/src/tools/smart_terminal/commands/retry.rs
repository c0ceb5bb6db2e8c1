//! `terminal_retry`: a command again and again, until it succeeds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_proto::interact::{TypedInput, Until};

use super::command::{CommandRequest, execute};
use crate::tools::smart_terminal::output::pattern::check_pattern;
use crate::tools::smart_terminal::output::text::{WIDEST, bounds};
use crate::tools::smart_terminal::params::{Confirmed, MaxLines, SessionName, Timeout};
use crate::tools::smart_terminal::results::{self, bad};
use crate::tools::smart_terminal::sessions::session::alive;

use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError};

/// The longest time between two attempts.
const MAX_DELAY: Duration = Duration::from_mins(10);
/// The time that a command has to end at Ctrl+C, when its attempt is over.
const INTERRUPT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Backoff {
    Fixed,
    Exponential,
    Linear,
}

impl Backoff {
    /// The delay after an attempt; the first is 1.
    fn after(self, attempt: u32, delay: Duration) -> Duration {
        let factor = match self {
            Self::Fixed => 1,
            Self::Linear => attempt,
            Self::Exponential => 1 << attempt.saturating_sub(1).min(20),
        };
        delay.saturating_mul(factor).min(MAX_DELAY)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// The command
    #[schemars(length(min = 1))]
    command: String,
    #[schemars(range(min = 0, max = 10), extend("default" = 3))]
    max_retries: u32,
    #[schemars(extend("default" = "exponential"))]
    backoff: Backoff,
    #[schemars(range(min = 10, max = 60_000), extend("default" = 1_000))]
    delay_ms: u64,
    /// Most milliseconds for one attempt
    timeout: Timeout,
    max_lines: MaxLines,
    /// null=any
    #[schemars(extend("default" = 0))]
    success_exit_code: Option<i32>,
    /// Regex
    #[schemars(extend("default" = null))]
    success_pattern: Option<String>,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    let attempt = json!({ "type": "object" });
    Tool {
        name: "terminal_retry",
        title: "Retry a command",
        description: "Run a command in a terminal until it succeeds (exit code, and successPattern in \
                      its output), waiting longer after each attempt. An attempt that takes too long \
                      is interrupted by Ctrl+C.",
        effect: Effect::Runs,
        output: results::output_or_question(vec![
            Field::integer("attempts", ""),
            Field::object("lastResult", "As terminal_exec gives it"),
            Field::list("history", attempt, "Every attempt"),
        ]),
        handler: Handler::new(retry),
    }
}

async fn retry(call: Call, arguments: Arguments) -> Outcome {
    let pattern = arguments.success_pattern.as_deref();
    let pattern = pattern
        .map(|pattern| check_pattern(pattern, "successPattern"))
        .transpose()?;
    let info = alive(&call, &arguments.session_id.0).await?;
    let bounds = bounds(&call, arguments.max_lines, None);
    let request = CommandRequest {
        command: &arguments.command,
        timeout: arguments.timeout.to_duration(),
        quiet: None,
        confirmed: arguments.confirmed.0,
    };
    let mut history: Vec<Value> = Vec::new();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let result = execute(&call, &info, &request).await?;
        let facts = result.describe(&call, bounds).await?;
        let fits = match &pattern {
            None => true,
            Some(pattern) => pattern.is_match(&result.text(&call, WIDEST).await?.text),
        };
        let wanted = arguments.success_exit_code;
        let exited_well = wanted.is_none_or(|wanted| result.exit_code == Some(wanted));
        let success = fits && exited_well && !result.timed_out;
        let mut entry = facts.clone();
        entry.insert("attempt".to_owned(), attempt.into());
        history.push(entry.into());
        if success || attempt > arguments.max_retries {
            return Ok(ToolAnswer::Facts(json!({
                "success": success,
                "attempts": attempt,
                "lastResult": facts,
                "history": history,
            })));
        }
        if result.is_running {
            interrupt(&call, &arguments.session_id.0).await?;
        }
        let delay = arguments
            .backoff
            .after(attempt, Duration::from_millis(arguments.delay_ms));
        let pause = tokio::time::sleep(delay);
        let terminal = (&info.id).into();
        call.progress.during(call.backend(), &terminal, pause).await;
    }
}

/// Ends an attempt that takes too long. The next would be typed into it.
async fn interrupt(call: &Call, named: &str) -> Result<(), ToolError> {
    let info = alive(call, named).await?;
    let input = TypedInput {
        keys: vec!["ctrl-c".to_owned()],
        ..TypedInput::default()
    };
    let sent = call.type_once(&info.id, input, true).await?;
    let until = Until {
        done: true,
        ..Until::default()
    };
    let backend = call.backend();
    let wait = backend
        .wait_for(&info.id, Some(sent.offset), &until, INTERRUPT)
        .await?;
    if wait.done_by.is_none() {
        return Err(bad(format!(
            "the command took longer than its timeout and did not end at Ctrl+C: it still runs in \
             session {}",
            info.id
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_as_they_are_asked_to_and_have_an_end() {
        let delay = Duration::from_secs(1);
        let table = [
            (Backoff::Fixed, [1, 1, 1, 1]),
            (Backoff::Linear, [1, 2, 3, 4]),
            (Backoff::Exponential, [1, 2, 4, 8]),
        ];
        for (backoff, want) in table {
            let delays = [1, 2, 3, 4].map(|attempt| backoff.after(attempt, delay).as_secs());
            assert_eq!(delays, want, "{backoff:?}");
        }
        let longest = Backoff::Exponential.after(11, Duration::from_mins(1));
        assert_eq!(longest, MAX_DELAY);
    }
}
