//! `termctl top`: all terminals at a person's tty. What it shows and does is termd-tui's; here are the tty,
//! the signals, and what it leaves to other verbs.

mod tty_lease;

use std::env;
use std::time::Duration;

use rustix::process::{Signal as Stop, getpid, kill_process};
use termd_proto::TerminalRef;
use termd_proto::terminal::TerminalInfo;
use termd_tui::canvas::Colors;
use termd_tui::top::surroundings::Surroundings;
use termd_tui::top::{Leave, Top};

use self::tty_lease::{Given, TtyLease};
use super::Context;
use super::attach;
use super::attach::input_queue::IN_DOUBT;
use super::replay;
use super::show::show;
use crate::args::{AttachArgs, AttachSizeArgs, DetachKeysArgs, ReplayArgs, Speed, TopArgs};
use crate::attach::tty;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output_position::OutputPosition;
use crate::signals::Signals;
use crate::usage_error::UsageError;

/// The pauses of a replay are shortened to this, as of `termctl replay`.
const REPLAY_IDLE: Duration = Duration::from_secs(2);

pub(super) async fn run(context: Context, args: TopArgs) -> Result<ExitCode, CliError> {
    if !tty::is_interactive() {
        return Err(UsageError::TopNeedsTty.into());
    }
    let link = context.open().await?;
    let colors = if context.display.has_color {
        Colors::Shown
    } else {
        Colors::Hidden
    };
    let mut top = Top::start(link, surroundings(), colors);
    // Caught for good: what comes while another verb has the tty ends that one.
    let mut signals = Signals::catch()?;
    loop {
        let given = TtyLease::take()?.show(&mut top, &mut signals).await?;
        let said = match given {
            Given::Signalled(number) => return Ok(ExitCode::of_signal(number)),
            Given::Left(Leave::Quit) => return Ok(ExitCode::OK),
            Given::Left(Leave::Suspend) => suspend().map(|()| None),
            Given::Left(Leave::Attach(id)) => {
                let id = TerminalRef::from(&id);
                attach_to(context, &id, args.keys).await
            }
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
                replay::run(context, &args).await.map(|_| None)
            }
        };
        match said {
            Ok(said) => said.iter().for_each(|line| top.say(line)),
            Err(error) => top.say(&error.to_string()),
        }
    }
}

fn surroundings() -> Surroundings {
    let own = env::var("TERMD_TERMINAL").ok();
    let cwd = env::current_dir().ok();
    Surroundings {
        home: env::var("HOME").ok().filter(|home| !home.is_empty()),
        own: own.and_then(|own| own.parse().ok()),
        cwd: cwd.and_then(|cwd| cwd.into_os_string().into_string().ok()),
    }
}

/// Attaches until the person detaches or the command has ended. Returns how that ended.
async fn attach_to(
    context: Context,
    id: &TerminalRef,
    keys: DetachKeysArgs,
) -> Result<Option<String>, CliError> {
    let link = context.open().await?;
    let info = show(&link, id).await?;
    let args = AttachArgs {
        terminal: None,
        read_only: false,
        size: AttachSizeArgs::default(),
        keys,
    };
    let attached = attach::attach_quietly(&link, &info, &args).await?;
    let doubt = attached.is_in_doubt.then(|| format!("; {IN_DOUBT}"));
    let (how, doubt) = (attached.ending?.line(), doubt.unwrap_or_default());
    Ok(Some(format!("{}: {how}{doubt}", name(&info))))
}

fn name(info: &TerminalInfo) -> String {
    match &info.label {
        Some(label) => label.to_string(),
        None => info.id.to_string(),
    }
}

/// Stops this process until the shell continues it.
fn suspend() -> Result<(), CliError> {
    let stopped = kill_process(getpid(), Stop::STOP);
    stopped.map_err(|error| CliError::Io("cannot suspend", error.into()))
}
