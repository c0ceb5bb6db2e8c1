//! `termd`: reads the arguments, then runs as keeper or as server.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use termd::activation::Activation;
use termd::app::{self, AppError};
use termd::args::Args;
use termd::config::ConfigFile;
use termd::logging;
use termd::paths::Paths;
use termd::store::Store;
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
    if !args.server {
        return keep(&args);
    }
    serve().unwrap_or_else(|error| {
        complain(&error);
        ExitCode::FAILURE
    })
}

/// An error in one line for a person. A cause that the error names already is not repeated.
fn one_line(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.ends_with(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

/// Writes an error to standard error.
fn complain(error: &anyhow::Error) {
    // A closed stderr has no reader to inform.
    let _ = writeln!(std::io::stderr(), "termd: {}", one_line(error));
}

/// Ends a server that another one would only follow in vain: clients that wait are told why.
fn give_up(activation: Activation, code: u8, error: &anyhow::Error) -> ExitCode {
    complain(error);
    activation.refuse(&one_line(error));
    ExitCode::from(code)
}

/// Why there is no daemon.
struct CannotStart {
    code: ExitCode,
    reason: anyhow::Error,
}

impl From<anyhow::Error> for CannotStart {
    fn from(reason: anyhow::Error) -> Self {
        Self {
            code: ExitCode::FAILURE,
            reason,
        }
    }
}

fn keep(args: &Args) -> ExitCode {
    let activation = Activation::share();
    match run_keeper(args) {
        Ok(code) => code,
        Err(CannotStart { code, reason }) => {
            complain(&reason);
            activation.refuse(&one_line(&reason));
            code
        }
    }
}

fn run_keeper(args: &Args) -> Result<ExitCode, CannotStart> {
    let paths = Paths::find().map_err(anyhow::Error::from)?;
    let config = match ConfigFile::load(&paths.config_file) {
        Ok(file) => file.config,
        Err(error) => {
            return Err(CannotStart {
                code: ExitCode::from(EX_CONFIG),
                reason: error.into(),
            });
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
    termd_keeper::run(options).map_err(|error| CannotStart {
        code: match error {
            KeeperStartError::AlreadyRunning { .. } => ExitCode::from(EX_TEMPFAIL),
            _ => ExitCode::FAILURE,
        },
        reason: error.into(),
    })
}

fn serve() -> anyhow::Result<ExitCode> {
    // A keeper that starts the program of an earlier server executes a descriptor, which gives no name.
    let _ = rustix::thread::set_name(c"termd");
    let paths = Paths::find()?;
    logging::start(paths.log_file());
    let inherited = termd_keeper::inherited_fds().context("--server is for the keeper to use")?;
    let activation = Activation::share_inherited(&inherited);
    // Before the hello, up to which a keeper tries a new program while the old server serves.
    if let Err(error) = Store::refuse_newer(&paths.database()) {
        return Ok(give_up(activation, EX_UNAVAILABLE, &error.into()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    match runtime.block_on(app::run(inherited, paths)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error @ AppError::Config(_)) => Ok(give_up(activation, EX_CONFIG, &error.into())),
        Err(error) if error.is_permanent() => {
            Ok(give_up(activation, EX_UNAVAILABLE, &error.into()))
        }
        Err(error) => {
            tracing::error!(%error, "the server ends");
            Err(error.into())
        }
    }
}
