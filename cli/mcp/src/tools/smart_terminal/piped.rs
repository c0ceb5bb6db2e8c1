//! One command on pipes, to its end: recorded, and ended with all that it started.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::terminal::{
    CloseTerminal, CreateTerminal, Encoding, EndCause, ExitStatus, KillTerminal, OutputStream,
    ReadFrom, ReadTerminal, Stdio, WaitForExit,
};
use termd_proto::{ErrorKind, Offset, TerminalId, TerminalRef};
use tokio::task::JoinError;
use tokio::time::Instant;

use super::fields::{Facts, add, bad, set};
use super::session::milliseconds;
use super::start::{directory, environment};
use crate::Shared;
use crate::answer::ToolError;
use crate::call::Call;

/// More output than this ends a command: nobody asked for so much in an answer, and a terminal on
/// pipes has no reader that slows it down.
const FLOOD_BYTES: u64 = 64 << 20;
/// How often a running command's output is measured.
const MEASURED_EVERY: Duration = Duration::from_millis(250);
/// Characters that would make a program's name a shell line.
const SHELL_SYNTAX: &str = "|&;<>()$`\\\"'*?[]#~=%{}! \t\n";

/// What is run: the parameters that `terminal_run` and `terminal_run_paged` share.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Command {
    pub(super) cmd: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: Option<String>,
    pub(super) timeout: u64,
    pub(super) max_output_bytes: u64,
    pub(super) confirmed: bool,
}

/// One stream's output.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) text: String,
    /// Left out from here on.
    cut_at: Option<Offset>,
}

/// How a run went.
#[derive(Debug)]
pub(super) struct Finished {
    id: TerminalId,
    pub(super) cwd: String,
    end: Offset,
    pub(super) exit_code: Option<i64>,
    signal: Option<String>,
    limit: Option<EndCause>,
    timed_out: bool,
    duration: Duration,
    pub(super) stdout: Stream,
    stderr: Stream,
}

impl Finished {
    /// Whether something is left out.
    pub(super) fn is_cut(&self) -> bool {
        self.stdout.cut_at.is_some() || self.stderr.cut_at.is_some()
    }

    /// The fields of the result, but for stdout's.
    pub(super) fn describe(&self, command: &Command, succeeded: bool) -> Facts {
        let mut facts = Facts::new();
        set(
            &mut facts,
            json!({
                "ok": succeeded && !self.timed_out && !self.is_cut(),
                "cmd": command.cmd,
                "args": command.args,
                "cwd": self.cwd,
                "exitCode": self.exit_code,
                "timedOut": self.timed_out,
                "durationMs": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
                "stdout": null,
                "stderr": { "raw": self.stderr.text },
            }),
        );
        add(
            &mut facts,
            json!({ "signal": self.signal, "endCause": self.limit }),
        );
        if self.is_cut() {
            let cut = [("stdout", &self.stdout), ("stderr", &self.stderr)];
            let omitted: Vec<Value> = cut
                .iter()
                .filter_map(|(name, stream)| {
                    let from = stream.cut_at?;
                    Some(json!({ "stream": name, "from": from, "to": self.end }))
                })
                .collect();
            add(
                &mut facts,
                json!({ "maxOutputExceeded": true, "omitted": omitted, "sessionId": self.id }),
            );
        }
        facts
    }
}

/// A terminal that is closed when its call is over, however it is over.
struct Temporary {
    shared: Arc<Shared>,
    id: TerminalId,
    is_open: bool,
}

impl Temporary {
    /// In a task of its own: a call that is cancelled before the answer leaves no terminal.
    async fn create(
        shared: &Arc<Shared>,
        request: CreateTerminal,
    ) -> Result<Result<Self, ClientError>, JoinError> {
        let shared = Arc::clone(shared);
        let creating = tokio::spawn(async move {
            let created = shared.backend.pool().once(&request);
            let id = created.await?.id;
            Ok(Self {
                shared,
                id,
                is_open: true,
            })
        });
        creating.await
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_open {
            let (shared, id) = (Arc::clone(&self.shared), self.id.clone());
            // Nobody is left to be told how it went.
            tokio::spawn(async move { drop(close(&shared, &id).await) });
        }
    }
}

async fn close(shared: &Shared, id: &TerminalId) -> Result<(), ClientError> {
    let close = CloseTerminal {
        id: TerminalRef::from(id),
        eof_ms: None,
    };
    shared.backend.pool().repeat(&close).await.map(drop)
}

/// Runs a program to its end, or to its timeout.
pub(super) async fn execute(
    call: &Call,
    command: &Command,
    (program, args): (String, Vec<String>),
) -> Result<Finished, ToolError> {
    let cwd = directory(command.cwd.as_deref())?;
    // Without arguments, the daemon reads a name with such characters as a shell line.
    if args.is_empty() && program.contains(|c: char| SHELL_SYNTAX.contains(c)) {
        return Err(not_started(&command.cmd));
    }
    let request = CreateTerminal {
        command: Some(program),
        args,
        base_env: Some(environment()),
        cwd: Some(cwd.clone()),
        stdio: Stdio::Pipes,
        close_on_disconnect: true,
        confirmed: command.confirmed,
        ..CreateTerminal::default()
    };
    let begun = Instant::now();
    let backend = call.backend();
    let created = Temporary::create(&call.shared, request).await?;
    let mut temporary = created.map_err(|error| match &error {
        ClientError::Refused(refusal) if kind_of(refusal) == Some(ErrorKind::SpawnFailed) => {
            not_started(&command.cmd)
        }
        _ => error.into(),
    })?;
    let id = temporary.id.clone();
    let deadline = begun + milliseconds(command.timeout);
    let terminal = (&id).into();
    let ending = Box::pin(until_end(call, &id, deadline));
    let ended = call.progress.during(backend, &terminal, ending).await?;
    let duration = begun.elapsed();
    let limit = command.max_output_bytes;
    let stdout = stream(call, &id, ended.end, OutputStream::Stdout, limit).await?;
    let stderr = stream(call, &id, ended.end, OutputStream::Stderr, limit).await?;
    close(&call.shared, &id).await?;
    temporary.is_open = false;
    let status = ended.status;
    Ok(Finished {
        id,
        cwd,
        end: ended.end,
        exit_code: status.as_ref().and_then(|it| it.exit_code).map(i64::from),
        signal: status.and_then(|it| it.signal),
        limit: ended.limit,
        timed_out: ended.timed_out,
        duration,
        stdout,
        stderr,
    })
}

struct Ended {
    status: Option<ExitStatus>,
    limit: Option<EndCause>,
    end: Offset,
    timed_out: bool,
}

/// Waits for the exit; ends what takes too long, or prints without an end.
async fn until_end(call: &Call, id: &TerminalId, deadline: Instant) -> Result<Ended, ClientError> {
    let backend = call.backend();
    loop {
        let step = deadline.min(Instant::now() + MEASURED_EVERY);
        let waited = backend
            .pool()
            .wait_until(step, |left| WaitForExit {
                id: TerminalRef::from(id),
                timeout_ms: Some(left),
            })
            .await?;
        let timed_out = !waited.exited && Instant::now() >= deadline;
        if waited.exited {
            return Ok(Ended {
                status: waited.exit_status,
                limit: waited.end_cause,
                end: waited.end,
                timed_out: false,
            });
        }
        if timed_out || waited.end.0 > FLOOD_BYTES {
            // SIGTERM, grace, SIGKILL, for all that it started.
            let killed = backend
                .pool()
                .repeat(&KillTerminal {
                    id: TerminalRef::from(id),
                    signal: None,
                })
                .await?;
            return Ok(Ended {
                status: killed.exit_status,
                limit: killed.end_cause,
                end: killed.end,
                timed_out,
            });
        }
    }
}

/// The first `limit` bytes of a stream.
async fn stream(
    call: &Call,
    id: &TerminalId,
    end: Offset,
    stream: OutputStream,
    limit: u64,
) -> Result<Stream, ClientError> {
    let mut all = Stream::default();
    let mut from = Offset::ZERO;
    while from < end {
        let left = limit.saturating_sub(all.text.len() as u64);
        if left < 4 {
            all.cut_at = Some(from);
            break;
        }
        let request = ReadTerminal {
            until: Some(end),
            stream: Some(stream),
            max_bytes: Some(left),
            encoding: Some(Encoding::Raw),
            ..ReadTerminal::new(TerminalRef::from(id), ReadFrom::Offset(from))
        };
        let page = call.backend().pool().repeat(&request).await?;
        all.text.push_str(&page.text.unwrap_or_default());
        if page.at_end || page.end <= from {
            break;
        }
        from = page.end;
    }
    Ok(all)
}

fn not_started(cmd: &str) -> ToolError {
    bad(format!(
        "Failed to start command \"{cmd}\": spawn {cmd} ENOENT. Verify it is installed and on PATH for \
         the server process. For shell built-ins, pipes, or redirections, use shell:true. \
         Alternatively, start an interactive session with terminal_start."
    ))
}
