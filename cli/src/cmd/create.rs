//! `termctl create`: starts a command and prints its id. `run` starts its command by the same code.

use std::collections::BTreeMap;
use std::env;

use termd_client::{ClientError, Link};
use termd_proto::terminal::{CreateTerminal, Stdio, TerminalInfo};
use termd_proto::{Label, Tags};

use super::Context;
use crate::args::{CreateArgs, StartArgs, StayArgs};
use crate::attach::tty::stdout_size;
use crate::confirm::{Agreement, agreement, denied};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: CreateArgs) -> Result<ExitCode, CliError> {
    let request = CreateTerminal {
        stdio: if args.pipes { Stdio::Pipes } else { Stdio::Pty },
        ..staying(args.terminal)?
    };
    let link = context.open().await?;
    let info = create(&link, request).await?;
    if context.json {
        output::print_json(&info)?;
    } else {
        output::print(format!("{}\n", info.id).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// Creates a terminal. If the gate asks and the person at the tty agrees, requests it once more.
pub(super) async fn create(
    link: &Link,
    request: CreateTerminal,
) -> Result<TerminalInfo, ClientError> {
    let refused = match link.once(&request).await {
        Err(error) => error,
        created => return created,
    };
    match agreement(link, refused.refusal()).await {
        Agreement::No => Err(refused),
        Agreement::Denied(id) => Err(denied(id.as_ref())),
        Agreement::Approved => link.once(&request).await,
        Agreement::ByWord => {
            let confirmed = CreateTerminal {
                confirmed: true,
                ..request
            };
            link.once(&confirmed).await
        }
    }
}

/// The request of a terminal that stays.
pub(super) fn staying(args: StayArgs) -> Result<CreateTerminal, CliError> {
    let idle_timeout_ms = args.idle_timeout.map(|timeout| {
        // The daemon checks the bounds.
        u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)
    });
    Ok(CreateTerminal {
        idle_timeout_ms,
        scrollback_lines: args.scrollback,
        ..request(args.start, args.command)?
    })
}

/// The request of the arguments, with the client's own environment, directory and size as defaults.
pub(super) fn request(start: StartArgs, command: Vec<String>) -> Result<CreateTerminal, CliError> {
    let label = start
        .label
        .map(|text| text.parse::<Label>())
        .transpose()
        .map_err(UsageError::from)?;
    let here = env::current_dir();
    let cwd = match (start.cwd, here) {
        (Some(asked), Ok(here)) => Some(here.join(asked)),
        (Some(asked), Err(_)) => Some(asked),
        (None, here) => here.ok(),
    };
    let cwd = cwd
        .map(|dir| dir.into_os_string().into_string())
        .transpose()
        .map_err(|_| UsageError::CwdNotUtf8)?;
    // JSON cannot hold a variable that is not UTF-8.
    let base_env: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let size = stdout_size();
    let mut words = command.into_iter();
    Ok(CreateTerminal {
        command: words.next(),
        args: words.collect(),
        env: start
            .env
            .into_iter()
            .map(|variable| (variable.name, variable.value))
            .collect(),
        base_env: Some(base_env),
        cwd,
        label,
        replace: start.replace,
        tags: Tags::of(start.tags).map_err(UsageError::from)?,
        cols: start.cols.or(size.map(|size| size.cols)),
        rows: start.rows.or(size.map(|size| size.rows)),
        confirmed: start.confirmed,
        ..CreateTerminal::default()
    })
}
