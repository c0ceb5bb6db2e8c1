//! `termctl attach`: a person's tty becomes the terminal's keyboard and screen.
//!
//! The tty gets its modes back on every way out. It shows the terminal's screen at once, and then the
//! output as it comes, without what does more than draw. Typed text is sent, and kept
//! nowhere.

use std::env;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU8;
use std::time::Duration;

use termd_client::{ClientError, Link, OutputReader};
use termd_proto::screen::{ReadScreen, ScreenFormat, ScreenResult};
use termd_proto::terminal::{AttachMode, ExitStatus, ReadFrom, TerminalInfo, TerminalState};
use termd_proto::{Offset, TerminalRef};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::Context;
use super::resize::resize;
use super::show::show;
use crate::arg_types::Size;
use crate::args::AttachArgs;
use crate::attach::detach::DetachMatcher;
use crate::attach::tty::{self, RawTty};
use crate::attach::tty_filter::TtyFilter;
use crate::confirm::{Consent, is_agents};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{has_ended, read_stdin, send_bytes};
use crate::output::{self, Pump};
use crate::signals::{self, Signals};
use crate::usage_error::UsageError;

/// The pause between two pictures of a screen that is not of the tty's size: 30 a second.
const PICTURE_PAUSE_MS: u64 = 33;
/// The pause between two checks whether the terminal still has the tty's size.
const SIZE_PAUSE: Duration = Duration::from_millis(250);
/// Bytes a page of live output; small, for latency.
const PAGE_BYTES: u64 = 64 * 1024;
/// Most input that waits for a program that does not read. More is dropped, as a tty drops it.
const PENDING_BYTES: usize = 1 << 20;
/// How long the tty may take to draw the rest of the output at the end.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// How long the program may take to read the input from before the detach key.
const LAST_SEND: Duration = Duration::from_secs(1);

/// Why the session ended.
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
    let mut filter = TtyFilter::default();
    let raw_tty = RawTty::enter()?;
    let mut pump = Pump::start()?;
    // The keys of a person have agreed. Those of an agent are what an agent types.
    let consent = Consent::of_flag(!is_agents(&link).await);
    let ending = Session::new(&link, &info, &args, consent)?
        .serve(&mut pump, &mut filter)
        .await;
    // A tty that takes no output any more only gets its modes back.
    if matches!(timeout(LAST_WRITE, pump.finish()).await, Ok(Ok(()))) {
        output::print(&filter.reset())?;
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

/// The person's side: input and signals.
struct Session<'a> {
    link: &'a Link,
    id: TerminalRef,
    read_only: bool,
    resizes: bool,
    consent: Consent,
    matcher: DetachMatcher,
    typed: mpsc::Receiver<Vec<u8>>,
    window: Signal,
    signals: Signals,
}

impl<'a> Session<'a> {
    fn new(
        link: &'a Link,
        info: &TerminalInfo,
        args: &AttachArgs,
        consent: Consent,
    ) -> Result<Self, CliError> {
        Ok(Self {
            link,
            id: TerminalRef::from(&info.id),
            read_only: args.read_only,
            resizes: !args.read_only && !args.no_resize && info.state == TerminalState::Running,
            consent,
            matcher: DetachMatcher::new(args.detach_key),
            typed: read_stdin()?,
            window: signals::catch(SignalKind::window_change())?,
            signals: Signals::catch()?,
        })
    }

    /// Serves until the person leaves or the command has ended.
    async fn serve(mut self, pump: &mut Pump, filter: &mut TtyFilter) -> Result<Ending, CliError> {
        let (link, id, consent) = (self.link, self.id.clone(), self.consent);
        if self.resizes {
            // First, so that the first picture has the right size.
            resize_to_window(link, &id).await?;
        }
        let shown = show_output(link, &id, pump, filter);
        tokio::pin!(shown);
        let mut pending: Vec<u8> = Vec::new();
        let sending = send_pending(link, &id, Vec::new(), consent);
        let resizing = resize_to_window(link, &id);
        tokio::pin!(sending, resizing);
        let mut is_sending = false;
        let mut is_resizing = false;
        loop {
            if !is_sending && !pending.is_empty() {
                sending.set(send_pending(
                    link,
                    &id,
                    std::mem::take(&mut pending),
                    consent,
                ));
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
                        // Input from before the key is for the program, if it reads.
                        let rest = async {
                            if is_sending {
                                sending.as_mut().await?;
                            }
                            if pending.is_empty() {
                                return Ok(());
                            }
                            send_pending(link, &id, pending, consent).await
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
                number = self.signals.next() => return Ok(Ending::Signalled(number)),
            }
        }
    }
}

/// Draws the screen, and then passes on the output, until the command has ended. A tty of another
/// size cannot show the output itself, so it gets a picture after each change.
async fn show_output(
    link: &Link,
    id: &TerminalRef,
    pump: &mut Pump,
    filter: &mut TtyFilter,
) -> Result<Option<ExitStatus>, CliError> {
    let mut seen = None;
    loop {
        let mut drawn = redraw(link, id, tty::stdout_size(), seen).await?;
        draw(&mut drawn, pump, filter).await?;
        let screen = drawn.screen;
        seen = Some(screen.seq);
        if has_tty_size(screen.cols, screen.rows) {
            match pass_on(link, id, screen.end, pump, filter).await? {
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

/// Whether the terminal has the tty's size. A tty without a size counts as having the same.
fn has_tty_size(cols: u16, rows: u16) -> bool {
    tty::stdout_size().is_none_or(|size| (size.cols, size.rows) == (cols, rows))
}

/// Why output is no longer passed on.
enum Passed {
    /// The command has ended.
    Ended(Option<ExitStatus>),
    /// Another client gave the terminal a size that is not the tty's.
    Resized,
}

/// Passes on what draws of the output from here, as long as the terminal has the tty's size.
async fn pass_on(
    link: &Link,
    id: &TerminalRef,
    from: Offset,
    pump: &mut Pump,
    filter: &mut TtyFilter,
) -> Result<Passed, CliError> {
    // Side by side: a request that is not polled may hold the link that the other one waits for.
    tokio::select! {
        status = pass_on_pages(link, id, from, pump, filter) => status.map(Passed::Ended),
        resized = other_size(link, id) => resized.map(|()| Passed::Resized),
    }
}

/// Passes on what draws of the output until the command has ended. The terminal has answered the
/// program's queries, and the tty's answers would be typed into the program as well.
async fn pass_on_pages(
    link: &Link,
    id: &TerminalRef,
    from: Offset,
    pump: &mut Pump,
    filter: &mut TtyFilter,
) -> Result<Option<ExitStatus>, CliError> {
    let mut reader = OutputReader::new(link, id.clone(), ReadFrom::Offset(from));
    loop {
        let page = reader.follow(PAGE_BYTES).await?;
        pump.write(filter.feed(&page.bytes)).await?;
        if page.is_last() {
            return Ok(page.exit_status);
        }
    }
}

/// Waits until the terminal runs in another size than the tty's.
async fn other_size(link: &Link, id: &TerminalRef) -> Result<(), CliError> {
    // One mismatch may be the moment between the tty's new size and the terminal's.
    let mut was_other = false;
    let mut looks = interval_at(Instant::now() + SIZE_PAUSE, SIZE_PAUSE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let info = show(link, id).await?;
        let is_other = !has_tty_size(info.cols, info.rows);
        if is_other && was_other && info.state == TerminalState::Running {
            return Ok(());
        }
        was_other = is_other;
    }
}

async fn draw(
    drawn: &mut ScreenResult,
    pump: &mut Pump,
    filter: &mut TtyFilter,
) -> Result<(), CliError> {
    let picture = drawn.rendering.take().unwrap_or_default().into_bytes();
    pump.write(filter.feed(&picture)).await
}

/// What makes a tty of this size show the screen. With `changed_after`, waits for a later screen that
/// has settled.
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

/// Sends input. A command that has ended gets none, which is no error.
async fn send_pending(
    link: &Link,
    id: &TerminalRef,
    bytes: Vec<u8>,
    consent: Consent,
) -> Result<(), CliError> {
    match send_bytes(link, id, &bytes, consent).await {
        // The person sees whether the input arrived, and types it again if not. If termctl sent a
        // line twice, it might run twice.
        Ok(_) | Err(CliError::Client(ClientError::InDoubt)) => Ok(()),
        Err(error) if has_ended(error.refusal()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives the terminal the tty's size. If several people are attached, the last to resize wins.
async fn resize_to_window(link: &Link, id: &TerminalRef) -> Result<(), ClientError> {
    match tty::stdout_size() {
        Some(size) => resize(link, id, size).await,
        None => Ok(()),
    }
}
