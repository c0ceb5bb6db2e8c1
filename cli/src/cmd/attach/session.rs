//! The person's side of attach: keys for the program and for the line of keys, the size of the tty, signals.

use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use termd_client::escape::escaped;
use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::{TerminalInfo, TerminalState};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::cover::Cover;
use super::ending::{Ending, unless_lost};
use super::heartbeat::watch_daemon;
use super::input_queue::{InputQueue, Sent, send_pending};
use super::key_answer;
use super::scrollback::{self, Open, ScrollbackView};
use super::viewer::Viewer;
use super::window::resize_to_window;
use crate::args::AttachArgs;
use crate::attach::detach_keys::DetachKeys;
use crate::attach::key_line::{Input, KeyCommand, KeyLine};
use crate::attach::notice::Notices;
use crate::attach::tty_filter::TtyFilter;
use crate::cmd::replay::source::Source;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::input::{Stdin, read_stdin};
use crate::output::Pump;
use crate::signals::{self, Signals};

/// How long the program may take to read the input from before the detach key.
pub(in crate::cmd) const LAST_SEND: Duration = Duration::from_secs(1);

/// How long a notice is shown.
const NOTICE: Duration = Duration::from_secs(2);
/// How long it is shown why a key was not typed, or may not have arrived, and what a key of the line has done.
const ANSWER: Duration = Duration::from_secs(5);

/// Whether keys go to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Typed,
    /// The person only watches.
    Dropped,
}

/// Whose size the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizePolicy {
    /// It takes that of this tty, and follows it.
    Own,
    /// It keeps its own, and the tty shows a part.
    Follow,
    /// The same, because a full-screen program runs in a larger one.
    Spare,
}

/// One person at one terminal.
pub(super) struct Session<'a> {
    link: &'a Link,
    info: &'a TerminalInfo,
    id: TerminalRef,
    keys: Keys,
    is_running: bool,
    size: SizePolicy,
    detach_keys: DetachKeys,
    away: String,
    notices: Notices,
    cover: Cover,
    consent: Consent,
    key_line: KeyLine,
    pub(super) queue: InputQueue,
    typed: Stdin,
    window: Signal,
    signals: Signals,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        link: &'a Link,
        info: &'a TerminalInfo,
        args: &AttachArgs,
        size: SizePolicy,
        consent: Consent,
    ) -> Result<Self, CliError> {
        let hint = args.keys.detach_keys.hint();
        Ok(Self {
            link,
            info,
            id: TerminalRef::from(&info.id),
            keys: if args.read_only {
                Keys::Dropped
            } else {
                Keys::Typed
            },
            is_running: info.state == TerminalState::Running,
            size,
            detach_keys: args.keys.detach_keys,
            away: format!("the daemon does not answer; {hint}"),
            notices: Notices::new(),
            cover: Cover::new(),
            consent,
            key_line: KeyLine::new(args.keys.detach_keys),
            queue: InputQueue::default(),
            typed: read_stdin()?,
            window: signals::catch(SignalKind::window_change())?,
            signals: Signals::catch()?,
        })
    }

    /// What a person is told at entry, and again when a key goes nowhere. The keys come first: what does not
    /// fit is cut at the right.
    fn greeting(&self) -> String {
        let name = match &self.info.label {
            Some(label) => format!("{} ({label})", self.info.id),
            None => self.info.id.to_string(),
        };
        let only = match self.keys {
            Keys::Typed => "",
            Keys::Dropped => ", only watching",
        };
        let larger = match (self.size, self.detach_keys.second()) {
            (SizePolicy::Spare, Some(_)) => ", z gives it this size",
            (SizePolicy::Spare, None) => ", larger than this tty",
            (SizePolicy::Own | SizePolicy::Follow, _) => "",
        };
        format!("{}{larger}{only}: {name}", self.detach_keys.hint())
    }

    /// Serves until the person leaves or the command has ended.
    pub(super) async fn serve(
        &mut self,
        pump: &mut Pump,
        filter: &mut TtyFilter,
    ) -> Result<Ending, CliError> {
        let (link, id, consent) = (self.link, self.id.clone(), self.consent);
        if self.is_running {
            self.notices.show_until_key(self.greeting(), NOTICE);
        }
        let size = self.size;
        let (frames, source) = (pump.sender(), Source { link, id: &id });
        let viewer = self.viewer(pump, filter)?;
        let shown = async {
            if size == SizePolicy::Own {
                // First, so that the first picture has the right size.
                resize_to_window(link, &id).await?;
            }
            viewer.show_output().await
        };
        tokio::pin!(shown);
        let (notices, away) = (self.notices.clone(), self.away.clone());
        let sending = send_pending(link, &id, Vec::new(), consent);
        let resizing = resize_to_window(link, &id);
        let silence = watch_daemon(link, &id, &notices, &away);
        tokio::pin!(sending, resizing, silence);
        let mut is_resizing = false;
        // What a key of the line has asked for: the line that a person is told of it.
        let mut asked: Option<LocalBoxFuture<'_, String>> = None;
        let mut scrollback = None;
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
                        self.notices.show(line, ANSWER);
                    }
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Ending::Detached) };
                    for input in self.key_line.feed(&chunk) {
                        let input = self.beside_scrollback(&mut scrollback, input);
                        let Some(command) = input.and_then(|input| self.take(input)) else { continue };
                        match command {
                            KeyCommand::Detach | KeyCommand::List => {
                                let send = |bytes| send_pending(link, &id, bytes, consent);
                                self.send_last(sending.as_mut(), send).await?;
                                return Ok(Ending::of_key(command));
                            }
                            KeyCommand::TakeSize => {
                                self.size = SizePolicy::Own;
                                resizing.set(resize_to_window(link, &id));
                                is_resizing = true;
                            }
                            KeyCommand::ShowViewers => {
                                asked = Some(key_answer::viewers(link, &id).boxed_local());
                            }
                            KeyCommand::Screenshot => {
                                asked = Some(key_answer::screenshot(link, self.info).boxed_local());
                            }
                            KeyCommand::Scrollback => {
                                scrollback.get_or_insert_with(|| self.open_scrollback(source, &frames));
                            }
                            KeyCommand::ScrollbackUp => {
                                let open = || self.open_scrollback(source, &frames);
                                scrollback.get_or_insert_with(open).page_up();
                            }
                            KeyCommand::TypeKey | KeyCommand::ToggleReadOnly => {}
                        }
                    }
                }
                shown = scrollback::serve(&mut scrollback) => shown?,
                line = answer(&mut asked) => {
                    asked = None;
                    self.notices.show(line, ANSWER);
                }
                resized = &mut resizing, if is_resizing => {
                    is_resizing = false;
                    self.settle_resize(resized)?;
                }
                _ = self.window.recv() => {
                    scrollback.iter_mut().for_each(ScrollbackView::resized);
                    if self.size == SizePolicy::Own && self.is_running {
                        resizing.set(resize_to_window(link, &id));
                        is_resizing = true;
                    }
                }
                number = self.signals.next() => return Ok(Ending::Signalled(number)),
            }
        }
    }

    fn viewer<'v>(
        &self,
        pump: &'v mut Pump,
        filter: &'v mut TtyFilter,
    ) -> Result<Viewer<'v>, CliError>
    where
        'a: 'v,
    {
        Ok(Viewer {
            link: self.link,
            id: self.id.clone(),
            pump,
            filter,
            takes_screen: self.is_running,
            notices: self.notices.subscribe(),
            cover: self.cover.clone(),
            window: signals::catch(SignalKind::window_change())?,
            title: String::new(),
        })
    }

    /// Sends what was typed before the key that detaches. A daemon that does not answer is not waited for.
    async fn send_last<F>(
        &mut self,
        sending: Pin<&mut F>,
        send: impl Fn(Vec<u8>) -> F,
    ) -> Result<(), CliError>
    where
        F: Future<Output = Result<Sent, CliError>>,
    {
        let is_away = self.notices.shows(&self.away);
        let patience = if is_away { Duration::ZERO } else { LAST_SEND };
        let rest = send_rest(&mut self.queue, sending, send);
        timeout(patience, rest).await.unwrap_or(Ok(()))
    }

    fn open_scrollback<'s>(
        &self,
        source: Source<'s>,
        frames: &mpsc::Sender<Vec<u8>>,
    ) -> ScrollbackView<'s> {
        let notices = self.notices.subscribe();
        ScrollbackView::open(source, frames.clone(), notices, self.cover.clone())
    }

    /// A terminal that refuses a size keeps its own, and the person is told why.
    fn settle_resize(&self, resized: Result<(), ClientError>) -> Result<(), ClientError> {
        match resized {
            Err(ClientError::Refused(refusal)) => {
                self.notices.show(escaped(refusal.message()), ANSWER);
                Ok(())
            }
            resized => resized,
        }
    }

    /// Gives keys to the scrollback while it is open. Returns what is not for it.
    fn beside_scrollback(
        &self,
        scrollback: &mut Option<ScrollbackView<'_>>,
        input: Input,
    ) -> Option<Input> {
        match (&mut *scrollback, input) {
            (Some(view), Input::Typed(bytes)) => {
                if view.typed(&bytes) == Open::Closed {
                    *scrollback = None;
                    self.cover.remove();
                }
                None
            }
            // The key would go to the program, which is not to be seen now.
            (Some(_), Input::Command(KeyCommand::TypeKey)) => Some(Input::Closed),
            (_, input) => Some(input),
        }
    }

    /// Does what needs no daemon. Returns what a key of the line asks for.
    fn take(&mut self, input: Input) -> Option<KeyCommand> {
        let command = match input {
            Input::Typed(bytes) => {
                self.type_keys(&bytes);
                return None;
            }
            Input::Opened => {
                self.notices.ask(self.key_line.text());
                return None;
            }
            Input::Closed => {
                self.notices.answered();
                return None;
            }
            Input::Command(command) => command,
        };
        self.notices.answered();
        match command {
            KeyCommand::TypeKey => {
                let key = self.detach_keys.first().byte();
                self.type_keys(key.as_slice());
            }
            KeyCommand::ToggleReadOnly => {
                self.keys = match self.keys {
                    Keys::Typed => Keys::Dropped,
                    Keys::Dropped => Keys::Typed,
                };
                self.notices.show_until_key(
                    match self.keys {
                        Keys::Typed => "keys go to the program again".to_owned(),
                        Keys::Dropped => self.greeting(),
                    },
                    NOTICE,
                );
            }
            KeyCommand::Detach
            | KeyCommand::List
            | KeyCommand::TakeSize
            | KeyCommand::ShowViewers
            | KeyCommand::Screenshot
            | KeyCommand::Scrollback
            | KeyCommand::ScrollbackUp => {}
        }
        Some(command)
    }

    /// Keys for the program. Where they go nowhere, a line says so, and how to leave. What the tty reports of
    /// itself (the mouse, its focus) begins with ESC, and is no key to be answered.
    fn type_keys(&mut self, typed: &[u8]) {
        match (self.keys, typed.first()) {
            (Keys::Typed, _) => {
                self.notices.key_pressed();
                self.queue.add(typed, Instant::now());
            }
            (Keys::Dropped, None | Some(0x1b)) => {}
            (Keys::Dropped, Some(_)) => self.notices.show(self.greeting(), NOTICE),
        }
    }
}

/// Sends what was typed before the key that detaches: it is for the program, if that reads.
async fn send_rest<F>(
    queue: &mut InputQueue,
    mut sending: Pin<&mut F>,
    send: impl Fn(Vec<u8>) -> F,
) -> Result<(), CliError>
where
    F: Future<Output = Result<Sent, CliError>>,
{
    loop {
        if let Some(bytes) = queue.take() {
            sending.set(send(bytes));
        }
        if !queue.is_sending() {
            return Ok(());
        }
        let sent = sending.as_mut().await?;
        queue.settle(sent, Instant::now());
    }
}

/// What was asked for; never, where nothing was.
async fn answer(asked: &mut Option<LocalBoxFuture<'_, String>>) -> String {
    match asked {
        Some(asked) => asked.await,
        None => std::future::pending().await,
    }
}
