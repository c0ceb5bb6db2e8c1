//! `termctl`: the command line of termd.
//!
//! Left to right: arguments ([`args`]), the verb ([`cmd`]), the daemon ([`termd_client`]), and what
//! comes back ([`output`]). Nothing is done before the connection that the verb does not need: a
//! whole `termctl create -- true` is to be over before a shell has noticed.
//!
//! **Invariant:** this crate knows the daemon by its contract alone, and nothing a terminal printed
//! reaches a person's tty unescaped, unless they asked for raw output, ran it or attached to it.

mod arg_types;
mod args;
mod attach;
mod cmd;
mod confirm;
mod desktop;
mod error;
mod exit_code;
mod input;
mod interrupt;
mod output;
mod rendering;
mod secret;
mod setup;
mod signals;
mod splitter;
mod table;
mod usage_error;

use anyhow::Context as _;
use clap::error::ErrorKind;

use crate::args::Cli;
use crate::exit_code::ExitCode;
use crate::usage_error::UsageError;

fn main() -> anyhow::Result<()> {
    let cli = match Cli::read(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => refuse(&error),
    };
    let json = cli.common.json;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("termctl: cannot start")?;
    let code = match runtime.block_on(cmd::dispatch(cli)) {
        Ok(code) => code,
        Err(error) => {
            output::report(&error, json);
            error.exit_code()
        }
    };
    // Threads that sit in a read or a write of ours are not waited for.
    std::process::exit(i32::from(code.0));
}

/// Help and version are no errors; anything else is, and JSON where that was asked for.
fn refuse(error: &clap::Error) -> ! {
    let asked_for_json = std::env::args_os()
        .take_while(|argument| argument != "--")
        .any(|argument| argument == "--json");
    let is_error = !matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    if asked_for_json && is_error {
        let rendered = error.to_string();
        let line = rendered.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ").to_owned();
        output::report(&UsageError::Arguments(line).into(), true);
        std::process::exit(i32::from(ExitCode::USAGE.0));
    }
    error.exit()
}
