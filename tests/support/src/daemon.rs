//! A running `termd` in a home of its own.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::agent::Agent;
use crate::binaries::termd_binary;
use crate::client::RawClient;
use crate::home::Home;
use crate::process::Process;
use crate::wait::{DEADLINE, Deadline, wait_until};

/// A daemon in the foreground. It is stopped by SIGTERM when it is dropped, and must exit 0.
#[derive(Debug)]
pub struct TestDaemon {
    keeper: Keeper,
    home: Home,
    socket: PathBuf,
}

impl TestDaemon {
    /// Starts a daemon in a fresh home.
    pub fn start() -> Self {
        Self::start_in(Home::create())
    }

    /// Starts a daemon in a fresh home with this `config.toml`.
    pub fn configured(toml: &str) -> Self {
        let home = Home::create();
        home.configure(toml);
        Self::start_in(home)
    }

    /// Starts a daemon in this home and waits until it serves.
    pub fn start_in(home: Home) -> Self {
        Self::start_with(home, &[])
    }

    /// The same, with more variables in the daemon's environment.
    pub fn start_with(home: Home, env: &[(&str, &str)]) -> Self {
        Self::start_program(home, &termd_binary(), env)
    }

    /// The same, by a program that executes `termd`.
    pub fn start_program(home: Home, program: &Path, env: &[(&str, &str)]) -> Self {
        let socket = home.socket();
        Self::launch(home, program, socket, env)
    }

    /// The same, for a daemon whose environment names another socket.
    pub fn start_listening(home: Home, socket: &Path, env: &[(&str, &str)]) -> Self {
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
    pub fn client(&self) -> RawClient {
        RawClient::connect(&self.socket)
    }

    /// A new connection that is an ACP agent.
    pub fn agent(&self) -> Agent {
        Agent::new(self.client())
    }

    /// The pid of the keeper, which is the main process.
    pub fn keeper_pid(&self) -> i32 {
        self.keeper.child.id().cast_signed()
    }

    /// The server's process, by `daemon.info`.
    pub fn server(&self) -> Process {
        let info = self.client().ok("daemon.info", &Value::Null);
        Process::expect(info["server_pid"].as_i64().unwrap())
    }

    /// The keeper, which is the main process.
    pub fn keeper(&self) -> Process {
        Process::expect(self.keeper.child.id().into())
    }

    /// Signals the keeper.
    pub fn signal(&self, signal: Signal) {
        self.keeper().signal(signal);
    }

    /// Kills the server and waits for its end. The keeper starts the next one, which answers
    /// connections made from now on.
    #[track_caller]
    pub fn kill_server(&self) {
        let server = self.server();
        server.signal(Signal::KILL);
        server.wait_for_end();
    }

    /// Has the server hand over to a new one, by SIGHUP, and waits for its end.
    #[track_caller]
    pub fn replace_server(&self) {
        let server = self.server();
        self.signal(Signal::HUP);
        server.wait_for_end();
    }

    /// Waits for the end of the keeper, which the test has requested.
    pub fn wait_exit(&mut self) -> ExitStatus {
        self.keeper.wait_exit().expect("termd never ended")
    }

    /// Stops the daemon: its home, for the next daemon.
    pub fn stop(mut self) -> Home {
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

/// The main process of a daemon. It is dropped before the home, which looks for processes left
/// behind.
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
        Process::expect(self.child.id().into()).signal(Signal::TERM);
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
