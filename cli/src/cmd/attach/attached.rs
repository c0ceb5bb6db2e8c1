//! One attachment of a person's tty, from its beginning to its end.

use termd_client::Link;
use termd_proto::TerminalRef;
use termd_proto::screen::{ReadScreen, ScreenFormat};
use termd_proto::terminal::{AttachMode, AttachTerminal, TerminalInfo, TerminalState};

use super::ending::Ending;
use super::session::{Session, SizePolicy};
use crate::args::AttachArgs;
use crate::attach::tty::{self, ChangedTty};
use crate::attach::tty_filter::TtyFilter;
use crate::confirm::{Consent, is_agents};
use crate::error::CliError;
use crate::output::{self, Pump};

/// Attaches to a terminal. Returns how that ended, and whether typed input may not have arrived.
pub(in crate::cmd) async fn attach_quietly(
    link: &Link,
    info: &TerminalInfo,
    args: &AttachArgs,
) -> Result<Attached, CliError> {
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
    let size = size_policy(link, info, args).await?;
    let mut filter = TtyFilter::default();
    // From here on nothing is awaited but beside the detach key and signals.
    let raw_tty = ChangedTty::raw()?;
    let mut pump = Pump::start()?;
    let mut session = Session::new(link, info, args, size, consent)?;
    let ending = Box::pin(session.serve(&mut pump, &mut filter)).await;
    if pump.finish_on_tty().await {
        output::print(&filter.reset())?;
    }
    drop(raw_tty);
    let is_in_doubt = session.queue.is_lost_at(&ending);
    Ok(Attached {
        ending,
        is_in_doubt,
    })
}

/// What came of attaching.
pub(in crate::cmd) struct Attached {
    pub(in crate::cmd) ending: Result<Ending, CliError>,
    /// Whether some of what was typed may not have arrived.
    pub(in crate::cmd) is_in_doubt: bool,
}

/// Whose size the terminal gets. One in which a full-screen program runs is not made smaller without being
/// asked: that redraws what others look at.
async fn size_policy(
    link: &Link,
    info: &TerminalInfo,
    args: &AttachArgs,
) -> Result<SizePolicy, CliError> {
    let is_running = info.state == TerminalState::Running;
    if args.read_only || args.size.follow_size || !is_running {
        return Ok(SizePolicy::Follow);
    }
    let is_smaller =
        tty::stdout_size().is_some_and(|size| size.cols < info.cols || size.rows < info.rows);
    if args.size.own_size || !is_smaller {
        return Ok(SizePolicy::Own);
    }
    let look = ReadScreen {
        format: Some(ScreenFormat::Text),
        ..ReadScreen::of(TerminalRef::from(&info.id))
    };
    let screen = link.repeat(&look).await?.screen;
    Ok(if screen.alternate {
        SizePolicy::Spare
    } else {
        SizePolicy::Own
    })
}
