//! A command that has this tty, as good as: its keys, its size, and the output as it comes.
//!
//! Unlike attach it takes no screen: what the command prints follows what was on the tty, and stays.

use termd_client::{Form, Link, OutputReader};
use termd_proto::terminal::ReadFrom;
use termd_proto::{Offset, TerminalRef};
use tokio::signal::unix::{Signal, SignalKind};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Outcome;
use super::stream::copy;
use crate::arg_types::ControlKey;
use crate::attach::detach::DetachMatcher;
use crate::attach::tty::RawTty;
use crate::attach::tty_filter::TtyFilter;
use crate::cmd::attach::input_queue::{InputQueue, Sent, send_pending};
use crate::cmd::attach::{IN_DOUBT, LAST_SEND, LAST_WRITE, resize_to_window};
use crate::confirm::{Consent, is_agents};
use crate::error::CliError;
use crate::input::read_stdin;
use crate::output::{self, Pump};
use crate::signals::{self, SIGHUP, Signals};

/// Serves until the command has ended or the person leaves. The tty gets its modes back.
pub(super) async fn serve(
    link: &Link,
    id: &TerminalRef,
    raw: bool,
    detach_key: ControlKey,
    signals: &mut Signals,
) -> Result<Outcome, CliError> {
    // The keys of a person have agreed. Those of an agent are what an agent types.
    let consent = Consent::of_flag(!is_agents(link).await);
    let mut keyboard = Keyboard {
        link,
        id,
        consent,
        matcher: DetachMatcher::new(detach_key),
        queue: InputQueue::default(),
        typed: read_stdin()?,
        window: signals::catch(SignalKind::window_change())?,
    };
    let mut filter = (!raw).then(TtyFilter::default);
    let raw_tty = RawTty::enter()?;
    let mut pump = Pump::start()?;
    let from = ReadFrom::Offset(Offset::ZERO);
    let reader = OutputReader::new(link, id.clone(), from).in_form(Form::Exact);
    let ending = tokio::select! {
        status = copy(reader, &mut pump, &mut filter) => status.map(Outcome::Ended),
        left = keyboard.serve() => left,
        number = signals.next() => Ok(Outcome::Signalled(number)),
    };
    // A tty that takes no output any more only gets its modes back.
    if matches!(timeout(LAST_WRITE, pump.finish()).await, Ok(Ok(())))
        && let Some(filter) = &mut filter
    {
        output::print(&filter.reset())?;
    }
    drop(raw_tty);
    if keyboard.queue.is_in_doubt {
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
    queue: InputQueue,
    typed: mpsc::Receiver<Vec<u8>>,
    window: Signal,
}

impl Keyboard<'_> {
    /// Types until the person leaves. A command that has ended gets nothing, which is no error.
    async fn serve(&mut self) -> Result<Outcome, CliError> {
        let (link, id, consent) = (self.link, self.id, self.consent);
        let sending = send_pending(link, id, Vec::new(), consent);
        // At once, so that the terminal follows this tty.
        let resizing = resize_to_window(link, id);
        tokio::pin!(sending, resizing);
        let mut is_resizing = true;
        loop {
            if !self.queue.is_sending && !self.queue.pending.is_empty() {
                let bytes = std::mem::take(&mut self.queue.pending);
                sending.set(send_pending(link, id, bytes, consent));
                self.queue.is_sending = true;
            }
            tokio::select! {
                sent = &mut sending, if self.queue.is_sending => {
                    self.queue.is_in_doubt |= sent? == Sent::InDoubt;
                    self.queue.is_sending = false;
                }
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Outcome::Signalled(SIGHUP)) };
                    let typed = self.matcher.feed(&chunk);
                    self.queue.add(typed.forward);
                    if !typed.detach {
                        continue;
                    }
                    // Input from before the key is for the program, if it reads.
                    let rest = async {
                        if self.queue.is_sending {
                            sending.as_mut().await?;
                        }
                        let rest = std::mem::take(&mut self.queue.pending);
                        if !rest.is_empty() {
                            send_pending(link, id, rest, consent).await?;
                        }
                        Ok::<_, CliError>(())
                    };
                    self.queue.is_in_doubt |= !matches!(timeout(LAST_SEND, rest).await, Ok(Ok(())));
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
}
