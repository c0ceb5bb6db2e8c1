//! `termctl`: the command line of termd.
//!
//! From left to right: arguments ([`args`]), the verb ([`cmd`]), the daemon ([`termd_client`]), and the
//! answer ([`output`]). A verb does nothing before its connection that it does not need, because a
//! shell waits for `termctl create -- true`.
//!
//! **Invariant:** this crate knows the daemon by its contract alone, and the terminal model. A terminal's output reaches a
//! person's tty only escaped, unless they requested raw output, ran the command or attached to it.

mod arg_types;
mod args;
mod attach;
mod cmd;
mod completion;
mod confirm;
mod daemon_error;
mod desktop;
mod direction_marks;
mod display;
mod error;
mod exec_error;
mod exit_code;
mod input;
mod interrupt;
mod json;
mod moment;
mod output;
mod output_file;
mod output_position;
mod secret;
mod setup;
mod signal_number;
mod signals;
mod splitter;
mod table;
mod template;
mod tmux_key;
mod usage_error;

use crate::args::Cli;
use crate::exit_code::ExitCode;
use crate::signal_number::SIGXFSZ;
use crate::usage_error::UsageError;
use anyhow::Context as _;
use tokio::signal::unix::SignalKind;

fn main() -> anyhow::Result<()> {
    completion::answer_shell();
    let mut words = std::env::args_os().collect();
    if is_for_person() {
        args::name_top(&mut words);
    }
    let cli = match Cli::read(words) {
        Ok(cli) => cli,
        Err(error) => refuse(&error),
    };
    let json = cli.common.json;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("termctl: cannot start")?;
    let code = match runtime.block_on(dispatch(cli)) {
        Ok(code) => code,
        Err(error) => {
            output::report(&error, json);
            error.exit_code()
        }
    };
    // Threads may be blocked in a read or a write, so this does not join them.
    std::process::exit(i32::from(code.0));
}

async fn dispatch(cli: Cli) -> Result<ExitCode, error::CliError> {
    // Beyond a limit on the size of files a write then fails, as on a full disk. The signal is caught and
    // not ignored: programs that termctl starts do not inherit that.
    let _ = signals::catch(SignalKind::from_raw(SIGXFSZ))?;
    cmd::dispatch(cli).await
}

/// Whether a person is at a tty that can show more than lines.
fn is_for_person() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    attach::tty::is_interactive() && !is_dumb
}

/// Prints help or the version, or the error; as JSON if `--json` is given.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let asked_for_json = std::env::args_os()
        .take_while(|argument| argument != "--")
        .any(|argument| argument == "--json");
    let rendered = error.to_string();
    if asked_for_json {
        let line = rendered.lines().next().unwrap_or_default();
        let line = line.trim_start_matches("error: ").to_owned();
        output::report(&UsageError::Arguments(line).into(), true);
    } else {
        output::usage(&rendered);
    }
    let words: Vec<_> = std::env::args_os().collect();
    let code = match args::verb(&words) {
        Some("run" | "exec" | "wait") => ExitCode::OWN_FAILURE,
        _ => ExitCode::USAGE,
    };
    std::process::exit(i32::from(code.0));
}
