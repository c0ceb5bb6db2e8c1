//! `termctl attach`: a person's tty becomes the terminal's keyboard and screen.
//!
//! Promises that the tty is put back on every way out. It is made to show the terminal's screen at
//! once; what comes then is passed on as it is, but for queries, which the terminal has answered.
//! What is typed is sent and kept nowhere.

use std::env;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU8;
use std::time::Duration;

use termd_client::{ClientError, Link, OutputReader};
use termd_proto::screen::{ReadScreen, ScreenFormat, ScreenResult};
use termd_proto::terminal::{AttachMode, ExitStatus, ReadFrom, TerminalInfo, TerminalState};
use termd_proto::{Offset, TerminalRef};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::Context;
use super::resize::resize;
use super::show::show;
use crate::arg_types::Size;
use crate::args::AttachArgs;
use crate::attach::detach::DetachMatcher;
use crate::attach::queries::QueryFilter;
use crate::attach::residue::Residue;
use crate::attach::tty::{self, RawTty};
use crate::confirm::Consent;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{has_ended, read_stdin, send_bytes};
use crate::output::{self, Pump};
use crate::usage_error::UsageError;

/// Between two pictures of a screen that has another size than the tty: 30 a second.
const PICTURE_PAUSE_MS: u64 = 33;
/// Between two looks whether the terminal has the tty's size still.
const SIZE_PAUSE: Duration = Duration::from_millis(250);
/// Bytes a page of live output: latency before throughput.
const PAGE_BYTES: u64 = 64 * 1024;
/// Input that waits for a program that does not read; beyond it, it is dropped, as a tty does.
const PENDING_BYTES: usize = 1 << 20;
/// How long a tty may take to draw what is left when attaching ends.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// How long a program may take to read what was typed before the detach key.
const LAST_SEND: Duration = Duration::from_secs(1);

/// How it ended.
enum Ending {
    Detached,
    Exited(Option<ExitStatus>),
    /// A signal ended termctl.
    Signalled(NonZeroU8),
}

pub(super) async fn run(context: Context, args: AttachArgs) -> Result<ExitCode, CliError> {
    if !tty::is_interactive() {
        return Err(UsageError::NoTty.into());
    }
    let link = context.open().await?;
    let info = show(&link, &TerminalRef(args.terminal.clone())).await?;
    if env::var_os("TERMD_TERMINAL").is_some_and(|own| own == info.id.as_str()) {
        return Err(UsageError::OwnTerminal(info.id).into());
    }
    let mode = if args.read_only {
        AttachMode::Watch
    } else {
        AttachMode::Type
    };
    link.attach(&TerminalRef::from(&info.id), mode).await?;
    greet(&info, &args);
    let mut residue = Residue::default();
    let raw_tty = RawTty::enter()?;
    let mut pump = Pump::start()?;
    let ending = Session::new(&link, &info, &args)?
        .serve(&mut pump, &mut residue)
        .await;
    // A tty that takes nothing any more is put back without being drawn on.
    if matches!(timeout(LAST_WRITE, pump.finish()).await, Ok(Ok(()))) {
        output::print(&residue.reset())?;
    }
    drop(raw_tty);
    let ending = ending?;
    let (line, code) = match &ending {
        Ending::Detached => ("detached".to_owned(), ExitCode::OK),
        Ending::Signalled(number) => ("detached".to_owned(), ExitCode::of_signal(*number)),
        Ending::Exited(None) => ("closed".to_owned(), ExitCode::FAILED),
        Ending::Exited(Some(status)) => (
            match (&status.signal, status.exit_code) {
                (Some(signal), _) => format!("ended by {signal}"),
                (None, code) => format!("exited {}", code.unwrap_or_default()),
            },
            ExitCode::of_command(status),
        ),
    };
    if context.json {
        let status = match &ending {
            Ending::Exited(status) => status.as_ref(),
            Ending::Detached | Ending::Signalled(_) => None,
        };
        output::print_json(&serde_json::json!({
            "id": info.id,
            "detached": !matches!(ending, Ending::Exited(_)),
            "exit_status": status,
        }))?;
    } else {
        // The program may have left the cursor anywhere in its line, and its picture below that.
        if io::stderr().is_terminal() {
            output::print(b"\r\n\x1b[J")?;
        }
        output::status_line(&line);
    }
    Ok(code)
}

fn greet(info: &TerminalInfo, args: &AttachArgs) {
    let name = match &info.label {
        Some(label) => format!("{} ({label})", info.id),
        None => info.id.to_string(),
    };
    let only = if args.read_only {
        ", only watching"
    } else {
        ""
    };
    let key = args.detach_key;
    output::status_line(&format!("{name}{only}: {key} detaches"));
}

/// Bytes and signals on this side.
struct Session<'a> {
    link: &'a Link,
    id: TerminalRef,
    read_only: bool,
    resizes: bool,
    matcher: DetachMatcher,
    typed: mpsc::Receiver<Vec<u8>>,
    window: Signal,
    /// Those that end termctl, with what it exits with.
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl<'a> Session<'a> {
    fn new(link: &'a Link, info: &TerminalInfo, args: &AttachArgs) -> Result<Self, CliError> {
        let catch =
            |kind| signal(kind).map_err(|error| CliError::Io("cannot catch signals", error));
        Ok(Self {
            link,
            id: TerminalRef::from(&info.id),
            read_only: args.read_only,
            resizes: !args.read_only && !args.no_resize && info.state == TerminalState::Running,
            matcher: DetachMatcher::new(args.detach_key),
            typed: read_stdin()?,
            window: catch(SignalKind::window_change())?,
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hangup: catch(SignalKind::hangup())?,
        })
    }

    /// Serves until the person leaves or the command has ended.
    async fn serve(mut self, pump: &mut Pump, residue: &mut Residue) -> Result<Ending, CliError> {
        let (link, id) = (self.link, self.id.clone());
        if self.resizes {
            // Before the first picture, which then has the right size.
            resize_to_window(link, &id).await?;
        }
        let shown = show_output(link, &id, pump, residue);
        tokio::pin!(shown);
        let mut pending: Vec<u8> = Vec::new();
        let sending = send_pending(link, &id, Vec::new());
        let resizing = resize_to_window(link, &id);
        tokio::pin!(sending, resizing);
        let mut is_sending = false;
        let mut is_resizing = false;
        loop {
            if !is_sending && !pending.is_empty() {
                sending.set(send_pending(link, &id, std::mem::take(&mut pending)));
                is_sending = true;
            }
            tokio::select! {
                status = &mut shown => return status.map(Ending::Exited),
                sent = &mut sending, if is_sending => {
                    is_sending = false;
                    sent?;
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Ending::Detached) };
                    let typed = self.matcher.feed(&chunk);
                    if !self.read_only && pending.len() < PENDING_BYTES {
                        pending.extend(typed.forward);
                    }
                    if typed.detach {
                        // What was typed before the key was meant for the program, if it reads.
                        let rest = async {
                            if is_sending {
                                sending.as_mut().await?;
                            }
                            if pending.is_empty() {
                                return Ok(());
                            }
                            send_pending(link, &id, pending).await
                        };
                        if let Ok(sent) = timeout(LAST_SEND, rest).await {
                            sent?;
                        }
                        return Ok(Ending::Detached);
                    }
                }
                resized = &mut resizing, if is_resizing => {
                    is_resizing = false;
                    resized?;
                }
                _ = self.window.recv(), if self.resizes => {
                    resizing.set(resize_to_window(link, &id));
                    is_resizing = true;
                }
                _ = self.interrupt.recv() => return Ok(signalled(2)),
                _ = self.terminate.recv() => return Ok(signalled(15)),
                _ = self.hangup.recv() => return Ok(signalled(1)),
            }
        }
    }
}

fn signalled(number: u8) -> Ending {
    NonZeroU8::new(number).map_or(Ending::Detached, Ending::Signalled)
}

/// Draws the screen, and then passes on what comes, until the command has ended. A tty of another
/// size than the terminal cannot be given its output: it is given a picture after each change.
async fn show_output(
    link: &Link,
    id: &TerminalRef,
    pump: &mut Pump,
    residue: &mut Residue,
) -> Result<Option<ExitStatus>, CliError> {
    let mut seen = None;
    loop {
        let mut drawn = redraw(link, id, tty::stdout_size(), seen).await?;
        draw(&mut drawn, pump, residue).await?;
        let screen = drawn.screen;
        seen = Some(screen.seq);
        if is_of_the_ttys_size(screen.cols, screen.rows) {
            match pass_on(link, id, screen.end, pump, residue).await? {
                Passed::Ended(status) => return Ok(status),
                Passed::Resized => seen = None,
            }
        } else {
            let info = show(link, id).await?;
            if info.state != TerminalState::Running && info.end <= screen.end {
                return Ok(info.exit_status);
            }
        }
    }
}

/// Whether the terminal has the tty's size; a tty that does not say its own counts as having it.
fn is_of_the_ttys_size(cols: u16, rows: u16) -> bool {
    tty::stdout_size().is_none_or(|size| (size.cols, size.rows) == (cols, rows))
}

/// Why output is passed on no more.
enum Passed {
    /// The command has ended.
    Ended(Option<ExitStatus>),
    /// The terminal has another size than the tty: somebody else gave it one.
    Resized,
}

/// Passes on the output from here as it is, but for queries: the terminal answers what programs ask
/// it, and a second answer would be typed into them.
async fn pass_on(
    link: &Link,
    id: &TerminalRef,
    from: Offset,
    pump: &mut Pump,
    residue: &mut Residue,
) -> Result<Passed, CliError> {
    let mut filter = QueryFilter::default();
    let mut reader = OutputReader::new(link, id.clone(), ReadFrom::Offset(from));
    // Once may be between the tty's new size and the terminal's.
    let mut was_other = false;
    let mut looks = interval_at(Instant::now() + SIZE_PAUSE, SIZE_PAUSE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let page = {
            let next = reader.follow(PAGE_BYTES);
            tokio::pin!(next);
            loop {
                tokio::select! {
                    page = &mut next => break page?,
                    _ = looks.tick() => {}
                }
                let info = show(link, id).await?;
                let is_other = !is_of_the_ttys_size(info.cols, info.rows);
                if is_other && was_other && info.state == TerminalState::Running {
                    return Ok(Passed::Resized);
                }
                was_other = is_other;
            }
        };
        let bytes = filter.feed(&page.bytes);
        residue.watch(&bytes);
        pump.write(bytes).await?;
        if page.is_last() {
            return Ok(Passed::Ended(page.exit_status));
        }
    }
}

async fn draw(
    drawn: &mut ScreenResult,
    pump: &mut Pump,
    residue: &mut Residue,
) -> Result<(), CliError> {
    let picture = drawn.rendering.take().unwrap_or_default().into_bytes();
    residue.watch(&picture);
    pump.write(picture).await
}

/// The screen as a tty of this size is made to show it; after a change that comes later than this
/// one, when it has settled.
async fn redraw(
    link: &Link,
    id: &TerminalRef,
    view: Option<Size>,
    changed_after: Option<u64>,
) -> Result<ScreenResult, ClientError> {
    let request = ReadScreen {
        format: Some(ScreenFormat::Attach),
        changed_after,
        settle_ms: changed_after.map(|_| PICTURE_PAUSE_MS),
        view_cols: view.map(|view| view.cols),
        view_rows: view.map(|view| view.rows),
        ..ReadScreen::of(id.clone())
    };
    link.repeat(&request).await
}

/// Sends what was typed; to a command that has ended, nothing.
async fn send_pending(link: &Link, id: &TerminalRef, bytes: Vec<u8>) -> Result<(), CliError> {
    match send_bytes(link, id, &bytes, Consent::Given).await {
        // In doubt, the person sees whether it arrived, and types it again if not. Sent twice by
        // us, a line might run twice.
        Ok(_) | Err(CliError::Client(ClientError::InDoubt)) => Ok(()),
        Err(error) if has_ended(error.refusal()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives the terminal the size of the person's; where several are attached, the latest one's.
async fn resize_to_window(link: &Link, id: &TerminalRef) -> Result<(), ClientError> {
    match tty::stdout_size() {
        Some(size) => resize(link, id, size).await,
        None => Ok(()),
    }
}
