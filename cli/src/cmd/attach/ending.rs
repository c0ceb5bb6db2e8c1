//! How an attached session ends, and what the person is told of it.

use std::num::NonZeroU8;
use std::time::Duration;

use termd_client::Link;
use termd_client::refusal::kind_of;
use termd_proto::audit::{AuditFilter, ListAudit};
use termd_proto::terminal::{ExitStatus, TerminalInfo, TerminalState};
use termd_proto::{ErrorKind, TerminalRef};
use tokio::time::timeout;

use crate::attach::key_line::KeyCommand;
use crate::cmd::show::{close_cause, show};
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// What is said of a terminal whose exit nobody has seen.
pub(in crate::cmd) const LOST: &str =
    "lost: the daemon that ran it was killed, or the machine went down";

/// How long termctl looks for who has closed the terminal.
const LAST_LOOK: Duration = Duration::from_secs(1);
/// The records among which that of the close is: a few may be written after it.
const NEWEST_RECORDS: u32 = 20;

/// Why the session ended.
#[derive(Debug)]
pub(in crate::cmd) enum Ending {
    Detached,
    /// The person wants the list of terminals.
    Listed,
    /// A signal ended termctl.
    Signalled(NonZeroU8),
    /// The command has ended.
    Exited(ExitStatus),
    /// Somebody has closed the terminal: who, where that is known.
    Closed(Option<ExitStatus>, Option<String>),
    /// The terminal ended with the daemon that ran it.
    Lost,
}

impl Ending {
    /// The ending of a terminal whose output has ended with this status.
    pub(in crate::cmd) async fn of_terminal(
        link: &Link,
        id: &TerminalRef,
        status: Option<ExitStatus>,
    ) -> Self {
        let look = async {
            let info = show(link, id).await.ok()?;
            let is_closed = info.state == TerminalState::Closed;
            // A terminal that is lost may be closed later, which is not what ended it.
            Some(if is_lost(&info) {
                Self::Lost
            } else if is_closed {
                let by = closer(link, &info).await;
                Self::Closed(status.clone().or(info.exit_status), by)
            } else {
                Self::Exited(info.exit_status?)
            })
        };
        match (timeout(LAST_LOOK, look).await, status) {
            (Ok(Some(ending)), _) => ending,
            (_, Some(status)) => Self::Exited(status),
            (_, None) => Self::Lost,
        }
    }

    /// The ending by a key of the line.
    pub(super) fn of_key(command: KeyCommand) -> Self {
        match command {
            KeyCommand::List => Self::Listed,
            _ => Self::Detached,
        }
    }

    /// The exit status of the command, where it has ended and that is known.
    pub(in crate::cmd) fn status(&self) -> Option<&ExitStatus> {
        match self {
            Self::Exited(status) | Self::Closed(Some(status), _) => Some(status),
            Self::Detached
            | Self::Listed
            | Self::Signalled(_)
            | Self::Closed(None, _)
            | Self::Lost => None,
        }
    }

    pub(in crate::cmd) fn is_detached(&self) -> bool {
        matches!(self, Self::Detached | Self::Listed | Self::Signalled(_))
    }

    /// The line for a person.
    pub(in crate::cmd) fn line(&self) -> String {
        match self {
            Self::Detached | Self::Listed | Self::Signalled(_) => "detached".to_owned(),
            Self::Exited(status) => exit_line(status),
            Self::Closed(status, by) => {
                let by = by.as_ref().map(|by| format!(" by {by}"));
                let exit = (status.as_ref()).map(|status| format!(", {}", exit_line(status)));
                let (by, exit) = (by.unwrap_or_default(), exit.unwrap_or_default());
                format!("closed{by}{exit}")
            }
            Self::Lost => LOST.to_owned(),
        }
    }

    pub(in crate::cmd) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Detached | Self::Listed => ExitCode::OK,
            Self::Signalled(number) => ExitCode::of_signal(*number),
            Self::Exited(status) | Self::Closed(Some(status), _) => ExitCode::of_command(status),
            Self::Closed(None, _) | Self::Lost => ExitCode::FAILED,
        }
    }
}

/// The exit status at the end of a terminal's output. A daemon that has just started may refuse to read
/// on: the one before was killed before it had stored the last of the output, or the terminal at all.
pub(in crate::cmd) async fn unless_lost(
    link: &Link,
    id: &TerminalRef,
    status: Result<Option<ExitStatus>, CliError>,
) -> Result<Option<ExitStatus>, CliError> {
    match status {
        Err(error) if error.refusal().is_some() => match show(link, id).await {
            Ok(info) if is_lost(&info) => Ok(None),
            Err(again)
                if again.refusal().and_then(kind_of) == Some(ErrorKind::TerminalNotFound) =>
            {
                Ok(None)
            }
            Ok(_) | Err(_) => Err(error),
        },
        status => status,
    }
}

/// Whether a terminal has ended and nobody has seen how.
fn is_lost(info: &TerminalInfo) -> bool {
    info.exit_status.is_none() && info.exited_at_ms.is_some()
}

fn exit_line(status: &ExitStatus) -> String {
    match (&status.signal, status.exit_code) {
        (Some(signal), _) => format!("ended by {signal}"),
        (None, code) => format!("exited {}", code.unwrap_or_default()),
    }
}

/// Who or what has closed a terminal.
async fn closer(link: &Link, info: &TerminalInfo) -> Option<String> {
    if let Some(cause) = info.close_cause {
        return Some(close_cause(cause).to_owned());
    }
    let newest = ListAudit {
        filter: Some(AuditFilter {
            terminal: Some(info.id.to_string()),
            ..AuditFilter::default()
        }),
        limit: Some(NEWEST_RECORDS),
        ..ListAudit::default()
    };
    let page = link.repeat(&newest).await.ok()?;
    let is_close = |action: &str| matches!(action, "terminal.close" | "terminal.release");
    let mut records = page.records.into_iter();
    let actor = records.find(|record| is_close(&record.action))?.actor;
    let name = actor.client.as_deref().unwrap_or(actor.front.as_str());
    Some(format!("{name} (pid {})", actor.pid))
}
