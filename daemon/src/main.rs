//! `termd`: reads the arguments, then runs as keeper or as server.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use termd::app::{self, AppError};
use termd::args::Args;
use termd::config::ConfigFile;
use termd::logging;
use termd::paths::Paths;
use termd_keeper::{Detach, KeeperOptions, KeeperStartError};

/// sysexits.h `EX_UNAVAILABLE`: this termd must not use the database.
const EX_UNAVAILABLE: u8 = 69;
/// sysexits.h `EX_TEMPFAIL`: another termd holds the socket or the database.
const EX_TEMPFAIL: u8 = 75;
/// sysexits.h `EX_CONFIG`: the configuration is bad.
const EX_CONFIG: u8 = 78;
/// Threads that run terminals and connections. A second thread would mostly be woken by the first:
/// with one, a flood is read with a third of the context switches and a tenth faster. Work that is
/// heavy or may block has threads of its own: compression, SQLite, long texts, looking for programs.
const WORKER_THREADS: usize = 1;

fn main() -> ExitCode {
    termd_keeper::run_launcher_if_requested();
    let args = Args::parse();
    let run = if args.server { serve() } else { keep(&args) };
    run.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::FAILURE
    })
}

/// Writes an error in one line for a person.
fn complain(error: &anyhow::Error) {
    // A closed stderr has no reader to inform.
    let _ = writeln!(std::io::stderr(), "termd: {error:#}");
}

fn keep(args: &Args) -> anyhow::Result<ExitCode> {
    let paths = Paths::find()?;
    let config = match ConfigFile::load(&paths.config_file) {
        Ok(file) => file.config,
        Err(error) => {
            complain(&error.into());
            return Ok(ExitCode::from(EX_CONFIG));
        }
    };
    let server_program = std::env::current_exe().context("cannot find my own program")?;
    let detach = if args.detach {
        Detach::Background {
            log: Some(paths.log_file()),
        }
    } else {
        Detach::Foreground
    };
    let options = KeeperOptions {
        kill_grace: config.kill_grace(),
        socket_path: paths.socket,
        state_dir: paths.state_dir,
        server_program,
        server_args: Vec::new(),
        detach,
    };
    match termd_keeper::run(options) {
        Err(error @ KeeperStartError::AlreadyRunning { .. }) => {
            complain(&error.into());
            Ok(ExitCode::from(EX_TEMPFAIL))
        }
        ended => Ok(ended?),
    }
}

fn serve() -> anyhow::Result<ExitCode> {
    let paths = Paths::find()?;
    logging::start(paths.log_file());
    let inherited = termd_keeper::inherited_fds().context("--server is for the keeper to use")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    match runtime.block_on(app::run(inherited, paths)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error @ AppError::Config(_)) => {
            complain(&error.into());
            Ok(ExitCode::from(EX_CONFIG))
        }
        Err(error) if error.is_permanent() => {
            complain(&error.into());
            Ok(ExitCode::from(EX_UNAVAILABLE))
        }
        Err(error) => {
            tracing::error!(%error, "the server ends");
            Err(error.into())
        }
    }
}
