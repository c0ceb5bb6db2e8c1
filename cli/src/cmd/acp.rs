//! `termctl acp`: reads the arguments, then runs the proxy.

use super::Context;
use crate::args::{AcpAgentArgs, AcpArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;

pub(super) async fn run(context: Context, args: AcpArgs) -> Result<ExitCode, CliError> {
    let code = termd_acp::serve(args.into(), context.start).await?;
    Ok(ExitCode(code.get()))
}

/// The supervisor, which `termctl acp` starts between itself and the agent.
pub(super) async fn hold(args: AcpAgentArgs) -> Result<ExitCode, CliError> {
    let code = termd_acp::supervise(&args.into()).await?;
    Ok(ExitCode(code.get()))
}
