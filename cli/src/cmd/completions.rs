//! `termctl completions`: the lines that make a shell complete termctl's arguments.

use crate::args::CompletionsArgs;
use crate::completion;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> Result<ExitCode, CliError> {
    let script = completion::script(&args.shell.to_string());
    let script = script.map_err(|error| CliError::Io("cannot make completions", error))?;
    output::print(&script)?;
    Ok(ExitCode::OK)
}
