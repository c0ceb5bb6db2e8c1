//! `termctl man`: its man pages.

use std::fs;

use clap::CommandFactory as _;

use crate::args::{Cli, ManArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) fn run(args: &ManArgs) -> Result<ExitCode, CliError> {
    let cannot = |error| CliError::Io("cannot write man pages", error);
    if let Some(directory) = &args.directory {
        fs::create_dir_all(directory).map_err(cannot)?;
        clap_mangen::generate_to(Cli::command(), directory).map_err(cannot)?;
    } else {
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(Cli::command());
        man.render(&mut page).map_err(cannot)?;
        output::print(&page)?;
    }
    Ok(ExitCode::OK)
}
