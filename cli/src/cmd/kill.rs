//! `termctl kill`: ends a command and all that it started, or sends it a signal.

use termd_proto::terminal::{KillTerminal, ListScope};
use termd_proto::{Tags, TerminalRef};

use super::Context;
use super::list::tagged;
use super::several::for_each;
use crate::args::KillArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::signal_number::SIGNAL_NAMES;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: KillArgs) -> Result<ExitCode, CliError> {
    if args.list {
        return list_signals(context.json);
    }
    let tags = Tags::of(args.tagged.tags).map_err(UsageError::from)?;
    let signal = args.signal.map(|signal| signal.0);
    let link = context.open().await?;
    let kill = async |id: &TerminalRef| {
        link.once(&KillTerminal {
            id: id.clone(),
            signal: signal.clone(),
        })
        .await
    };
    // clap requires a terminal where no tag is.
    let Some(terminal) = args.terminal else {
        let terminals = tagged(&link, ListScope::Running, &tags).await?;
        return for_each(context, "kill", &terminals, kill).await;
    };
    let result = kill(&TerminalRef(terminal)).await?;
    if context.json {
        output::print_json(&result)?;
    }
    Ok(ExitCode::OK)
}

fn list_signals(json: bool) -> Result<ExitCode, CliError> {
    if json {
        output::print_json(&SIGNAL_NAMES)?;
    } else {
        output::print(format!("{}\n", SIGNAL_NAMES.join(" ")).as_bytes())?;
    }
    Ok(ExitCode::OK)
}
