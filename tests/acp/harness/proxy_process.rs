//! `termctl acp` with a real program as its agent, and the client's end as bare bytes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use termd_test_support::{DEADLINE, Deadline, Home, Process, children_of};

/// A proxy, and its client's ends.
#[derive(Debug)]
pub(crate) struct ProxyProcess {
    child: Child,
    /// Its standard input; taken to close it.
    pub(crate) to: Option<File>,
    /// Its standard output.
    pub(crate) from: Option<ChildStdout>,
    errors: Receiver<Vec<u8>>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct ProxyExit {
    /// The proxy's exit code; none: a signal.
    pub(crate) code: Option<i32>,
    /// All of its standard error, the agent's among it.
    pub(crate) stderr: String,
}

/// `termctl acp` in this home.
pub(crate) fn acp(home: &Home) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
    command.args(["acp", "--"]);
    command
}

/// Reads to the end, in a thread: a deadline is the receiver's.
fn gathered(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What cannot be read any more has ended.
        let _ = from.read_to_end(&mut all);
        let _ = tell.send(all);
    });
    told
}

impl ProxyProcess {
    /// Starts `termctl acp -- AGENT`, in a process group of its own.
    pub(crate) fn agent(home: &Home, agent: &[&str]) -> Self {
        let mut child = acp(home)
            .args(agent)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to: child.stdin.take().map(|stdin| OwnedFd::from(stdin).into()),
            from: child.stdout.take(),
            errors: gathered(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The same with a shell script.
    pub(crate) fn script(home: &Home, script: &str) -> Self {
        Self::agent(home, &["/bin/sh", "-c", script])
    }

    /// The proxy.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// The agent's process, once it is there.
    pub(crate) fn agent_pid(&self, name: &str) -> i32 {
        let mut found = None;
        termd_test_support::wait_until("the agent runs", || {
            let supervisors = children_of(self.pid()).into_iter();
            found = supervisors.flat_map(children_of).find(|pid| {
                let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
                comm.is_ok_and(|comm| comm.trim_end() == name)
            });
            found.is_some()
        });
        found.unwrap()
    }

    /// Writes what the client says.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Reads so many lines.
    #[track_caller]
    pub(crate) fn lines(&mut self, count: usize) -> Vec<u8> {
        let mut from = self.from.take().unwrap();
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let (mut all, mut byte) = (Vec::new(), [0]);
            let mut left = count;
            while left > 0 && matches!(from.read(&mut byte), Ok(1)) {
                all.extend_from_slice(&byte);
                left -= usize::from(byte == *b"\n");
            }
            let _ = tell.send((all, from));
        });
        let (all, from) = told.recv_timeout(DEADLINE).expect("no line came");
        self.from = Some(from);
        all
    }

    /// All that is still to be read of standard output.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let rest = gathered(self.from.take().unwrap());
        rest.recv_timeout(DEADLINE * 3)
            .expect("standard output never ended")
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> ProxyExit {
        assert!(
            Process::expect(self.child.id().into()).ends_by(Deadline::after(DEADLINE)),
            "the proxy never ended"
        );
        let status: ExitStatus = self.child.wait().unwrap();
        let errors = self.errors.recv_timeout(DEADLINE);
        ProxyExit {
            code: status.code(),
            stderr: String::from_utf8_lossy(&errors.expect("standard error never ended"))
                .into_owned(),
        }
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        // It ends when all of its agent has; it may have ended already.
        if let Some(process) = Process::open(self.child.id().cast_signed()) {
            process.signal(rustix::process::Signal::TERM);
            process.ends_by(termd_test_support::Deadline::after(DEADLINE));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
