//! `termctl run`: a command in a terminal of its own, used like the command itself.
//!
//! On a tty the command is used from it ([`interactive`]); elsewhere its streams are passed on. A signal
//! to termctl becomes what a person at the tty would have done. The terminal ends with termctl unless
//! `--keep` is given or the person detaches.

mod forward;
mod interactive;
mod stdio;
mod stream;
mod way_out;

use std::num::NonZeroU8;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_client::{Form, Link, OutputReader};
use termd_proto::TerminalRef;
use termd_proto::terminal::{
    CloseTerminal, ExitStatus, KillTerminal, MAX_READ_BYTES, OutputStream, ReadFrom,
};
use tokio::time::sleep;

use self::forward::{Destination, StdinForwarder};
use self::stdio::{RunStdio, Surroundings};
use super::Context;
use super::attach::ending::Ending;
use super::create::{create, request};
use super::wait::wait;
use crate::args::RunArgs;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{has_ended, send_bytes};
use crate::interrupt::{Interrupt, Interrupts};
use crate::output::{self, Pump};
use crate::signal_number::{SIGHUP, SIGINT, SIGTERM};
use crate::signals::Signals;

/// Ctrl-C on a tty (VINTR).
const INTR: u8 = 0x03;
/// In place of no timeout.
const FOREVER: Duration = Duration::from_hours(100 * 365 * 24);
/// How long termctl tries to close its terminal after a signal: a grace of 1.5 s, and a margin. The
/// daemon closes a terminal that is still open when the connection ends.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// Why the watch over the command ended.
enum Outcome {
    /// The command has ended, and its output was passed on.
    Ended(Option<ExitStatus>),
    /// The person left the command running.
    Detached,
    /// A signal ends termctl.
    Signalled(NonZeroU8),
}

/// How an interrupt reaches the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnInterrupt {
    /// Ctrl-C is typed into its terminal.
    Type,
    /// As SIGINT: a command on pipes has no terminal.
    Signal,
}

pub(super) async fn run(context: Context, args: RunArgs) -> Result<ExitCode, CliError> {
    let stdio = RunStdio::choose(args.stdio, Surroundings::look(context.json));
    let interrupt = match stdio {
        RunStdio::Interactive | RunStdio::Pty { .. } => OnInterrupt::Type,
        RunStdio::Pipes { .. } => OnInterrupt::Signal,
    };
    let consent = Consent::of_flag(args.start.confirmed);
    let mut create_request = stdio.request(request(args.start, args.command)?);
    // A person may detach, and signals are caught.
    let is_bound = !args.keep && stdio != RunStdio::Interactive;
    create_request.close_on_disconnect = is_bound;
    let link = Arc::new(context.open().await?);
    let mut signals = Signals::catch()?;
    // There is no command yet that could get the signal.
    let info = tokio::select! {
        created = create(&link, create_request) => created?,
        number = signals.next() => return Ok(ExitCode::of_signal(number)),
    };
    let id = TerminalRef::from(&info.id);
    if is_bound {
        link.keep_holding(id.clone());
    }
    let refused = Arc::<OnceLock<String>>::default();
    let (saves_refusal, json) = (Arc::clone(&refused), context.json);
    spawn_forward(&link, &id, stdio, consent, move |error| {
        output::report(error, json);
        let _ = saves_refusal.set(error.to_string());
    });
    let mut timer = Timer::new(args.timeout);
    let watched = match stdio {
        RunStdio::Interactive => {
            let served = interactive::serve(&link, &id, args.raw, args.detach_key, &mut signals);
            timer.during(&link, &id, Box::pin(served)).await
        }
        RunStdio::Pty { .. } | RunStdio::Pipes { .. } => {
            let passed_on = async {
                if context.json {
                    Ok(wait(&link, &id, None).await?.exit_status)
                } else if interrupt == OnInterrupt::Signal {
                    stream::of_pipes(&link, &id, args.raw).await
                } else {
                    stream::of_terminal(&link, &id, args.raw).await
                }
            };
            let watched = watch(&link, &id, &mut signals, interrupt, passed_on);
            timer.during(&link, &id, Box::pin(watched)).await
        }
    };
    let timed_out = timer.is_over;
    if args.keep && !context.json {
        output::note(&format!("kept as {}", info.id));
    }
    let status = match watched {
        Ok(Outcome::Ended(status)) => status,
        Ok(Outcome::Detached) => {
            // The cursor is where the command left it.
            output::print(b"\r\n")?;
            output::status_line(&format!(
                "detached; `termctl attach {}` comes back",
                info.id
            ));
            return Ok(ExitCode::OK);
        }
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
            let mut report = describe(&link, &id, status.as_ref(), timed_out, interrupt).await?;
            report["input_refused"] = json!(refused.get());
            Some(report)
        } else {
            None
        };
        if !args.keep {
            match close(&link, &id).await {
                Err(error) if has_ended(error.refusal()) => {}
                closed => closed?,
            }
        }
        match report {
            Some(report) => print_report(&report).await,
            None => Ok(()),
        }
    };
    tokio::select! {
        concluded = concluded => concluded?,
        number = signals.next() => return Ok(ExitCode::of_signal(number)),
    }
    // What was refused of its input the command has not done, whatever its own code is.
    match status {
        _ if timed_out => Ok(ExitCode::TIMED_OUT),
        _ if refused.get().is_some() => Ok(ExitCode::NOT_EXECUTABLE),
        Some(status) => Ok(ExitCode::of_command(&status)),
        None => Ok(unseen_end(&link, &id).await),
    }
}

/// Says what became of a command whose exit status did not come with its output.
async fn unseen_end(link: &Link, id: &TerminalRef) -> ExitCode {
    let ending = Ending::of_terminal(link, id, None).await;
    output::note(&format!("{}: {}", id.0, ending.line()));
    let status = ending.status();
    status.map_or(ExitCode::OWN_FAILURE, ExitCode::of_command)
}

/// Closes the terminal, until `CLOSE_DEADLINE` or another signal.
async fn leave(link: &Link, id: &TerminalRef, keep: bool, signals: &mut Signals) {
    if keep {
        return;
    }
    tokio::select! {
        _ = close(link, id) => {}
        () = sleep(CLOSE_DEADLINE) => {}
        _ = signals.next() => {}
    }
}

/// The timeout of `run`.
struct Timer {
    timeout: Duration,
    is_over: bool,
}

impl Timer {
    fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout: timeout.unwrap_or(FOREVER).min(FOREVER),
            is_over: false,
        }
    }

    /// Polls `work` to its end, and ends the command when the time is over.
    async fn during<T>(
        &mut self,
        link: &Arc<Link>,
        id: &TerminalRef,
        work: impl Future<Output = T>,
    ) -> T {
        let timer = sleep(self.timeout);
        tokio::pin!(work, timer);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = &mut timer, if !self.is_over => {
                    self.is_over = true;
                    spawn_kill(link, id, None);
                }
            }
        }
    }
}

/// Passes standard input on in a task of its own.
fn spawn_forward(
    link: &Arc<Link>,
    id: &TerminalRef,
    stdio: RunStdio,
    consent: Consent,
    on_refusal: impl Fn(&CliError) + Send + 'static,
) {
    let destination = match stdio {
        RunStdio::Pty { has_input: true } => Destination::Tty,
        RunStdio::Pipes { has_input: true } => Destination::Pipe,
        RunStdio::Interactive | RunStdio::Pty { .. } | RunStdio::Pipes { .. } => return,
    };
    let (link, id) = (Arc::clone(link), id.clone());
    tokio::spawn(async move {
        let forwarder = StdinForwarder {
            link: &link,
            id: &id,
            consent,
            destination,
            sent: 0,
        };
        let forwarded = forwarder.run(on_refusal).await;
        if let Err(error) = forwarded
            && !has_ended(error.refusal())
        {
            output::note(&error.to_string());
        }
    });
}

/// Polls `passed_on` to its end, and meanwhile acts on signals.
async fn watch(
    link: &Arc<Link>,
    id: &TerminalRef,
    signals: &mut Signals,
    on_interrupt: OnInterrupt,
    passed_on: impl Future<Output = Result<Option<ExitStatus>, CliError>>,
) -> Result<Outcome, CliError> {
    tokio::pin!(passed_on);
    let mut interrupts = Interrupts::default();
    loop {
        tokio::select! {
            status = &mut passed_on => return status.map(Outcome::Ended),
            _ = signals.interrupt.recv() => match interrupts.press(Instant::now()) {
                Interrupt::Type | Interrupt::Signal if on_interrupt == OnInterrupt::Signal => {
                    spawn_kill(link, id, Some("SIGINT"));
                }
                Interrupt::Type => spawn_interrupt(link, id),
                Interrupt::Signal => {
                    spawn_interrupt(link, id);
                    spawn_kill(link, id, Some("SIGINT"));
                }
                Interrupt::End => spawn_kill(link, id, None),
                Interrupt::Abandon => return Ok(Outcome::Signalled(SIGINT)),
            },
            _ = signals.terminate.recv() => return Ok(Outcome::Signalled(SIGTERM)),
            _ = signals.hangup.recv() => return Ok(Outcome::Signalled(SIGHUP)),
        }
    }
}

/// The object of `--json`. It has the last MiB of the output at most, and of each stream of a command
/// on pipes.
async fn describe(
    link: &Link,
    id: &TerminalRef,
    status: Option<&ExitStatus>,
    timed_out: bool,
    on_interrupt: OnInterrupt,
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
    if on_interrupt == OnInterrupt::Signal {
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

/// Prints the object by a thread, so that a slow reader does not hold up signals.
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

/// Types Ctrl-C in a task of its own. A command that has ended needs none.
fn spawn_interrupt(link: &Arc<Link>, id: &TerminalRef) {
    let (link, id) = (Arc::clone(link), id.clone());
    tokio::spawn(async move {
        let _ = send_bytes(&link, &id, &[INTR], Consent::Given).await;
    });
}

/// Kills in a task of its own. The end of a command shows in its output.
fn spawn_kill(link: &Arc<Link>, id: &TerminalRef, signal: Option<&'static str>) {
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
