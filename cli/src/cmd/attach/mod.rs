//! `termctl attach`: a person's tty becomes the terminal's keyboard and screen.
//!
//! The tty gets its modes and what was on it back on every way out. Its alternate screen shows the
//! terminal's screen at once, and then the output as it comes, without what does more than draw
//! ([`viewer`]). Typed text is sent, and kept nowhere.

pub(super) mod ending;
mod heartbeat;
pub(super) mod input_queue;
mod viewer;

use std::env;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::{
    AttachMode, AttachTerminal, ListScope, Stdio, TerminalInfo, TerminalState,
};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use self::ending::{Ending, unless_lost};
use self::heartbeat::watch_daemon;
use self::input_queue::{IN_DOUBT, InputQueue, send_pending};
use self::viewer::Viewer;
use super::Context;
use super::list::list;
use super::resize::resize;
use super::show::show;
use crate::args::AttachArgs;
use crate::attach::detach::DetachMatcher;
use crate::attach::notice::Notices;
use crate::attach::tty::{self, ChangedTty};
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

/// How long a notice is shown.
const NOTICE: Duration = Duration::from_secs(2);
/// How long it is shown why a key was not typed, or may not have arrived.
const REFUSAL: Duration = Duration::from_secs(5);
/// How long help is shown.
const HELP: Duration = Duration::from_secs(6);

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
pub(super) fn is_own(info: &TerminalInfo) -> bool {
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
    let raw_tty = ChangedTty::raw()?;
    let mut pump = Pump::start()?;
    let mut session = Session::new(link, info, args, consent)?;
    let ending = Box::pin(session.serve(&mut pump, &mut filter)).await;
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
    if context.json {
        output::print_json(&serde_json::json!({
            "id": info.id,
            "detached": ending.is_detached(),
            "exit_status": ending.status(),
        }))?;
    } else {
        output::status_line(&ending.line());
    }
    Ok(ending.exit_code())
}

/// What a person is told at entry, and again when a key goes nowhere. The key comes first: what does
/// not fit is cut at the right.
fn greeting(info: &TerminalInfo, args: &AttachArgs) -> String {
    let name = match &info.label {
        Some(label) => format!("{} ({label})", info.id),
        None => info.id.to_string(),
    };
    let (help, only) = if args.read_only {
        (", ? helps", ", only watching")
    } else {
        ("", "")
    };
    format!("{}{help}{only}: {name}", args.detach_key.hint())
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
    away: String,
    notices: Notices,
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
                "{}; other keys go nowhere: to type, attach without --read-only",
                args.detach_key.hint()
            ),
            away: format!("the daemon does not answer; {}", args.detach_key.hint()),
            notices: Notices::new(),
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
            self.notices.show_until_key(self.greeting.clone(), NOTICE);
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
        let silence = watch_daemon(link, &id, &self.notices, &self.away);
        tokio::pin!(sending, resizing, silence);
        let mut is_resizing = false;
        loop {
            if let Some(bytes) = self.queue.take() {
                sending.set(send_pending(link, &id, bytes, consent));
            }
            tokio::select! {
                status = &mut shown => {
                    let status = unless_lost(link, &id, status).await?;
                    return Ok(Ending::of_terminal(link, &id, status).await);
                }
                error = &mut silence => return Err(error.into()),
                sent = &mut sending, if self.queue.is_sending() => {
                    if let Some(line) = self.queue.settle(sent?, Instant::now()) {
                        self.notices.show(line, REFUSAL);
                    }
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Ending::Detached) };
                    let typed = self.matcher.feed(&chunk);
                    if self.read_only {
                        self.ignore(&typed.forward);
                    } else {
                        self.notices.key_pressed();
                        self.queue.add(&typed.forward, Instant::now());
                    }
                    if typed.detach {
                        // Input from before the key is for the program, if it reads.
                        let queue = &mut self.queue;
                        let rest = async {
                            loop {
                                if let Some(bytes) = queue.take() {
                                    sending.set(send_pending(link, &id, bytes, consent));
                                }
                                if !queue.is_sending() {
                                    return Ok::<_, CliError>(());
                                }
                                let sent = sending.as_mut().await?;
                                queue.settle(sent, Instant::now());
                            }
                        };
                        // A daemon that does not answer is not waited for.
                        let is_away = self.notices.shows(&self.away);
                        let patience = if is_away { Duration::ZERO } else { LAST_SEND };
                        if let Ok(sent) = timeout(patience, rest).await {
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

    /// Says that a key goes nowhere, and how to leave. What the tty reports of itself (the mouse, its
    /// focus) begins with ESC, and is no key to be answered.
    fn ignore(&self, typed: &[u8]) {
        match typed.first() {
            None | Some(0x1b) => {}
            Some(b'?') => self.notices.show(self.help.clone(), HELP),
            Some(_) => self.notices.show(self.greeting.clone(), NOTICE),
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
