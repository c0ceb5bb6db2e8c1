//! `termctl top`: all terminals at a person's tty. What it shows and does is termd-tui's; here are the tty,
//! the signals, and what it leaves to other verbs.

mod job_control;
mod tty_lease;

use std::env;
use std::num::NonZeroU8;
use std::time::Duration;

use termd_client::Link;
use termd_proto::terminal::TerminalInfo;
use termd_proto::{TerminalId, TerminalRef};
use termd_tui::canvas::Colors;
use termd_tui::top::surroundings::Surroundings;
use termd_tui::top::{Leave, Top};
use tokio::time::timeout;

use self::job_control::{has_job_control, suspend};
use self::tty_lease::{Given, TtyLease};
use super::Context;
use super::attach::attached::attach_quietly;
use super::attach::input_queue::IN_DOUBT;
use super::own_terminal::own_id;
use super::replay;
use super::show::show;
use crate::args::{AttachArgs, AttachSizeArgs, DetachKeysArgs, ReplayArgs, Speed, TopArgs};
use crate::attach::tty;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::output_position::OutputPosition;
use crate::signals::Signals;
use crate::usage_error::UsageError;

/// How long an answer may take before a person is told.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pauses of a replay are shortened to this, as of `termctl replay`.
const REPLAY_IDLE: Duration = Duration::from_secs(2);

pub(super) async fn run(context: Context, args: TopArgs) -> Result<ExitCode, CliError> {
    if !tty::is_interactive() {
        return Err(UsageError::TopNeedsTty.into());
    }
    let link = context.open().await?;
    let mut overview = Overview::start(context, link, None)?;
    loop {
        let said = match overview.show().await? {
            Chosen::Signalled(number) => return Ok(ExitCode::of_signal(number)),
            Chosen::Quit => return Ok(ExitCode::OK),
            Chosen::Attach(id) => {
                let id = TerminalRef::from(&id);
                let found = tokio::select! {
                    found = find(context, &id) => found,
                    number = overview.signals.next() => return Ok(ExitCode::of_signal(number)),
                };
                match found {
                    Ok((link, info)) => attach_to(&link, &info, args.keys).await,
                    Err(error) => Err(error),
                }
            }
        };
        overview.say(said);
    }
}

/// Shows the overview until the person chooses a terminal, or leaves it. `here`: the one that they come from.
pub(super) async fn choose(
    context: Context,
    here: Option<&TerminalInfo>,
) -> Result<Chosen, CliError> {
    let link = context.open().await?;
    let mut overview = Overview::start(context, link, here.map(|here| here.id.clone()))?;
    overview.say(Ok(here.map(|here| format!("q goes back to {}", name(here)))));
    overview.show().await
}

/// How a person leaves the overview.
#[derive(Debug)]
pub(super) enum Chosen {
    Attach(TerminalId),
    Quit,
    /// A signal ends termctl.
    Signalled(NonZeroU8),
}

/// The overview, and what ends it.
struct Overview {
    context: Context,
    top: Top,
    signals: Signals,
}

impl Overview {
    fn start(context: Context, link: Link, here: Option<TerminalId>) -> Result<Self, CliError> {
        let colors = if context.display.has_color {
            Colors::Shown
        } else {
            Colors::Hidden
        };
        Ok(Self {
            context,
            top: Top::start(link, surroundings(here), colors),
            // Caught for good: what comes while another verb has the tty ends that one.
            signals: Signals::catch()?,
        })
    }

    /// Shows it, and does what it leaves to other verbs, but for attach.
    async fn show(&mut self) -> Result<Chosen, CliError> {
        loop {
            let shown = TtyLease::take()?.show(&mut self.top, &mut self.signals);
            let done = match shown.await? {
                Given::Signalled(number) => return Ok(Chosen::Signalled(number)),
                Given::Left(Leave::Quit) => return Ok(Chosen::Quit),
                Given::Left(Leave::Attach(id)) => return Ok(Chosen::Attach(id)),
                Given::Left(Leave::Suspend) if !has_job_control() => {
                    self.top
                        .say("no shell here would continue it: it is not suspended");
                    continue;
                }
                Given::Left(Leave::Suspend) => suspend(),
                Given::Left(Leave::Replay(id, at)) => {
                    let args = ReplayArgs {
                        terminal: id.to_string(),
                        command: None,
                        from: None,
                        to: None,
                        at: at.map(OutputPosition::Offset),
                        idle: REPLAY_IDLE,
                        speed: Speed(1.0),
                    };
                    replay::run(self.context, &args).await.map(drop)
                }
            };
            self.say(done.map(|()| None));
        }
    }

    fn say(&mut self, said: Result<Option<String>, CliError>) {
        match said {
            Ok(said) => said.iter().for_each(|line| self.top.say(line)),
            Err(error) => self.top.say(&error.to_string()),
        }
    }
}

fn surroundings(here: Option<TerminalId>) -> Surroundings {
    let cwd = env::current_dir().ok();
    Surroundings {
        home: env::var("HOME").ok().filter(|home| !home.is_empty()),
        own: own_id().and_then(|own| own.parse().ok()),
        here,
        cwd: cwd.and_then(|cwd| cwd.into_os_string().into_string().ok()),
    }
}

/// A link, and what is known of a terminal. The tty is its own meanwhile: a person who waits is told so.
async fn find(context: Context, id: &TerminalRef) -> Result<(Link, TerminalInfo), CliError> {
    let find = async {
        let link = context.open().await?;
        let info = show(&link, id).await?;
        Ok((link, info))
    };
    tokio::pin!(find);
    if let Ok(found) = timeout(PATIENCE, &mut find).await {
        return found;
    }
    output::note("the daemon does not answer; ctrl-c leaves");
    find.await
}

/// Attaches until the person detaches or the command has ended. Returns how that ended.
async fn attach_to(
    link: &Link,
    info: &TerminalInfo,
    keys: DetachKeysArgs,
) -> Result<Option<String>, CliError> {
    let args = AttachArgs {
        terminal: None,
        read_only: false,
        size: AttachSizeArgs::default(),
        keys,
    };
    let attached = attach_quietly(link, info, &args).await?;
    let doubt = attached.is_in_doubt.then(|| format!("; {IN_DOUBT}"));
    let (how, doubt) = (attached.ending?.line(), doubt.unwrap_or_default());
    Ok(Some(format!("{}: {how}{doubt}", name(info))))
}

fn name(info: &TerminalInfo) -> String {
    match &info.label {
        Some(label) => label.to_string(),
        None => info.id.to_string(),
    }
}
