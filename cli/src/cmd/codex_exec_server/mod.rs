//! `termctl codex-exec-server`: the real `codex exec-server` with termd's shell. Codex starts it by its
//! `environments.toml`.
//!
//! ```text
//! codex ── stdin ──▶ to_server ──▶ codex exec-server --listen stdio
//!       ◀─ stdout ── to_client ◀──
//! ```
//!
//! **Invariant:** all bytes pass in order and unchanged, but for the path of the shell in the answer to
//! `initialize`. Nothing else is read, so a sandbox is codex's own affair, and a version of codex with
//! other messages works as well.

mod copy;
mod initialize;

use std::env;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::signal::unix::SignalKind;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Context;
use crate::args::CodexExecServerArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::setup::{Places, SetupError, Shells};
use crate::signals;

use copy::Handshake;

/// The program, where none is named.
const CODEX: &str = "codex";
const ARGUMENTS: [&str; 3] = ["exec-server", "--listen", "stdio"];
/// How long output is passed on after the server's end, where another process holds its pipe.
const MAX_DRAIN: Duration = Duration::from_secs(1);
/// The signals that are passed on to the server.
const SIGNALS: [Signal; 6] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
];

pub(super) async fn run(_: Context, args: CodexExecServerArgs) -> Result<ExitCode, CliError> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let here = env::current_dir().unwrap_or_default();
    let places = Places::of_environment(variable, here).ok_or(SetupError::NoHome)?;
    let shells = Shells::of(&places, variable("SHELL").as_deref());
    let program = args.codex.unwrap_or_else(|| CODEX.into());
    // Before the start, so that no signal is lost.
    let mut forwarded = forwarded_signals()?;
    let mut server = Command::new(&program)
        .args(ARGUMENTS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| CliError::NotStarted(program, error))?;
    let handshake = Arc::new(Handshake::default());
    if let Some(stdin) = server.stdin.take() {
        let handshake = Arc::clone(&handshake);
        thread("to the server", move || {
            let _ = copy::to_server(stdin, &handshake);
            // A client that writes on gets EPIPE.
            let _ = File::open("/dev/null").map(rustix::stdio::dup2_stdin);
        })?;
    }
    let (tell, copied) = oneshot::channel();
    if let Some(stdout) = server.stdout.take() {
        thread("to the client", move || {
            let _ = copy::to_client(stdout, &shells, &handshake);
            // A client that reads on gets end of file.
            let _ = File::create("/dev/null").map(rustix::stdio::dup2_stdout);
            let _ = tell.send(());
        })?;
    }
    let process = pidfd_open(Pid::from_child(&server), PidfdFlags::empty())
        .map_err(|error| CliError::Io("cannot watch codex", error.into()))?;
    let (ended, mut status) = oneshot::channel();
    thread("wait", move || {
        let _ = ended.send(server.wait());
    })?;
    let status = loop {
        tokio::select! {
            status = &mut status => break status,
            Some(signal) = forwarded.recv() => {
                let _ = pidfd_send_signal(&process, signal);
            }
        }
    };
    let _ = timeout(MAX_DRAIN, copied).await;
    match status {
        Ok(Ok(status)) => Ok(code(status)),
        Ok(Err(error)) => Err(CliError::Io("cannot wait for codex", error)),
        Err(_) => Ok(ExitCode::FAILED),
    }
}

/// The signals that come, for as long as the process lives.
fn forwarded_signals() -> Result<tokio::sync::mpsc::Receiver<Signal>, CliError> {
    let (tell, receive) = tokio::sync::mpsc::channel(SIGNALS.len());
    for signal in SIGNALS {
        let mut caught = signals::catch(SignalKind::from_raw(signal.as_raw()))?;
        let tell = tell.clone();
        tokio::spawn(async move {
            while caught.recv().await.is_some() && tell.send(signal).await.is_ok() {}
        });
    }
    Ok(receive)
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), CliError> {
    let started = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work);
    started
        .map(drop)
        .map_err(|error| CliError::Io("cannot start a thread", error))
}

fn code(status: ExitStatus) -> ExitCode {
    let of_signal = || {
        let number = u8::try_from(status.signal()?).ok()?;
        Some(ExitCode::of_signal(number.try_into().ok()?))
    };
    match status.code() {
        Some(code) => ExitCode(u8::try_from(code).unwrap_or(u8::MAX)),
        None => of_signal().unwrap_or(ExitCode::FAILED),
    }
}
