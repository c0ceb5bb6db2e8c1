//! `session_exec`: one command in a terminal of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use termd_client::ClientError;
use termd_proto::interact::Until;
use termd_proto::terminal::{
    CloseTerminal, CreateTerminal, MAX_DIMENSION, MIN_COLS, WaitForExit, WaitResult,
};
use termd_proto::{Offset, TerminalId, TerminalRef};
use tokio::time::Instant;

use super::create::open;
use super::facts::{add, exit, success};
use super::fields;
use super::input::Typing;
use super::output::{self, Manner};
use super::read::timeout_of;
use crate::Shared;
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::settings::{Settings, Truncation};
use crate::tool::{Effect, Tool, run};

/// terminal-mcp's default.
const DEFAULT_TIMEOUT: f64 = 5.0;
/// What takes a command by `-c`.
const SHELLS: [&str; 9] = [
    "ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "yash", "zsh",
];
/// How long a program that is no shell may take to go by itself, at the end of its input.
const EOF_MS: u64 = 300;

#[derive(Debug, Deserialize)]
struct Arguments {
    exec: String,
    command: String,
    timeout: f64,
    rows: u16,
    cols: u16,
    truncation: Option<Truncation>,
    cwd: Option<String>,
    confirmed: bool,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let mut output = fields::text();
    output.extend([
        Field::string(
            "session_id",
            "Closed; session_read with an offset still reads it",
        ),
        Field::integer("exit_code", ""),
        Field::string("signal", ""),
        fields::end_cause(),
        Field::boolean("timed_out", "It was ended because the time was over"),
        Field::string("completed_by", ""),
    ]);
    Tool {
        name: "session_exec",
        title: "Run one command",
        description: "Run one command in a terminal of its own, which is closed afterwards, and \
                      return its output and exit_code. At the timeout it is ended: for what takes \
                      long, or asks questions, use session_create and session_interact.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            Field::string("exec", "The command, as typed into `command`")
                .required()
                .at_least(1),
            Field::string("command", "The shell (or other program) that runs it")
                .at_least(1)
                .default("bash"),
            fields::timeout(DEFAULT_TIMEOUT, "Seconds until it is ended"),
            Field::integer("rows", "")
                .between(1, MAX_DIMENSION)
                .default(settings.rows),
            Field::integer("cols", "")
                .between(MIN_COLS, MAX_DIMENSION)
                .default(settings.cols),
            fields::truncation(settings),
            Field::string("cwd", "Directory to run it in, absolute").at_least(1),
            fields::confirmed(),
        ]),
        output: Some(fields::output(output)),
        run: run(exec),
        error: ToolError::to_session_answer,
    }
}

/// A terminal that is closed when its call is over, however it is over.
struct Temporary {
    shared: Arc<Shared>,
    id: TerminalId,
    open: bool,
}

impl Temporary {
    async fn close(mut self, eof: Option<u64>) -> Result<WaitResult, ClientError> {
        let closed = close(&self.shared, &self.id, eof).await;
        self.open = false;
        closed
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.open {
            let (shared, id) = (Arc::clone(&self.shared), self.id.clone());
            // Nobody is left to be told how it went.
            tokio::spawn(async move { drop(close(&shared, &id, None).await) });
        }
    }
}

async fn close(
    shared: &Shared,
    id: &TerminalId,
    eof: Option<u64>,
) -> Result<WaitResult, ClientError> {
    // Closing a closed one is no error.
    let close = CloseTerminal {
        id: TerminalRef::from(id),
        eof_ms: eof,
    };
    shared.backend.pool().repeat(&close).await
}

/// The argv of a shell line, where the program is a shell.
fn shell_argv(program: &str, line: &str) -> Option<(String, Vec<String>)> {
    let mut words = program.split_whitespace();
    let shell = words.next()?;
    let name = Path::new(shell).file_name()?.to_str()?;
    // Quotes and the like are for the daemon to read.
    if !SHELLS.contains(&name) || program.contains(['\'', '"', '\\', '$', ';', '|', '&', '>']) {
        return None;
    }
    let arguments = words.map(str::to_owned);
    let arguments = arguments.chain(["-c".to_owned(), line.to_owned()]);
    Some((shell.to_owned(), arguments.collect()))
}

async fn exec(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let deadline = timeout_of(arguments.timeout);
    let shell = shell_argv(&arguments.command, &arguments.exec);
    let is_shell = shell.is_some();
    let (command, args) = shell.unwrap_or_else(|| (arguments.command.clone(), Vec::new()));
    let request = CreateTerminal {
        command: Some(command),
        args,
        cwd: arguments.cwd.clone(),
        rows: Some(arguments.rows),
        cols: Some(arguments.cols),
        close_on_disconnect: true,
        confirmed: arguments.confirmed,
        ..CreateTerminal::default()
    };
    let shared = Arc::clone(&call.shared);
    // In a task of its own: a call that is cancelled before the answer leaves no terminal.
    let opening = tokio::spawn(async move {
        let info = open(&shared, request).await?;
        let id = info.id.clone();
        let temporary = Temporary {
            shared,
            id,
            open: true,
        };
        Ok::<_, ToolError>((info, temporary))
    });
    let (info, temporary) = opening.await??;
    let done = if is_shell {
        until_exit(&call, &info.id, deadline).await?
    } else {
        let line = Typing::line(arguments.exec.clone(), arguments.confirmed);
        typed(&call, &info.id, &line, deadline).await?
    };
    let eof = (!is_shell && !done.timed_out).then_some(EOF_MS);
    let closed = temporary.close(eof).await?;
    let manner = Manner::new(&call.shared.settings, arguments.truncation, true);
    let end = if is_shell { closed.end } else { done.end };
    let window = (done.start, end.max(done.start));
    let output = output::read(call.backend(), &info.id, window, manner).await?;
    call.shared.cursors.set_read(&info.id, output.next);
    let mut facts = success();
    output.describe(&mut facts);
    add(
        &mut facts,
        json!({
            "session_id": info.id,
            "timed_out": done.timed_out,
            "completed_by": done.by,
        }),
    );
    exit(&mut facts, closed.exit_status.as_ref(), closed.end_cause);
    Ok(ToolAnswer::Facts(facts.into()))
}

/// How a command came to its end.
struct Done {
    start: Offset,
    end: Offset,
    timed_out: bool,
    by: &'static str,
}

async fn until_exit(call: &Call, id: &TerminalId, timeout: Duration) -> Result<Done, ClientError> {
    let backend = call.backend();
    let waiting = backend
        .pool()
        .wait_until(Instant::now() + timeout, |left| WaitForExit {
            id: TerminalRef::from(id),
            timeout_ms: Some(left),
        });
    let waited = call.progress.during(backend, &id.into(), waiting).await?;
    Ok(Done {
        start: Offset::ZERO,
        end: waited.end,
        timed_out: !waited.exited,
        by: "exit",
    })
}

async fn typed(
    call: &Call,
    id: &TerminalId,
    line: &Typing,
    timeout: Duration,
) -> Result<Done, ToolError> {
    use termd_proto::interact::{DoneBy, WaitEnd};
    let backend = call.backend();
    let until = Until {
        done: true,
        ..Until::default()
    };
    let begun = Instant::now();
    let ready = backend.wait_for(id, Some(Offset::ZERO), &until, timeout);
    call.progress.during(backend, &id.into(), ready).await?;
    let sent = line.send(&call.shared, id).await?;
    let left = timeout.saturating_sub(begun.elapsed());
    let waiting = backend.wait_for(id, Some(sent.offset), &until, left);
    let waited = call.progress.during(backend, &id.into(), waiting).await?;
    Ok(Done {
        start: waited.output_start.max(waited.start),
        end: waited.end.max(waited.activity.end),
        timed_out: waited.ended_by == WaitEnd::Timeout,
        by: match waited.done_by {
            Some(DoneBy::Marks) => "marks",
            Some(DoneBy::Foreground) => "foreground",
            Some(DoneBy::Prompt) => "prompt",
            None => "exit",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_given_the_line_and_anything_else_is_typed_into() {
        let table = [
            ("bash", Some(("bash", vec!["-c", "a b"]))),
            ("/bin/zsh -f", Some(("/bin/zsh", vec!["-f", "-c", "a b"]))),
            ("python3", None),
            ("ssh host", None),
            ("bash -c 'exec bash'", None),
            ("", None),
        ];
        for (program, want) in table {
            let want = want.map(|(shell, arguments)| {
                let arguments = arguments.into_iter().map(str::to_owned).collect();
                (shell.to_owned(), arguments)
            });
            assert_eq!(shell_argv(program, "a b"), want, "{program:?}");
        }
    }
}
