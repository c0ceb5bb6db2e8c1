//! `termctl run`: a command in a terminal of its own, used like the command itself.
//!
//! Its output is streamed, its exit code passed on; signals to termctl become what a person at the
//! tty would have done. The terminal ends with termctl unless it is kept.

mod stream;

use std::num::NonZeroU8;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_client::{Form, Link, OutputReader};
use termd_proto::TerminalRef;
use termd_proto::terminal::{
    CloseTerminal, ExitStatus, KillTerminal, MAX_READ_BYTES, OutputStream, ReadFrom,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use super::Context;
use super::create::{create, request};
use super::wait::wait;
use crate::args::RunArgs;
use crate::confirm::{Consent, is_asked_for};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{has_ended, read_stdin, send_bytes};
use crate::interrupt::{Interrupt, Interrupts};
use crate::output::{self, Pump};

/// Ctrl-C on a tty (VINTR).
const INTR: u8 = 0x03;
/// End of file on a tty (VEOF).
const EOF: u8 = 0x04;
const SIGINT: NonZeroU8 = NonZeroU8::MIN.saturating_add(1);
const SIGHUP: NonZeroU8 = NonZeroU8::MIN;
const SIGTERM: NonZeroU8 = NonZeroU8::MIN.saturating_add(14);
/// A timeout that was not given: longer than anybody waits.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);
/// How long a termctl that was told to end tries to close its terminal: a grace of 1.5 s, and room.
/// What is not closed by then the daemon closes when it sees the connection gone.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// Why the watch over the command ended.
enum Outcome {
    /// The command has ended, and its output was passed on.
    Ended(Option<ExitStatus>),
    /// A signal told termctl to end.
    Signalled(NonZeroU8),
}

/// What an interrupt is to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnInterrupt {
    /// Ctrl-C on its terminal.
    Type,
    /// SIGINT: it has no terminal to type into.
    Signal,
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// What an interrupt is to the command.
    means: OnInterrupt,
}

impl Signals {
    fn catch(means: OnInterrupt) -> Result<Self, CliError> {
        let catch =
            |kind| signal(kind).map_err(|error| CliError::Io("cannot catch signals", error));
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hangup: catch(SignalKind::hangup())?,
            means,
        })
    }

    /// The next one, whichever.
    async fn any(&mut self) -> NonZeroU8 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT,
            _ = self.terminate.recv() => SIGTERM,
            _ = self.hangup.recv() => SIGHUP,
        }
    }
}

pub(super) async fn run(context: Context, args: RunArgs) -> Result<ExitCode, CliError> {
    let interrupt = if args.start.pipes {
        OnInterrupt::Signal
    } else {
        OnInterrupt::Type
    };
    let consent = Consent::of_flag(args.start.confirmed);
    let mut create_request = request(args.start, args.command)?;
    create_request.close_on_disconnect = !args.keep;
    let link = Arc::new(context.open().await?);
    let mut signals = Signals::catch(interrupt)?;
    // Nothing runs yet that a signal could be passed on to.
    let info = tokio::select! {
        created = create(&link, create_request) => created?,
        number = signals.any() => return Ok(ExitCode::of_signal(number)),
    };
    let id = TerminalRef::from(&info.id);
    if !args.keep {
        link.keep_holding(id.clone()).await;
    }
    if args.stdin {
        let (link, id) = (Arc::clone(&link), id.clone());
        tokio::spawn(async move {
            if let Err(error) = forward_stdin(&link, &id, consent).await
                && !has_ended(error.refusal())
            {
                output::note(&error.to_string());
            }
        });
    }
    let mut timed_out = false;
    let passed_on = async {
        if context.json {
            Ok(wait(&link, &id, None).await?.exit_status)
        } else if interrupt == OnInterrupt::Signal {
            stream::of_pipes(&link, &id, args.raw).await
        } else {
            stream::of_terminal(&link, &id, args.raw).await
        }
    };
    let watched = watch(
        &link,
        &id,
        &mut signals,
        args.timeout,
        &mut timed_out,
        passed_on,
    )
    .await;
    if args.keep && !context.json {
        output::note(&format!("kept as {}", info.id));
    }
    let status = match watched {
        Ok(Outcome::Ended(status)) => status,
        Ok(Outcome::Signalled(number)) => {
            leave(&link, &id, args.keep, &mut signals).await;
            return Ok(ExitCode::of_signal(number));
        }
        Err(error) => {
            leave(&link, &id, args.keep, &mut signals).await;
            return Err(error);
        }
    };
    let concluded = async {
        let report = if context.json {
            Some(describe(&link, &id, status.as_ref(), timed_out, interrupt).await?)
        } else {
            None
        };
        if !args.keep {
            close(&link, &id).await?;
        }
        match report {
            Some(report) => print_report(&report).await,
            None => Ok(()),
        }
    };
    tokio::select! {
        concluded = concluded => concluded?,
        number = signals.any() => return Ok(ExitCode::of_signal(number)),
    }
    Ok(match status {
        _ if timed_out => ExitCode::TIMED_OUT,
        Some(status) => ExitCode::of_command(&status),
        None => ExitCode::FAILED,
    })
}

/// Closes the terminal if it can be closed soon and no further signal comes.
async fn leave(link: &Link, id: &TerminalRef, keep: bool, signals: &mut Signals) {
    if keep {
        return;
    }
    tokio::select! {
        _ = close(link, id) => {}
        () = sleep(CLOSE_DEADLINE) => {}
        _ = signals.any() => {}
    }
}

/// Lets the output pass on, and turns signals and the timeout into what they mean meanwhile.
async fn watch(
    link: &Arc<Link>,
    id: &TerminalRef,
    signals: &mut Signals,
    timeout: Option<Duration>,
    timed_out: &mut bool,
    passed_on: impl Future<Output = Result<Option<ExitStatus>, CliError>>,
) -> Result<Outcome, CliError> {
    let timer = sleep(timeout.unwrap_or(FOREVER).min(FOREVER));
    tokio::pin!(passed_on, timer);
    let mut interrupts = Interrupts::default();
    loop {
        tokio::select! {
            status = &mut passed_on => return status.map(Outcome::Ended),
            () = &mut timer, if !*timed_out => {
                *timed_out = true;
                kill_behind(link, id, None);
            }
            _ = signals.interrupt.recv() => match interrupts.press(Instant::now()) {
                Interrupt::Type | Interrupt::Signal if signals.means == OnInterrupt::Signal => {
                    kill_behind(link, id, Some("SIGINT"));
                }
                Interrupt::Type => type_interrupt(link, id),
                Interrupt::Signal => {
                    type_interrupt(link, id);
                    kill_behind(link, id, Some("SIGINT"));
                }
                Interrupt::End => kill_behind(link, id, None),
                Interrupt::Abandon => return Ok(Outcome::Signalled(SIGINT)),
            },
            _ = signals.terminate.recv() => return Ok(Outcome::Signalled(SIGTERM)),
            _ = signals.hangup.recv() => return Ok(Outcome::Signalled(SIGHUP)),
        }
    }
}

/// The one object of `--json`; its output is the last MiB at the most, and so is that of each stream
/// where the command is on pipes.
async fn describe(
    link: &Link,
    id: &TerminalRef,
    status: Option<&ExitStatus>,
    timed_out: bool,
    means: OnInterrupt,
) -> Result<Value, CliError> {
    let from = ReadFrom::TailBytes(MAX_READ_BYTES);
    let mut reader = OutputReader::new(link, id.clone(), from).in_form(Form::Plain);
    let page = reader.page(MAX_READ_BYTES).await?;
    let mut report = json!({
        "id": id,
        "exit_code": status.and_then(|status| status.exit_code),
        "signal": status.and_then(|status| status.signal.as_deref()),
        "timed_out": timed_out,
        "start": page.start,
        "end": page.end,
        "output": String::from_utf8_lossy(&page.bytes),
    });
    if means == OnInterrupt::Signal {
        for (name, stream) in [
            ("stdout", OutputStream::Stdout),
            ("stderr", OutputStream::Stderr),
        ] {
            let reader = OutputReader::new(link, id.clone(), from).in_form(Form::Plain);
            let page = reader.of_stream(stream).page(MAX_READ_BYTES).await?;
            report[name] = String::from_utf8_lossy(&page.bytes).into();
        }
    }
    Ok(report)
}

/// Prints the object; a reader who does not read it stops no signal.
async fn print_report(report: &Value) -> Result<(), CliError> {
    let mut pump = Pump::start()?;
    pump.write(format!("{report}\n").into_bytes()).await?;
    pump.finish().await
}

async fn close(link: &Link, id: &TerminalRef) -> Result<(), CliError> {
    link.repeat(&CloseTerminal {
        id: id.clone(),
        eof_ms: None,
    })
    .await?;
    Ok(())
}

/// Types Ctrl-C, while the output goes on. A command that has ended needs none.
fn type_interrupt(link: &Arc<Link>, id: &TerminalRef) {
    let (link, id) = (Arc::clone(link), id.clone());
    tokio::spawn(async move {
        let _ = send_bytes(&link, &id, &[INTR], Consent::Given).await;
    });
}

/// Kills, while the output goes on. A command that has ended is shown by its output's end.
fn kill_behind(link: &Arc<Link>, id: &TerminalRef, signal: Option<&'static str>) {
    let (link, id) = (Arc::clone(link), id.clone());
    tokio::spawn(async move {
        let killed = link
            .once(&KillTerminal {
                id: id.clone(),
                signal: signal.map(str::to_owned),
            })
            .await;
        if let Err(error) = killed
            && !has_ended(error.refusal())
        {
            output::note(&error.to_string());
        }
    });
}

/// Types standard input, and then end of file; that too where the gate stops a line of it, so that
/// the command does not wait for more.
async fn forward_stdin(link: &Link, id: &TerminalRef, consent: Consent) -> Result<(), CliError> {
    let mut stdin = read_stdin()?;
    let mut last = b'\n';
    let mut stopped = None;
    while let Some(chunk) = stdin.recv().await {
        match send_bytes(link, id, &chunk, consent).await {
            Err(error) if is_asked_for(error.refusal()) => {
                stopped = Some(error);
                break;
            }
            sent => sent?,
        };
        last = chunk.last().copied().unwrap_or(last);
    }
    // The first VEOF ends a line that has no newline; only at a line's start is it the end.
    let eof: &[u8] = if last == b'\n' { &[EOF] } else { &[EOF, EOF] };
    send_bytes(link, id, eof, Consent::Given).await?;
    stopped.map_or(Ok(()), Err)
}
