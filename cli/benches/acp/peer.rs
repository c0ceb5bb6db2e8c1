//! The agent, which is this program, and a client of it: on bare pipes, or behind `termctl acp`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use termd_test_support::{children_named, private_bytes};

/// The argument that makes this program the agent.
pub(crate) const ECHO: &str = "--answer";
/// What a message begins with; the length of its answer follows.
const BEGINNING: &str = r#"{"jsonrpc":"2.0","method":"_bench/message","params":{"answer":"#;
/// What stands around the text of a message.
const MIDDLE: &str = r#","text":""#;
const END: &str = "\"}}\n";
/// No read of a line is split by a buffer of ours.
const BUFFER_BYTES: usize = 256 << 10;

/// A client and its agent; dropping it ends the agent.
pub(crate) struct Peer {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Peer {
    /// On bare pipes.
    pub(crate) fn bare() -> anyhow::Result<Self> {
        Self::start(Command::new(std::env::current_exe()?).arg(ECHO))
    }

    /// Behind the proxy.
    pub(crate) fn proxied() -> anyhow::Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_termctl"));
        command.args(["--no-start", "acp", "--"]);
        Self::start(command.arg(std::env::current_exe()?).arg(ECHO))
    }

    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let from = child.stdout.take().context("no pipe to read from")?;
        Ok(Self {
            to: child.stdin.take(),
            child,
            from: BufReader::with_capacity(BUFFER_BYTES, from),
            line: Vec::new(),
        })
    }

    /// Sends a message of a length, and waits for the answer of another one.
    pub(crate) fn exchange(&mut self, length: usize, answer: usize) -> anyhow::Result<Duration> {
        let message = message(length, answer);
        self.line.clear();
        let to = self.to.as_mut().context("no pipe to write to")?;
        let begun = Instant::now();
        to.write_all(&message)?;
        self.from.read_until(b'\n', &mut self.line)?;
        let took = begun.elapsed();
        anyhow::ensure!(self.line.len() == answer, "an answer of another length");
        Ok(took)
    }

    /// Private bytes of the proxy, and of the supervisor of its agent.
    pub(crate) fn memory(&self) -> (u64, u64) {
        let proxy = self.child.id().cast_signed();
        let supervisors = children_named(proxy, "termctl");
        let below = supervisors.into_iter().map(private_bytes).sum();
        (private_bytes(proxy), below)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.to = None;
        // Until the agent is gone, too: nothing of it is to run beside the next one.
        let _ = self.from.read_to_end(&mut self.line);
        let _ = self.child.wait();
    }
}

fn message(length: usize, answer: usize) -> Vec<u8> {
    let mut message = format!("{BEGINNING}{answer}{MIDDLE}").into_bytes();
    message.resize(length.saturating_sub(END.len()), b'x');
    message.extend_from_slice(END.as_bytes());
    message
}

/// The agent: answers each line with one of the length that it asks for.
pub(crate) fn echo() -> anyhow::Result<()> {
    let mut from = BufReader::with_capacity(BUFFER_BYTES, io::stdin().lock());
    let mut to = io::stdout().lock();
    let mut line = Vec::new();
    let mut made = (0, Vec::new());
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let digits = line.get(BEGINNING.len()..).unwrap_or_default();
        let digits: String = (digits.iter())
            .take_while(|byte| byte.is_ascii_digit())
            .map(|&byte| char::from(byte))
            .collect();
        let length = digits.parse().context("a message without a length")?;
        if made.0 != length {
            made = (length, message(length, 0));
        }
        // One write: `Stdout` would cut it at its own buffer.
        to.write_all(&made.1)?;
        to.flush()?;
    }
}
