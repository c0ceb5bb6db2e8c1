//! `terminal_retry`: a command again and again, until it succeeds.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use termd_proto::interact::{TypedInput, Until};

use super::exec::{Order, execute};
use super::fields::{self, bad};
use super::session::{alive, milliseconds, type_once};
use super::wait::check_pattern;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// The longest that is waited between two attempts.
const MAX_DELAY: Duration = Duration::from_mins(10);
/// How long a command may take to go at Ctrl+C, when its attempt is over.
const INTERRUPT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Backoff {
    Fixed,
    Exponential,
    Linear,
}

impl Backoff {
    /// Between this attempt, counted from 1, and the next.
    fn after(self, attempt: u32, delay: Duration) -> Duration {
        let factor = match self {
            Self::Fixed => 1,
            Self::Linear => attempt,
            Self::Exponential => 1 << attempt.saturating_sub(1).min(20),
        };
        delay.saturating_mul(factor).min(MAX_DELAY)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: String,
    command: String,
    max_retries: u32,
    backoff: Backoff,
    delay_ms: u64,
    timeout: u64,
    max_lines: u64,
    success_exit_code: Option<i32>,
    success_pattern: Option<String>,
    confirmed: bool,
}

pub(super) fn tool() -> Tool {
    let attempt = json!({ "type": "object" });
    Tool {
        name: "terminal_retry",
        title: "Retry a command",
        description: "Run a command in a terminal until it succeeds (exit code, and successPattern in \
                      its output), waiting longer after each attempt. An attempt that takes too long \
                      is interrupted by Ctrl+C.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            fields::session_id(),
            Field::string("command", "The command")
                .required()
                .at_least(1),
            Field::integer("maxRetries", "").between(0, 10).default(3),
            Field::string("backoff", "")
                .one_of(&["fixed", "exponential", "linear"])
                .default("exponential"),
            Field::integer("delayMs", "")
                .between(10, 60_000)
                .default(1_000),
            fields::timeout("Most milliseconds for one attempt"),
            fields::max_lines(),
            Field::integer("successExitCode", "null=any")
                .or_null()
                .default(0),
            Field::string("successPattern", "Regex").or_null(),
            fields::confirmed(),
        ]),
        output: Some(fields::output_or_question(vec![
            Field::integer("attempts", ""),
            Field::object("lastResult", "As terminal_exec gives it"),
            Field::list("history", attempt, "Every attempt"),
        ])),
        run: run(retry),
        error: fields::error,
    }
}

async fn retry(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let pattern = arguments.success_pattern.as_deref();
    let pattern = pattern
        .map(|pattern| check_pattern(pattern, "successPattern"))
        .transpose()?;
    let info = alive(&call, &arguments.session_id).await?;
    let order = Order {
        command: &arguments.command,
        timeout: milliseconds(arguments.timeout),
        quiet: None,
        confirmed: arguments.confirmed,
    };
    let mut history: Vec<Value> = Vec::new();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let ran = execute(&call, &info, &order).await?;
        let facts = ran.describe(&call, arguments.max_lines).await?;
        let fits = match &pattern {
            None => true,
            Some(pattern) => pattern.is_match(&ran.text(&call, u64::MAX).await?.text),
        };
        let wanted = arguments.success_exit_code;
        let exited_well = wanted.is_none_or(|wanted| ran.exit_code == Some(wanted));
        let success = fits && exited_well && !ran.timed_out;
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
        if ran.is_running {
            interrupt(&call, &arguments.session_id).await?;
        }
        let delay = arguments
            .backoff
            .after(attempt, milliseconds(arguments.delay_ms));
        let pause = tokio::time::sleep(delay);
        let terminal = (&info.id).into();
        call.progress.during(call.backend(), &terminal, pause).await;
    }
}

/// Ends an attempt that has taken too long: the next would be typed into it.
async fn interrupt(call: &Call, named: &str) -> Result<(), ToolError> {
    let info = alive(call, named).await?;
    let input = TypedInput {
        keys: vec!["ctrl-c".to_owned()],
        ..TypedInput::default()
    };
    let sent = type_once(call, &info.id, &input, true).await?;
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
