//! `termctl attach`: a person's tty becomes the terminal's keyboard and screen.
//!
//! The tty gets its modes and what was on it back on every way out. Its alternate screen shows the
//! terminal's screen at once, and then the output as it comes, without what does more than draw
//! ([`viewer`]). Typed text is sent, and kept nowhere.

pub(super) mod input_queue;
mod viewer;

use std::env;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU8;
use std::time::Duration;

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::{
    AttachMode, AttachTerminal, ExitStatus, ListScope, Stdio, TerminalInfo, TerminalState,
};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use self::input_queue::{InputQueue, Sent, send_pending};
use self::viewer::Viewer;
use super::Context;
use super::list::list;
use super::resize::resize;
use super::show::show;
use crate::args::AttachArgs;
use crate::attach::detach::DetachMatcher;
use crate::attach::notice::Notice;
use crate::attach::tty::{self, RawTty};
use crate::attach::tty_filter::TtyFilter;
use crate::confirm::{Consent, is_agents};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::read_stdin;
use crate::output::{self, Pump};
use crate::signals::{self, Signals};
use crate::usage_error::UsageError;

/// How long the tty may take to draw the rest of the output at the end.
pub(super) const LAST_WRITE: Duration = Duration::from_secs(1);

/// How long the program may take to read the input from before the detach key.
pub(super) const LAST_SEND: Duration = Duration::from_secs(1);

/// What a person is told whose keys were under way when the daemon went away.
pub(super) const IN_DOUBT: &str = "some of what was typed may not have arrived";

/// How long a notice is shown.
const NOTICE: Duration = Duration::from_secs(2);
/// How long it is shown why a key was not typed.
const REFUSAL: Duration = Duration::from_secs(5);
/// How long help is shown.
const HELP: Duration = Duration::from_secs(6);

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
    let info = match &args.terminal {
        Some(terminal) => show(&link, &TerminalRef(terminal.clone())).await?,
        None => used_last(&link).await?,
    };
    if is_own(&info) {
        return Err(UsageError::OwnTerminal(info.id).into());
    }
    attach(context, &link, &info, &args).await
}

/// Whether termctl runs in this terminal.
fn is_own(info: &TerminalInfo) -> bool {
    env::var_os("TERMD_TERMINAL").is_some_and(|own| own == info.id.as_str())
}

/// The terminal that was used last, of those that a person has opened and whose command runs.
async fn used_last(link: &Link) -> Result<TerminalInfo, CliError> {
    let running = list(link, ListScope::Running).await?.into_iter();
    let persons = running
        .filter(|info| info.owner.agent().is_none() && info.stdio == Stdio::Pty && !is_own(info));
    let last = persons.max_by_key(|info| (info.last_activity_ms, info.created_at_ms));
    last.ok_or(CliError::NothingToAttach)
}

/// Attaches to a terminal.
pub(super) async fn attach(
    context: Context,
    link: &Link,
    info: &TerminalInfo,
    args: &AttachArgs,
) -> Result<ExitCode, CliError> {
    let mode = if args.read_only {
        AttachMode::Watch
    } else {
        AttachMode::Type
    };
    link.attach(AttachTerminal {
        id: TerminalRef::from(&info.id),
        mode: Some(mode),
        cols: None,
        rows: None,
    })
    .await?;
    // The keys of a person have agreed. Those of an agent are what an agent types.
    let consent = Consent::of_flag(!is_agents(link).await);
    let mut filter = TtyFilter::default();
    // From here on nothing is awaited but beside the detach key and signals.
    let raw_tty = RawTty::enter()?;
    let mut pump = Pump::start()?;
    let mut session = Session::new(link, info, args, consent)?;
    let ending = session.serve(&mut pump, &mut filter).await;
    // A tty that takes no output any more only gets its modes back.
    if matches!(timeout(LAST_WRITE, pump.finish()).await, Ok(Ok(()))) {
        output::print(&filter.reset())?;
    }
    drop(raw_tty);
    // The last picture of a command that had exited stays. Its cursor may be anywhere.
    if info.state != TerminalState::Running && !context.json && io::stderr().is_terminal() {
        output::print(b"\r\n\x1b[J")?;
    }
    if session.queue.is_lost_at(&ending) {
        output::note(IN_DOUBT);
    }
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
        output::status_line(&line);
    }
    Ok(code)
}

/// What a person is told at entry, and again when a key goes nowhere.
fn greeting(info: &TerminalInfo, args: &AttachArgs) -> String {
    let name = match &info.label {
        Some(label) => format!("{} ({label})", info.id),
        None => info.id.to_string(),
    };
    let only = if args.read_only {
        ", only watching"
    } else {
        ""
    };
    let help = if args.read_only { ", ? helps" } else { "" };
    let key = args.detach_key;
    format!("{name}{only}: {key} detaches{help}")
}

/// The person's side: input and signals.
struct Session<'a> {
    link: &'a Link,
    id: TerminalRef,
    read_only: bool,
    is_running: bool,
    resizes: bool,
    greeting: String,
    help: String,
    notices: watch::Sender<Option<Notice>>,
    consent: Consent,
    matcher: DetachMatcher,
    queue: InputQueue,
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
        let is_running = info.state == TerminalState::Running;
        Ok(Self {
            link,
            id: TerminalRef::from(&info.id),
            read_only: args.read_only,
            is_running,
            resizes: !args.read_only && !args.no_resize && is_running,
            greeting: greeting(info, args),
            help: format!(
                "{} detaches; other keys go nowhere: to type, attach without --read-only",
                args.detach_key
            ),
            notices: watch::Sender::new(None),
            consent,
            matcher: DetachMatcher::new(args.detach_key),
            queue: InputQueue::default(),
            typed: read_stdin()?,
            window: signals::catch(SignalKind::window_change())?,
            signals: Signals::catch()?,
        })
    }

    /// Serves until the person leaves or the command has ended.
    async fn serve(&mut self, pump: &mut Pump, filter: &mut TtyFilter) -> Result<Ending, CliError> {
        let (link, id, consent) = (self.link, self.id.clone(), self.consent);
        if self.is_running {
            self.notify(self.greeting.clone(), NOTICE, true);
        }
        let resizes = self.resizes;
        let viewer = Viewer {
            link,
            id: id.clone(),
            pump,
            filter,
            takes_screen: self.is_running,
            notices: self.notices.subscribe(),
        };
        let shown = async {
            if resizes {
                // First, so that the first picture has the right size.
                resize_to_window(link, &id).await?;
            }
            viewer.show_output().await
        };
        tokio::pin!(shown);
        let sending = send_pending(link, &id, Vec::new(), consent);
        let resizing = resize_to_window(link, &id);
        tokio::pin!(sending, resizing);
        let mut is_resizing = false;
        loop {
            if !self.queue.is_sending && !self.queue.pending.is_empty() {
                let bytes = std::mem::take(&mut self.queue.pending);
                sending.set(send_pending(link, &id, bytes, consent));
                self.queue.is_sending = true;
            }
            tokio::select! {
                status = &mut shown => return status.map(Ending::Exited),
                sent = &mut sending, if self.queue.is_sending => {
                    let sent = sent?;
                    self.queue.is_sending = false;
                    match sent {
                        Sent::Arrived => {}
                        Sent::InDoubt => {
                            self.queue.is_in_doubt = true;
                            self.notify(IN_DOUBT.to_owned(), NOTICE, false);
                        }
                        Sent::Refused(why) => self.notify(why, REFUSAL, false),
                    }
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Ending::Detached) };
                    let typed = self.matcher.feed(&chunk);
                    if self.read_only {
                        self.ignore(&typed.forward);
                    } else {
                        self.end_notice();
                        self.queue.add(typed.forward);
                    }
                    if typed.detach {
                        // Input from before the key is for the program, if it reads.
                        let rest = async {
                            if self.queue.is_sending {
                                self.queue.is_in_doubt |= sending.as_mut().await? != Sent::Arrived;
                                self.queue.is_sending = false;
                            }
                            if !self.queue.pending.is_empty() {
                                let rest = send_pending(link, &id, self.queue.pending.clone(), consent);
                                self.queue.is_in_doubt |= rest.await? != Sent::Arrived;
                                self.queue.pending.clear();
                            }
                            Ok::<_, CliError>(())
                        };
                        if let Ok(sent) = timeout(LAST_SEND, rest).await {
                            sent?;
                        }
                        return Ok(Ending::Detached);
                    }
                }
                resized = &mut resizing, if is_resizing => {
                    is_resizing = false;
                    match resized {
                        Err(ClientError::Refused(_)) => {}
                        resized => resized?,
                    }
                }
                _ = self.window.recv(), if self.resizes => {
                    resizing.set(resize_to_window(link, &id));
                    is_resizing = true;
                }
                number = self.signals.next() => return Ok(Ending::Signalled(number)),
            }
        }
    }

    /// Shows a line for a moment.
    fn notify(&self, text: String, time: Duration, ends_by_key: bool) {
        self.notices.send_replace(Some(Notice {
            text,
            until: Instant::now() + time,
            ends_by_key,
        }));
    }

    /// Takes a notice away that the person has seen.
    fn end_notice(&self) {
        self.notices.send_if_modified(|notice| {
            let ends = notice.as_ref().is_some_and(|notice| notice.ends_by_key);
            if ends {
                *notice = None;
            }
            ends
        });
    }

    /// Says that a key goes nowhere, and how to leave. What the tty reports of itself (the mouse, its
    /// focus) begins with ESC, and is no key to be answered.
    fn ignore(&self, typed: &[u8]) {
        match typed.first() {
            None | Some(0x1b) => {}
            Some(b'?') => self.notify(self.help.clone(), HELP, false),
            Some(_) => self.notify(self.greeting.clone(), NOTICE, false),
        }
    }
}

/// Gives the terminal the tty's size, and has it follow: of several viewers that do so, the terminal
/// has the size of the one that typed or resized last.
pub(super) async fn resize_to_window(link: &Link, id: &TerminalRef) -> Result<(), ClientError> {
    let Some(size) = tty::stdout_size() else {
        return Ok(());
    };
    link.attach(AttachTerminal {
        id: id.clone(),
        mode: Some(AttachMode::Type),
        cols: Some(size.cols),
        rows: Some(size.rows),
    })
    .await?;
    resize(link, id, size).await
}
