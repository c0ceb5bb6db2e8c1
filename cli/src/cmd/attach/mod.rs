//! `termctl attach`: a person's tty becomes the terminal's keyboard and screen.
//!
//! The tty gets its modes and what was on it back on every way out. Its alternate screen shows the
//! terminal's screen at once, and then the output as it comes, without what does more than draw
//! ([`viewer`]). Typed text is sent, and kept nowhere.

pub(super) mod attached;
mod cover;
pub(super) mod ending;
mod heartbeat;
pub(super) mod input_queue;
mod key_answer;
mod scrollback;
pub(super) mod session;
mod viewer;
pub(super) mod window;

use std::io::{self, IsTerminal as _};

use termd_client::Link;
use termd_proto::terminal::{ListScope, Stdio, TerminalInfo, TerminalState};
use termd_proto::{Tags, TerminalRef};

use self::attached::attach_quietly;
use self::ending::Ending;
use self::input_queue::IN_DOUBT;
use super::Context;
use super::list::list;
use super::own_terminal::is_own;
use super::show::show;
use super::top::{self, Chosen};
use crate::args::AttachArgs;
use crate::attach::tty;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// The terminal that was used last, as `cd -` goes to the last directory.
const LAST: &str = "-";

pub(super) async fn run(context: Context, args: AttachArgs) -> Result<ExitCode, CliError> {
    if !tty::is_interactive() {
        return Err(UsageError::NoTty.into());
    }
    let link = context.open().await?;
    let info = match args.terminal.as_deref() {
        Some(LAST) => used_last(&link).await?,
        Some(terminal) => show(&link, &TerminalRef(terminal.to_owned())).await?,
        None => match only_one(&link).await? {
            Some(info) => info,
            None => match choose(context, &link, None).await? {
                Choice::Terminal(info) => *info,
                Choice::Left(code) => return Ok(code),
            },
        },
    };
    if is_own(&info) {
        return Err(UsageError::OwnTerminal(info.id).into());
    }
    attach(context, &link, &info, &args).await
}

/// What a person has chosen on the list of terminals.
enum Choice {
    Terminal(Box<TerminalInfo>),
    Left(ExitCode),
}

/// Offers the list of terminals. Who leaves it stays in the terminal that they come from.
async fn choose(
    context: Context,
    link: &Link,
    here: Option<&TerminalInfo>,
) -> Result<Choice, CliError> {
    let chosen = top::choose(context, here).await?;
    Ok(match (chosen, here) {
        (Chosen::Signalled(number), _) => Choice::Left(ExitCode::of_signal(number)),
        (Chosen::Attach(id), _) => {
            Choice::Terminal(Box::new(show(link, &TerminalRef::from(&id)).await?))
        }
        (Chosen::Quit, Some(here)) => Choice::Terminal(Box::new(here.clone())),
        (Chosen::Quit, None) => Choice::Left(ExitCode::OK),
    })
}

/// The terminal that one can attach to, where there is exactly one.
async fn only_one(link: &Link) -> Result<Option<TerminalInfo>, CliError> {
    let mut all = list(link, ListScope::Running, &Tags::default()).await?;
    all.retain(|info| info.stdio == Stdio::Pty && !is_own(info));
    if all.is_empty() {
        return Err(CliError::NothingToAttach);
    }
    let first = all.pop();
    Ok(first.filter(|_| all.is_empty()))
}

/// The terminal that a person has seen last, of those that a person has opened and whose command runs. One that
/// somebody is attached to they see already.
async fn used_last(link: &Link) -> Result<TerminalInfo, CliError> {
    let running = list(link, ListScope::Running, &Tags::default())
        .await?
        .into_iter();
    let persons = running
        .filter(|info| info.owner.agent().is_none() && info.stdio == Stdio::Pty && !is_own(info));
    let last = persons.max_by_key(|info| {
        let seen_at_ms = info.seen_at_ms.unwrap_or(info.created_at_ms);
        (info.viewers.is_empty(), seen_at_ms, info.created_at_ms)
    });
    last.ok_or(CliError::NothingToAttach)
}

/// Attaches to a terminal, and to others that the person goes to from there. Says how that ended.
pub(super) async fn attach(
    context: Context,
    link: &Link,
    info: &TerminalInfo,
    args: &AttachArgs,
) -> Result<ExitCode, CliError> {
    let mut here = Box::new(info.clone());
    let mut attached = attach_quietly(link, &here, args).await?;
    while matches!(attached.ending, Ok(Ending::Listed)) {
        if attached.is_in_doubt {
            output::note(IN_DOUBT);
        }
        here = match choose(context, link, Some(&here)).await? {
            Choice::Terminal(next) => next,
            Choice::Left(code) => return Ok(code),
        };
        attached = attach_quietly(link, &here, args).await?;
    }
    let info = here.as_ref();
    // The last picture of a command that had exited stays. Its cursor may be anywhere.
    if info.state != TerminalState::Running && !context.json && io::stderr().is_terminal() {
        output::print(b"\r\n\x1b[J")?;
    }
    if attached.is_in_doubt {
        output::note(IN_DOUBT);
    }
    let ending = attached.ending?;
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
