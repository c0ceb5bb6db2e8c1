//! `termctl completions`: a shell's completions of termctl's arguments.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let mut command = Cli::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "termctl", &mut script);
    output::print(&script)?;
    Ok(ExitCode::OK)
}
