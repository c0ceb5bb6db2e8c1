//! `termctl acp`: what the command line says, then the proxy.

use super::Context;
use crate::acp;
use crate::args::{AcpAgentArgs, AcpArgs};
use crate::error::CliError;
use crate::exit::ExitCode;

pub(super) async fn run(context: Context, args: AcpArgs) -> Result<ExitCode, CliError> {
    acp::serve(args, context.start).await
}

/// What `termctl acp` starts between itself and the agent.
pub(super) async fn hold(args: AcpAgentArgs) -> Result<ExitCode, CliError> {
    acp::hold_agent(args).await
}
