//! The person's tty while the overview has it: raw, its alternate screen, and given back on every way out.

use std::num::NonZeroU8;

use rustix::process::Signal;
use termd_tui::canvas::{ENTER, LEAVE};
use termd_tui::top::{Leave, Top, Tty, TtyChange};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc;

use crate::attach::tty::{self, ChangedTty};
use crate::error::CliError;
use crate::input::read_stdin;
use crate::output::{self, Pump};
use crate::signals::{self, Signals};

const CONT: Signal = Signal::CONT;
const TSTP: Signal = Signal::TSTP;

/// Why the tty is given back.
pub(super) enum Given {
    /// A signal ends termctl.
    Signalled(NonZeroU8),
    Left(Leave),
}

/// A tty that is the overview's.
pub(super) struct TtyLease {
    raw: ChangedTty,
    pump: Pump,
}

impl TtyLease {
    /// Takes the tty. In the background this stops the process, until it is in the foreground.
    pub(super) fn take() -> Result<Self, CliError> {
        let raw = ChangedTty::raw()?;
        let pump = Pump::start()?;
        Ok(Self { raw, pump })
    }

    /// Shows the overview until it gives the tty back, which is then as it was.
    pub(super) async fn show(
        mut self,
        top: &mut Top,
        signals: &mut Signals,
    ) -> Result<Given, CliError> {
        let shown = self.serve(top, signals).await;
        if self.pump.finish_on_tty().await {
            output::print(LEAVE)?;
        }
        drop(self.raw);
        shown
    }

    async fn serve(&mut self, top: &mut Top, signals: &mut Signals) -> Result<Given, CliError> {
        self.pump.write(ENTER.to_vec()).await?;
        let mut stdin = read_stdin()?;
        let mut window = signals::catch(SignalKind::window_change())?;
        let mut continued = signals::catch(SignalKind::from_raw(CONT.as_raw()))?;
        let mut stop = signals::catch(SignalKind::from_raw(TSTP.as_raw()))?;
        let (tell, changes) = mpsc::channel(1);
        let size = || tty::stdout_size().map(|size| (size.cols, size.rows));
        let mut tty = Tty {
            typed: stdin.chunks(),
            frames: self.pump.sender(),
            changes,
        };
        // The first one begins the overview.
        let _ = tell.try_send(TtyChange::Resized(size()));
        let mut showing = std::pin::pin!(top.show(&mut tty));
        loop {
            tokio::select! {
                left = &mut showing => return Ok(Given::Left(left)),
                number = signals.next() => return Ok(Given::Signalled(number)),
                _ = stop.recv() => return Ok(Given::Left(Leave::Suspend)),
                _ = window.recv() => {
                    let _ = tell.try_send(TtyChange::Resized(size()));
                }
                // Somebody has stopped it, and the tty was another's meanwhile.
                _ = continued.recv() => {
                    ChangedTty::renew_raw()?;
                    output::print(ENTER)?;
                    let _ = tell.try_send(TtyChange::Overwritten);
                }
            }
        }
    }
}
