//! A keeper in a directory of its own, and what a test asks and sees of it.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;
use termd_keeper::{Detach, KeeperOptions};
use termd_proto::TerminalId;

pub(crate) use crate::user::User;

/// Makes this program the keeper: `foreground` or `background`.
const ROLE_VARIABLE: &str = "TERMD_TEST_ROLE";
/// The directory under which everything of this keeper is.
const HOME_VARIABLE: &str = "TERMD_TEST_HOME";
/// What the server gets as its second argument.
const SERVER_ARG_VARIABLE: &str = "TERMD_TEST_SERVER_ARG";

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the keeper's children are given between SIGHUP and SIGKILL when it stops.
pub(crate) const STOP_GRACE: Duration = Duration::from_millis(300);

/// No process at all.
pub(crate) const NOBODY: [i32; 0] = [];

/// The keeper, where this process is to be one.
pub(crate) fn run_keeper_role() -> Option<ExitCode> {
    let role = std::env::var(ROLE_VARIABLE).ok()?;
    let home = PathBuf::from(std::env::var_os(HOME_VARIABLE).unwrap());
    let options = KeeperOptions {
        socket_path: home.join("run/termd.sock"),
        state_dir: home.join("state"),
        server_program: std::env::current_exe().unwrap(),
        server_args: std::env::var_os(SERVER_ARG_VARIABLE).into_iter().collect(),
        kill_grace: STOP_GRACE,
        detach: match role.as_str() {
            "background" => Detach::Background {
                log: Some(home.join("log")),
            },
            _ => Detach::Foreground,
        },
    };
    Some(termd_keeper::run(options).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(3)
    }))
}

/// Where this server leaves what a builder of sandboxes has said.
pub(crate) fn said_in() -> PathBuf {
    PathBuf::from(std::env::var_os(HOME_VARIABLE).unwrap()).join("said")
}

/// A directory for keepers.
pub(crate) struct Home(TempDir, User);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), User::Me)
    }

    /// One that belongs to this user, with this program in it.
    pub(crate) fn of(user: User) -> Self {
        let home = Self(tempfile::tempdir().unwrap(), user);
        let ours = std::env::current_exe().unwrap();
        // Where it was built may be out of an ordinary user's reach.
        if std::fs::hard_link(&ours, home.program()).is_err() {
            std::fs::copy(&ours, home.program()).unwrap();
        }
        home.give(home.path());
        home
    }

    /// This program, where its user finds it.
    pub(crate) fn program(&self) -> PathBuf {
        self.path().join("program")
    }

    /// Makes something the user's.
    pub(crate) fn give(&self, path: &Path) {
        self.1.is_given(path);
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path().join("run/termd.sock")
    }

    /// The command that runs a keeper here, its stderr kept.
    pub(crate) fn command(&self, role: &str) -> Command {
        let copy = self.program();
        let program = if copy.exists() {
            copy
        } else {
            std::env::current_exe().unwrap()
        };
        let mut command = self.1.runs(&program);
        command
            .env(ROLE_VARIABLE, role)
            .env(HOME_VARIABLE, self.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn command_with_server_arg(&self, role: &str, arg: &str) -> Command {
        let mut command = self.command(role);
        command.env(SERVER_ARG_VARIABLE, arg);
        command
    }

    /// What a keeper here says that does not start, and its exit code.
    pub(crate) fn refusal(&self) -> (i32, String) {
        let output = self.command("foreground").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    }
}

/// A running keeper. Killed when dropped, if it did not end.
pub(crate) struct TestKeeper {
    pub(crate) home: Home,
    child: Child,
    next_id: Cell<u64>,
}

impl TestKeeper {
    /// Starts one, and waits until its server answers.
    pub(crate) fn start() -> Self {
        Self::start_in(Home::new())
    }

    /// Starts one of this user.
    pub(crate) fn start_as(user: User) -> Self {
        Self::start_in(Home::of(user))
    }

    /// Starts one that this shell script executes as `$0`.
    pub(crate) fn start_after(script: &str) -> Self {
        let home = Home::new();
        let keeper = home.command("foreground");
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(keeper.get_program());
        for (name, value) in keeper.get_envs() {
            command.env(name, value.unwrap());
        }
        Self::start_by(home, command)
    }

    fn start_in(home: Home) -> Self {
        let command = home.command("foreground");
        Self::start_by(home, command)
    }

    fn start_by(home: Home, mut command: Command) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn();
        let keeper = Self {
            home,
            child: child.unwrap(),
            next_id: Cell::new(1),
        };
        // Bound, it is there; listening comes after.
        let socket = keeper.home.socket();
        eventually("it listens", || UnixStream::connect(&socket).is_ok());
        keeper.server_pid();
        keeper
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Asks the server; whichever is there, or the next.
    pub(crate) fn ask(&self, request: &Value) -> Value {
        let request = &crate::bubblewrap::built(request);
        let mut stream = UnixStream::connect(self.home.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        writeln!(stream, "{request}").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or(Value::Null)
    }

    pub(crate) fn server_pid(&self) -> i32 {
        int(&self.ask(&json!({"op": "pid"})))
    }

    pub(crate) fn new_id(&self) -> TerminalId {
        let n = self.next_id.get();
        self.next_id.set(n + 1);
        TerminalId::from_random(n)
    }

    /// Starts a command in `/` with a PATH; its id and the answer.
    pub(crate) fn try_spawn(&self, argv: &[&str], cwd: &str) -> (TerminalId, Value) {
        let id = self.new_id();
        let env = [
            "PATH=/usr/bin:/bin",
            "NOTIFY_SOCKET=/x",
            "LISTEN_FDS=1",
            "JOURNAL_STREAM=1:2",
        ];
        let answer = self.ask(&json!({
            "op": "spawn", "id": id, "argv": argv, "env": env, "cwd": cwd, "notes": "first notes",
        }));
        (id, answer)
    }

    /// Starts a shell script on pipes.
    pub(crate) fn spawn_on_pipes(&self, script: &str) -> (TerminalId, i32) {
        self.spawn_reading(script, "null")
    }

    /// The same, with this standard input.
    pub(crate) fn spawn_reading(&self, script: &str, stdin: &str) -> (TerminalId, i32) {
        let id = self.new_id();
        let pid = self.ask(&json!({
            "op": "spawn", "id": id, "argv": ["/bin/sh", "-c", script], "env": ["PATH=/usr/bin:/bin"],
            "cwd": "/", "notes": "on pipes", "stdio": "pipes", "stdin": stdin,
        }));
        assert!(pid.is_number(), "{pid}");
        (id, int(&pid))
    }

    /// What it wrote to standard output and standard error until this text came on each, or in all.
    pub(crate) fn outputs(&self, id: &TerminalId, until: &str) -> (String, String) {
        let both = self.ask(&json!({"op": "output", "id": id, "until": until}));
        let one = |name: &str| both[name].as_str().unwrap().to_owned();
        (one("stdout"), one("stderr"))
    }

    /// Starts a command held to something, in this directory; its id and the answer.
    pub(crate) fn try_confined(
        &self,
        argv: &[&str],
        cwd: &Path,
        confinement: &Value,
    ) -> (TerminalId, Value) {
        let id = self.new_id();
        let home = format!("HOME={}", self.home.path().display());
        let env = [
            "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            home.as_str(),
            "LC_ALL=C.UTF-8",
            "TERM=xterm",
        ];
        let answer = self.ask(&json!({
            "op": "spawn", "id": id, "argv": argv, "env": env, "cwd": cwd, "notes": "confined",
            "confinement": confinement,
        }));
        (id, answer)
    }

    /// Runs a shell script, held to something, to its end: what it printed.
    pub(crate) fn confined(&self, script: &str, cwd: &Path, confinement: &Value) -> String {
        let (id, answer) = self.try_confined(&["/bin/bash", "-c", script], cwd, confinement);
        assert!(answer.is_number(), "{answer}");
        self.output(&id, "")
    }

    /// What a command is held to.
    pub(crate) fn enforced(&self, id: &TerminalId) -> Value {
        self.ask(&json!({"op": "enforced", "id": id}))
    }

    /// Starts a shell script.
    pub(crate) fn spawn(&self, script: &str) -> (TerminalId, i32) {
        let (id, pid) = self.try_spawn(&["/bin/sh", "-c", script], "/");
        assert!(pid.is_number(), "{pid}");
        (id, int(&pid))
    }

    /// A terminal's output until this text; all of it for an empty one.
    pub(crate) fn output(&self, id: &TerminalId, until: &str) -> String {
        let output = self.ask(&json!({"op": "output", "id": id, "until": until}));
        output.as_str().unwrap().replace("\r\n", "\n")
    }

    pub(crate) fn exit_of(&self, id: &TerminalId) -> String {
        let exit = self.ask(&json!({"op": "exit", "id": id}));
        exit.as_str().unwrap().to_owned()
    }

    pub(crate) fn end(&self, id: &TerminalId, grace_ms: u64) -> Value {
        self.ask(&json!({"op": "end", "id": id, "signal": 15, "grace_ms": grace_ms}))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the keeper's own end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait_gone(self.pid());
        self.child.wait().unwrap()
    }

    pub(crate) fn open_fds(&self) -> usize {
        let fds = std::fs::read_dir(format!("/proc/{}/fd", self.pid()));
        fds.unwrap().count()
    }

    /// The keeper's children, zombies too, without the server.
    pub(crate) fn children(&self) -> Vec<i32> {
        let server = self.server_pid();
        let mut children = children_of(self.pid());
        children.retain(|&pid| pid != server);
        children
    }
}

impl Drop for TestKeeper {
    fn drop(&mut self) {
        // A second SIGTERM ends every terminal at once; a third reaches nobody.
        for _ in 0..2 {
            if self.child.try_wait().is_ok_and(|status| status.is_none()) {
                self.signal(Signal::TERM);
            }
        }
        let _ = self.child.wait();
    }
}

/// Every process whose parent this is, zombies too.
pub(crate) fn children_of(parent: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str())
        })
        .collect()
}

/// Whether a process runs: it is there, and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

/// Waits for the end of any process.
pub(crate) fn wait_gone(pid: i32) {
    let Ok(pidfd) = rustix::process::pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty())
    else {
        return;
    };
    let mut fds = [rustix::event::PollFd::new(
        &pidfd,
        rustix::event::PollFlags::IN,
    )];
    let patience = rustix::event::Timespec::try_from(PATIENCE).unwrap();
    let ready = rustix::event::poll(&mut fds, Some(&patience)).unwrap();
    assert_eq!(ready, 1, "process {pid} did not end");
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Looks until it is so. For what nobody tells of.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        let a_moment = rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: 5_000_000,
        };
        rustix::event::poll(&mut [], Some(&a_moment)).unwrap();
    }
}

pub(crate) fn int(value: &Value) -> i32 {
    let number = value
        .as_i64()
        .unwrap_or_else(|| panic!("no number: {value}"));
    number.try_into().unwrap()
}

/// The numbers after `NAME=` in an output, one a line.
pub(crate) fn pid_in(output: &str, name: &str) -> i32 {
    let line = output
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {name} in {output}"))
        .trim()
        .parse()
        .unwrap()
}
