//! `termctl acp` with a real program as its agent, and the client's end as bytes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use termd_test_support::{DEADLINE, Deadline, Home, Process, children_of};

/// A proxy and the client's ends of its streams.
#[derive(Debug)]
pub(crate) struct ProxyProcess {
    child: Child,
    /// Standard input. A test takes it to close it.
    pub(crate) stdin: Option<File>,
    /// Its standard output.
    pub(crate) stdout: Option<ChildStdout>,
    errors: Receiver<Vec<u8>>,
}

/// How a proxy ended.
#[derive(Debug)]
pub(crate) struct ProxyExit {
    /// The exit code, or `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Standard error of the proxy and the agent.
    pub(crate) stderr: String,
}

/// `termctl acp` in this home.
pub(crate) fn acp(home: &Home) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
    command.args(["acp", "--"]);
    command
}

/// Reads to the end in a thread, so that the receiver can have a deadline.
fn read_in_thread(mut reader: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // A read error counts as the end.
        let _ = reader.read_to_end(&mut all);
        let _ = sender.send(all);
    });
    receiver
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
            stdin: child.stdin.take().map(|stdin| OwnedFd::from(stdin).into()),
            stdout: child.stdout.take(),
            errors: read_in_thread(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The same with a shell script as the agent.
    pub(crate) fn script(home: &Home, script: &str) -> Self {
        Self::agent(home, &["/bin/sh", "-c", script])
    }

    /// The proxy's pid.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// The pid of the agent, once it runs.
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

    /// Writes bytes to the proxy.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Reads this many lines.
    #[track_caller]
    pub(crate) fn lines(&mut self, count: usize) -> Vec<u8> {
        let mut reader = self.stdout.take().unwrap();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let (mut all, mut byte) = (Vec::new(), [0]);
            let mut left = count;
            while left > 0 && matches!(reader.read(&mut byte), Ok(1)) {
                all.extend_from_slice(&byte);
                left -= usize::from(byte == *b"\n");
            }
            let _ = sender.send((all, reader));
        });
        let (all, reader) = receiver.recv_timeout(DEADLINE).expect("no line came");
        self.stdout = Some(reader);
        all
    }

    /// The rest of standard output.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let rest = read_in_thread(self.stdout.take().unwrap());
        rest.recv_timeout(DEADLINE * 3)
            .expect("standard output never ended")
    }

    /// Waits for the end of the proxy.
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
        // The proxy ends after its agent. It may have ended already.
        if let Some(process) = Process::open(self.child.id().cast_signed()) {
            process.signal(rustix::process::Signal::TERM);
            process.ends_by(termd_test_support::Deadline::after(DEADLINE));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
