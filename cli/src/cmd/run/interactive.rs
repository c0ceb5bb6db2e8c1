//! A command that has this tty, as good as: its keys, its size, and the output as it comes.
//!
//! Unlike attach it takes no screen: what the command prints follows what was on the tty, and stays.

use termd_client::escape::escaped;
use termd_client::{Form, Link, OutputReader};
use termd_proto::terminal::ReadFrom;
use termd_proto::{Offset, TerminalRef};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::time::{Instant, timeout};

use super::Outcome;
use super::stream::copy;
use super::way_out::{WayOut, stuck};
use crate::attach::detach::{DetachKey, DetachMatcher};
use crate::attach::tty::ChangedTty;
use crate::attach::tty_filter::TtyFilter;
use crate::cmd::attach::ending::unless_lost;
use crate::cmd::attach::input_queue::{IN_DOUBT, InputQueue, send_pending};
use crate::cmd::attach::session::LAST_SEND;
use crate::cmd::attach::window::resize_to_window;
use crate::confirm::{Consent, is_agents};
use crate::error::CliError;
use crate::input::{Stdin, read_stdin};
use crate::output::{self, Pump};
use crate::signal_number::SIGHUP;
use crate::signals::{self, Signals};

/// Serves until the command has ended or the person leaves. The tty gets its modes back.
pub(super) async fn serve(
    link: &Link,
    id: &TerminalRef,
    raw: bool,
    detach_key: DetachKey,
    signals: &mut Signals,
) -> Result<Outcome, CliError> {
    // The keys of a person have agreed. Those of an agent are what an agent types.
    let consent = Consent::of_flag(!is_agents(link).await);
    let mut keyboard = Keyboard {
        link,
        id,
        consent,
        matcher: DetachMatcher::new(detach_key),
        way_out: WayOut::by(detach_key),
        lines: Pump::start()?,
        queue: InputQueue::default(),
        typed: read_stdin()?,
        window: signals::catch(SignalKind::window_change())?,
    };
    let mut filter = (!raw).then(TtyFilter::default);
    let raw_tty = ChangedTty::raw()?;
    let mut pump = Pump::start()?;
    let from = ReadFrom::Offset(Offset::ZERO);
    let reader = OutputReader::new(link, id.clone(), from).in_form(Form::Exact);
    let ending = tokio::select! {
        status = copy(reader, &mut pump, &mut filter) => {
            unless_lost(link, id, status).await.map(Outcome::Ended)
        }
        left = keyboard.serve() => left,
        number = signals.next() => Ok(Outcome::Signalled(number)),
    };
    if pump.finish_on_tty().await
        && let Some(filter) = &mut filter
    {
        output::print(&filter.reset())?;
    }
    drop(raw_tty);
    let is_lost = match &ending {
        // The terminal ended with its daemon.
        Ok(Outcome::Ended(None)) => keyboard.queue.is_lost(),
        Ok(_) | Err(_) => keyboard.queue.is_in_doubt(),
    };
    if is_lost {
        output::note(IN_DOUBT);
    }
    ending
}

/// The person's side: keys, and the size of the tty.
struct Keyboard<'a> {
    link: &'a Link,
    id: &'a TerminalRef,
    consent: Consent,
    matcher: DetachMatcher,
    way_out: WayOut,
    /// Lines of termctl's own, between those of the command.
    lines: Pump,
    queue: InputQueue,
    typed: Stdin,
    window: Signal,
}

impl Keyboard<'_> {
    /// Types until the person leaves. A command that has ended gets nothing, which is no error.
    async fn serve(&mut self) -> Result<Outcome, CliError> {
        let (link, id, consent) = (self.link, self.id, self.consent);
        let sending = send_pending(link, id, Vec::new(), consent);
        // At once, so that the terminal follows this tty.
        let resizing = resize_to_window(link, id);
        let hinting = stuck(link, id);
        tokio::pin!(sending, resizing, hinting);
        let (mut is_resizing, mut is_hinting) = (true, false);
        loop {
            if let Some(bytes) = self.queue.take() {
                sending.set(send_pending(link, id, bytes, consent));
            }
            tokio::select! {
                sent = &mut sending, if self.queue.is_sending() => {
                    if let Some(line) = self.queue.settle(sent?, Instant::now()) {
                        self.say(&line).await?;
                    }
                }
                is_stuck = &mut hinting, if is_hinting => {
                    is_hinting = false;
                    if is_stuck && let Some(line) = self.way_out.take() {
                        self.say(&line).await?;
                    }
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Outcome::Signalled(SIGHUP)) };
                    let typed = self.matcher.feed(&chunk);
                    self.queue.add(&typed.forward, Instant::now());
                    if !typed.has_key() {
                        if self.way_out.is_searched(&typed.forward) {
                            hinting.set(stuck(link, id));
                            is_hinting = true;
                        }
                        continue;
                    }
                    // Input from before the key is for the program, if it reads.
                    let queue = &mut self.queue;
                    let rest = async {
                        loop {
                            if let Some(bytes) = queue.take() {
                                sending.set(send_pending(link, id, bytes, consent));
                            }
                            if !queue.is_sending() {
                                return Ok::<_, CliError>(());
                            }
                            let sent = sending.as_mut().await?;
                            queue.settle(sent, Instant::now());
                        }
                    };
                    if !matches!(timeout(LAST_SEND, rest).await, Ok(Ok(()))) {
                        self.queue.doubt();
                    }
                    return Ok(Outcome::Detached);
                }
                resized = &mut resizing, if is_resizing => {
                    is_resizing = false;
                    // A command may have ended before its first resize.
                    let _ = resized;
                }
                _ = self.window.recv() => {
                    resizing.set(resize_to_window(link, id));
                    is_resizing = true;
                }
            }
        }
    }

    /// Puts a line of termctl's own between those of the command.
    async fn say(&mut self, line: &str) -> Result<(), CliError> {
        let line = format!("\r\n[{}]\r\n", escaped(line));
        self.lines.write(line.into_bytes()).await
    }
}
