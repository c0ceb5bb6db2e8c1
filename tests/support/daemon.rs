//! A running `termd` in a home of its own.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use super::agent::Agent;
use super::client::RawClient;
use super::home::{Home, termd_binary};
use super::process::Process;
use super::wait::{DEADLINE, Deadline, wait_until};

/// A daemon in the foreground; dropped, it is stopped by SIGTERM and must exit 0.
#[derive(Debug)]
pub(crate) struct TestDaemon {
    keeper: Keeper,
    home: Home,
    socket: PathBuf,
}

impl TestDaemon {
    /// Starts one in a fresh home.
    pub(crate) fn start() -> Self {
        Self::start_in(Home::new())
    }

    /// Starts one in a fresh home with this `config.toml`.
    pub(crate) fn configured(toml: &str) -> Self {
        let home = Home::new();
        home.configure(toml);
        Self::start_in(home)
    }

    /// Starts one in this home and waits until it serves.
    pub(crate) fn start_in(home: Home) -> Self {
        Self::start_with(home, &[])
    }

    /// Starts one in this home with more variables and waits until it serves.
    pub(crate) fn start_with(home: Home, env: &[(&str, &str)]) -> Self {
        Self::start_program(home, &termd_binary(), env)
    }

    /// Starts one by this program, which ends up being `termd`.
    pub(crate) fn start_program(home: Home, program: &Path, env: &[(&str, &str)]) -> Self {
        let socket = home.socket();
        Self::launch(home, program, socket, env)
    }

    /// Starts one that is told to listen elsewhere.
    pub(crate) fn start_listening(home: Home, socket: &Path, env: &[(&str, &str)]) -> Self {
        Self::launch(home, &termd_binary(), socket.to_owned(), env)
    }

    fn launch(home: Home, program: &Path, socket: PathBuf, env: &[(&str, &str)]) -> Self {
        let keeper = Keeper::start(&home, program, env);
        let mut daemon = Self {
            keeper,
            home,
            socket,
        };
        wait_until("termd listens", || {
            if let Some(status) = daemon.keeper.child.try_wait().unwrap() {
                panic!("termd ended at once ({status}):\n{}", daemon.home.log());
            }
            UnixStream::connect(&daemon.socket).is_ok()
        });
        daemon.client().ok("daemon.info", &Value::Null);
        daemon
    }

    /// A new connection.
    pub(crate) fn client(&self) -> RawClient {
        RawClient::connect(&self.socket)
    }

    /// A new connection that speaks as an ACP agent.
    pub(crate) fn agent(&self) -> Agent {
        Agent::new(self.client())
    }

    /// The main process.
    pub(crate) fn keeper_pid(&self) -> i32 {
        self.keeper.child.id().cast_signed()
    }

    /// The server's process, as the daemon itself says.
    pub(crate) fn server(&self) -> Process {
        let info = self.client().ok("daemon.info", &Value::Null);
        Process::must(info["server_pid"].as_i64().unwrap())
    }

    /// The main process.
    pub(crate) fn keeper(&self) -> Process {
        Process::must(self.keeper.child.id().into())
    }

    /// Signals the main process.
    pub(crate) fn signal(&self, signal: Signal) {
        self.keeper().signal(signal);
    }

    /// Waits for the main process's end, which the test has asked for.
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        self.keeper.wait_exit().expect("termd never ended")
    }

    /// Stops it, and gives its home back for the next one.
    pub(crate) fn stop(mut self) -> Home {
        self.keeper.stop();
        self.home
    }
}

impl Deref for TestDaemon {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

/// The main process of a daemon. Dropped before the home, which looks for what is left.
#[derive(Debug)]
struct Keeper {
    child: Child,
}

impl Keeper {
    fn start(home: &Home, program: &Path, env: &[(&str, &str)]) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(home.log_path())
            .unwrap();
        let child = home
            .command(program)
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { child }
    }

    fn wait_exit(&mut self) -> Option<ExitStatus> {
        if let Some(process) = Process::open(self.child.id().cast_signed())
            && !process.ends_by(Deadline::after(DEADLINE))
        {
            return None;
        }
        Some(self.child.wait().unwrap())
    }

    fn stop(&mut self) {
        if self.child.try_wait().unwrap().is_some() {
            return;
        }
        Process::must(self.child.id().into()).signal(Signal::TERM);
        let status = self.wait_exit();
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if !std::thread::panicking() {
            let status = status.expect("termd did not end after SIGTERM");
            assert!(status.success(), "termd ended with {status} after SIGTERM");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop();
    }
}
