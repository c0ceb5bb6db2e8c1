//! `termctl man`: its man pages, and the daemon's.

use std::fs;

use crate::args::{Cli, ManArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// termd(1). Its few options are not known here.
const DAEMON_PAGE: &str = include_str!("../../../docs/termd.1");

pub(super) fn run(args: &ManArgs) -> Result<ExitCode, CliError> {
    if let Some(directory) = &args.directory {
        let cannot = |source| CliError::Unwritable {
            path: directory.clone(),
            source,
        };
        fs::create_dir_all(directory).map_err(cannot)?;
        clap_mangen::generate_to(Cli::definition(), directory).map_err(cannot)?;
        fs::write(directory.join("termd.1"), DAEMON_PAGE).map_err(cannot)?;
    } else {
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(Cli::definition());
        let cannot = |error| CliError::Io("cannot write the man page", error);
        man.render(&mut page).map_err(cannot)?;
        output::print(&page)?;
    }
    Ok(ExitCode::OK)
}
