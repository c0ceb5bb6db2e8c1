//! `termctl man`: its man pages, and the daemon's.

use std::fs;
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::args::{Cli, ManArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::output_file::OutputFile;

/// termd(1). Its few options are not known here.
const DAEMON_PAGE: &str = include_str!("../../../docs/termd.1");

pub(super) fn run(args: &ManArgs) -> Result<ExitCode, CliError> {
    if let Some(directory) = &args.directory {
        let cannot = |source| CliError::Unwritable {
            path: directory.clone(),
            source,
        };
        fs::create_dir_all(directory).map_err(cannot)?;
        let mut termctl = Cli::definition().disable_help_subcommand(true);
        termctl.build();
        write_pages(termctl, directory)?;
        OutputFile::write_all(&directory.join("termd.1"), DAEMON_PAGE.as_bytes())?;
    } else {
        output::print(&rendered(&Man::new(Cli::definition()))?)?;
    }
    Ok(ExitCode::OK)
}

/// Writes the page of a command and those of its verbs.
fn write_pages(command: Command, directory: &Path) -> Result<(), CliError> {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(verb.clone(), directory)?;
    }
    let page = Man::new(command);
    OutputFile::write_all(&directory.join(page.get_filename()), &rendered(&page)?)
}

fn rendered(page: &Man) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    let cannot = |error| CliError::Io("cannot write the man page", error);
    page.render(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}
