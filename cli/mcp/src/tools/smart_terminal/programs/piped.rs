//! One command on pipes, run to its end or for as long as its call waits. The command is recorded, and
//! ends with all that it started.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_client::timestamp::now_ms;
use termd_proto::terminal::{
    CreateTerminal, Encoding, EndCause, ExitStatus, KillTerminal, OutputStream, ReadFrom,
    ReadTerminal, Stdio, TerminalInfo, TerminalState, WaitForExit,
};
use termd_proto::{ErrorKind, Offset, TerminalId, TerminalRef};
use tokio::time::Instant;

use super::checks::{FileCheck, SuccessFile};
use crate::settings::{ExecTimeout, ONE_SHOT_SECONDS};
use crate::tool::{
    ANSWERED_AFTER, Bounds, Call, Facts, Omitted, Pages, TaskNote, TemporaryTerminal, ToolError,
    add, directory, environment, set, to_milliseconds,
};
use crate::tools::smart_terminal::params::{Confirmed, Timeout};
use crate::tools::smart_terminal::results::bad;
use crate::tools::smart_terminal::sessions::start::bad_directory;

/// A command with more output than this is ended. No answer holds so much, and no reader slows down
/// a terminal on pipes.
const FLOOD_BYTES: u64 = 64 << 20;
/// The most of a stream that is gone through where the call says nothing; smart-terminal-mcp's limit.
const MAX_STREAM_BYTES: u64 = 102_400;
/// The time between two measurements of a running command's output.
const MEASURED_EVERY: Duration = Duration::from_millis(250);
/// Characters that make a program's name a shell line.
const SHELL_SYNTAX: &str = "|&;<>()$`\\\"'*?[]#~=%{}! \t\n";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Command {
    #[schemars(length(min = 1))]
    pub(crate) cmd: String,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[schemars(length(min = 1))]
    cwd: Option<String>,
    /// ms
    #[schemars(extend("default" = ONE_SHOT_SECONDS * 1_000))]
    pub(crate) timeout: Timeout,
    /// Of each stream
    #[schemars(range(min = 1_024, max = 1_048_576))]
    pub(crate) max_output_bytes: Option<u64>,
    confirmed: Confirmed,
}

/// The output of one stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) text: String,
    /// Whether the text is not all of it.
    is_cut: bool,
    omitted: Omitted,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) info: TerminalInfo,
    end: Offset,
    pub(crate) exit_code: Option<i64>,
    signal: Option<String>,
    limit: Option<EndCause>,
    timed_out: bool,
    /// It has outlived the time of its call, and goes on.
    pub(crate) is_running: bool,
    duration: Duration,
    pub(crate) stdout: Stream,
    stderr: Stream,
    /// What was found of the file that has to be there.
    pub(crate) file: Option<FileCheck>,
}

impl Finished {
    /// Whether something is left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.stdout.is_cut || self.stderr.is_cut
    }

    /// Shortens each stream to an excerpt, where it is longer than an answer shows.
    pub(crate) async fn shorten(
        &mut self,
        call: &Call,
        max_bytes: Option<u64>,
    ) -> Result<(), ClientError> {
        let bytes = max_bytes.unwrap_or(call.shared.settings.max_output_bytes);
        for (stream, of) in [
            (&mut self.stdout, OutputStream::Stdout),
            (&mut self.stderr, OutputStream::Stderr),
        ] {
            if !stream.is_cut && stream.text.len() as u64 <= bytes {
                continue;
            }
            let pages = Pages {
                backend: call.backend(),
                id: &self.info.id,
                encoding: Encoding::Text,
                stream: Some(of),
            };
            let bounds = Bounds {
                bytes,
                lines: bytes,
            };
            let excerpt = pages.excerpt((Offset::ZERO, self.end), bounds).await?;
            stream.text = excerpt.text;
            stream.omitted = excerpt.omitted;
        }
        Ok(())
    }

    /// The fields of the result, without stdout's.
    pub(crate) fn describe(&self, cmd: &str, args: &[String], succeeded: bool) -> Facts {
        let mut facts = Facts::new();
        set(
            &mut facts,
            json!({
                "ok": succeeded && !self.timed_out && !self.is_cut(),
                "cmd": cmd,
                "args": args,
                "cwd": self.info.cwd,
                "exitCode": self.exit_code,
                "timedOut": self.timed_out,
                "durationMs": to_milliseconds(self.duration),
                "stdout": null,
                "stderr": { "raw": self.stderr.text },
            }),
        );
        add(
            &mut facts,
            json!({ "signal": self.signal, "endCause": self.limit }),
        );
        if self.is_running {
            add(
                &mut facts,
                json!({ "running": true, "sessionId": self.info.id, "position": self.end }),
            );
        }
        let streams = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        let omitted: Vec<Value> = streams
            .iter()
            .flat_map(|(name, stream)| {
                let ranges = stream.omitted.ranges();
                ranges.map(move |(from, to)| json!({ "stream": name, "from": from, "to": to }))
            })
            .collect();
        if !omitted.is_empty() {
            let exceeded = self.is_cut().then_some(true);
            add(
                &mut facts,
                json!({ "maxOutputExceeded": exceeded, "omitted": omitted, "sessionId": self.info.id }),
            );
        }
        facts
    }
}

/// Runs a program to its end, or to its timeout, or until it is a task. `file` is looked for while
/// its terminal is open.
pub(crate) async fn execute(
    call: &Call,
    command: &Command,
    (program, args): (String, Vec<String>),
    file: Option<&SuccessFile>,
    task: Option<&TaskNote>,
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
        confirmed: command.confirmed.0,
        meta: task.and_then(TaskNote::to_meta),
        ..CreateTerminal::default()
    };
    let begun = Instant::now();
    let backend = call.backend();
    let created = TemporaryTerminal::create(&call.shared, request).await?;
    let temporary = created.map_err(|error| {
        if let Some(error) = bad_directory(&error, command.cwd.as_deref()) {
            return error;
        }
        match &error {
            ClientError::Refused(refusal) if kind_of(refusal) == Some(ErrorKind::SpawnFailed) => {
                not_started(&command.cmd)
            }
            _ => error.into(),
        }
    })?;
    let id = temporary.info.id.clone();
    let patience = match task {
        Some(_) => ANSWERED_AFTER,
        None => command.timeout.to_duration(),
    };
    let deadline = begun + patience;
    let terminal = (&id).into();
    let ending = Box::pin(until_end(call, &id, deadline));
    let ended = call.progress.during(backend, &terminal, ending).await?;
    let (is_running, duration) = (ended.is_running, begun.elapsed());
    let info = temporary.info.clone();
    let finished = collect(call, info, ended, duration, file, command.max_output_bytes).await?;
    if is_running {
        temporary.leave_running();
    } else {
        temporary.close(None).await?;
    }
    Ok(finished)
}

/// What the command of a task has come to.
pub(crate) async fn finished(
    call: &Call,
    info: TerminalInfo,
    file: Option<&SuccessFile>,
    limit: Option<u64>,
) -> Result<Finished, ToolError> {
    let is_running = info.state == TerminalState::Running;
    let ended = Ended {
        status: info.exit_status.clone(),
        limit: info.end_cause,
        end: info.end,
        timed_out: is_running,
        is_running,
    };
    let over = info.exited_at_ms.unwrap_or_else(now_ms);
    let taken = u64::try_from(over - info.created_at_ms).unwrap_or_default();
    let duration = Duration::from_millis(taken);
    Ok(collect(call, info, ended, duration, file, limit).await?)
}

async fn collect(
    call: &Call,
    info: TerminalInfo,
    ended: Ended,
    duration: Duration,
    file: Option<&SuccessFile>,
    limit: Option<u64>,
) -> Result<Finished, ClientError> {
    let id = &info.id;
    let limit = limit.unwrap_or(MAX_STREAM_BYTES);
    let stdout = stream(call, id, ended.end, OutputStream::Stdout, limit).await?;
    let stderr = stream(call, id, ended.end, OutputStream::Stderr, limit).await?;
    let file = match file {
        Some(file) if !ended.is_running => Some(file.check(call, id).await),
        _ => None,
    };
    if ended.is_running {
        call.shared.cursors.set_read(id, ended.end);
    }
    let status = ended.status;
    Ok(Finished {
        info,
        end: ended.end,
        exit_code: status.as_ref().and_then(|it| it.exit_code).map(i64::from),
        signal: status.and_then(|it| it.signal),
        limit: ended.limit,
        timed_out: ended.timed_out,
        is_running: ended.is_running,
        duration,
        stdout,
        stderr,
        file,
    })
}

struct Ended {
    status: Option<ExitStatus>,
    limit: Option<EndCause>,
    end: Offset,
    timed_out: bool,
    is_running: bool,
}

/// Waits for the exit. Ends a command that prints too much, and one that takes too long where the
/// settings say so.
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
                is_running: false,
            });
        }
        if timed_out && call.shared.settings.exec_timeout == ExecTimeout::Continue {
            return Ok(Ended {
                status: None,
                limit: None,
                end: waited.end,
                timed_out,
                is_running: true,
            });
        }
        if timed_out || waited.end.0 > FLOOD_BYTES {
            // SIGTERM, grace, SIGKILL, for the whole tree of processes.
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
                is_running: false,
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
            all.is_cut = true;
            all.omitted.add(from, end);
            break;
        }
        let request = ReadTerminal {
            stream: Some(stream),
            max_bytes: Some(left),
            encoding: Some(Encoding::Text),
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
