//! The fields of messages, written and read in order.

use std::str::FromStr;

use nix::libc::SIGKILL;
use termd_proto::TerminalId;
use termd_proto::terminal::{Stdin, Stdio};
use thiserror::Error;

use crate::protocol::message::{
    ExecRelease, ListedProcess, MAX_LISTED_PROCESSES, PausePoint, ProcessId, ProcessList, Refusal,
    SpawnFailure, SpawnStep, WaitStatus,
};

/// A body that is not what its kind says.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("malformed control message")]
pub struct Malformed;

#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A length beyond u32 cannot arise: bodies are bounded far below it when they are sent.
    pub(super) fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn list(&mut self, items: &[Vec<u8>]) {
        self.length(items.len());
        for item in items {
            self.bytes(item);
        }
    }

    pub(super) fn id(&mut self, id: &TerminalId) {
        self.bytes(id.as_str().as_bytes());
    }

    pub(super) fn process(&mut self, process: ProcessId) {
        self.i32(process.pid);
        self.u64(process.start_time);
    }

    pub(super) fn status(&mut self, status: Option<WaitStatus>) {
        let (tag, value) = match status {
            None => (0, 0),
            Some(WaitStatus::Exited(code)) => (1, code),
            Some(WaitStatus::Signaled(signal)) => (2, signal),
            // For an older server; `status_extension` at the message's end says the rest.
            Some(WaitStatus::CpuTimeUp) => (2, SIGKILL),
        };
        self.u8(tag);
        self.i32(value);
    }

    /// The part of a status that was added later, at the message's end.
    pub(super) fn status_extension(&mut self, status: Option<WaitStatus>) {
        self.u8((status == Some(WaitStatus::CpuTimeUp)).into());
    }

    pub(super) fn stdio(&mut self, stdio: Stdio) {
        self.u8(match stdio {
            Stdio::Pty => 0,
            Stdio::Pipes => 1,
        });
    }

    pub(super) fn stdin(&mut self, stdin: Stdin) {
        self.u8(match stdin {
            Stdin::Null => 0,
            Stdin::Pipe => 1,
            Stdin::Inherited => 2,
        });
    }

    pub(super) fn pause(&mut self, pause: Option<PausePoint>) {
        self.u8(match pause {
            None => 0,
            Some(PausePoint::BeforeConfinement) => 1,
            Some(PausePoint::BeforeExec) => 2,
        });
    }

    pub(super) fn exec_release(&mut self, release: &ExecRelease) {
        match release {
            ExecRelease::Run { cgroup } => {
                self.u8(0);
                self.bytes(cgroup);
            }
            ExecRelease::Cancel => self.u8(1),
        }
    }

    pub(super) fn processes(&mut self, processes: &ProcessList) {
        self.u32(processes.count);
        self.length(processes.listed.len());
        for process in &processes.listed {
            self.process(process.process);
            self.bytes(&process.name);
        }
    }

    pub(super) fn refusal(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Spawn(failure) => {
                self.u8(0);
                self.u8(failure.step.number());
                self.i32(failure.errno);
            }
            Refusal::UnknownTerminal => self.u8(1),
            Refusal::Stopping => self.u8(2),
            Refusal::Survivors(count) => {
                self.u8(3);
                self.u32(count);
            }
            Refusal::Invalid => self.u8(4),
        }
    }
}

pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn length(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.u32()?).map_err(|_| Malformed)
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.length()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    /// The list grows with the bytes that are there, never by the length that a peer claims.
    pub(super) fn list(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        let count = self.length()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.bytes()?);
        }
        Ok(items)
    }

    pub(super) fn id(&mut self) -> Result<TerminalId, Malformed> {
        let length = self.length()?;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| Malformed)?;
        TerminalId::from_str(text).map_err(|_| Malformed)
    }

    pub(super) fn process(&mut self) -> Result<ProcessId, Malformed> {
        Ok(ProcessId {
            pid: self.i32()?,
            start_time: self.u64()?,
        })
    }

    pub(super) fn status(&mut self) -> Result<Option<WaitStatus>, Malformed> {
        let (tag, value) = (self.u8()?, self.i32()?);
        match tag {
            0 => Ok(None),
            1 => Ok(Some(WaitStatus::Exited(value))),
            2 => Ok(Some(WaitStatus::Signaled(value))),
            _ => Err(Malformed),
        }
    }

    /// Added later: a peer of level 0 sends nothing here.
    pub(super) fn level(&mut self) -> Result<u32, Malformed> {
        if self.0.is_empty() { Ok(0) } else { self.u32() }
    }

    /// Added later: a peer that knows no pipes sends nothing here.
    pub(super) fn stdio(&mut self) -> Result<Stdio, Malformed> {
        if self.0.is_empty() {
            return Ok(Stdio::Pty);
        }
        match self.u8()? {
            0 => Ok(Stdio::Pty),
            1 => Ok(Stdio::Pipes),
            _ => Err(Malformed),
        }
    }

    /// Added later: an older server sends nothing here.
    pub(super) fn stdin(&mut self) -> Result<Stdin, Malformed> {
        if self.0.is_empty() {
            return Ok(Stdin::Null);
        }
        match self.u8()? {
            0 => Ok(Stdin::Null),
            1 => Ok(Stdin::Pipe),
            2 => Ok(Stdin::Inherited),
            _ => Err(Malformed),
        }
    }

    /// Added later: an older keeper sends nothing here.
    pub(super) fn status_extension(
        &mut self,
        status: Option<WaitStatus>,
    ) -> Result<Option<WaitStatus>, Malformed> {
        if self.0.is_empty() {
            return Ok(status);
        }
        match (self.u8()?, status) {
            (0, status) => Ok(status),
            (1, Some(WaitStatus::Signaled(SIGKILL))) => Ok(Some(WaitStatus::CpuTimeUp)),
            _ => Err(Malformed),
        }
    }

    /// Added later: a server below level 3 sends nothing here.
    pub(super) fn pause(&mut self) -> Result<Option<PausePoint>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        match self.u8()? {
            0 => Ok(None),
            1 => Ok(Some(PausePoint::BeforeConfinement)),
            2 => Ok(Some(PausePoint::BeforeExec)),
            _ => Err(Malformed),
        }
    }

    pub(super) fn exec_release(&mut self) -> Result<ExecRelease, Malformed> {
        match self.u8()? {
            0 => Ok(ExecRelease::Run {
                cgroup: self.bytes()?,
            }),
            1 => Ok(ExecRelease::Cancel),
            _ => Err(Malformed),
        }
    }

    pub(super) fn processes(&mut self) -> Result<ProcessList, Malformed> {
        let (count, length) = (self.u32()?, self.length()?);
        if length > MAX_LISTED_PROCESSES {
            return Err(Malformed);
        }
        let mut listed = Vec::new();
        for _ in 0..length {
            listed.push(ListedProcess {
                process: self.process()?,
                name: self.bytes()?,
            });
        }
        Ok(ProcessList { count, listed })
    }

    pub(super) fn refusal(&mut self) -> Result<Refusal, Malformed> {
        Ok(match self.u8()? {
            0 => Refusal::Spawn(SpawnFailure {
                step: SpawnStep::from_number(self.u8()?).ok_or(Malformed)?,
                errno: self.i32()?,
            }),
            1 => Refusal::UnknownTerminal,
            2 => Refusal::Stopping,
            3 => Refusal::Survivors(self.u32()?),
            4 => Refusal::Invalid,
            _ => return Err(Malformed),
        })
    }
}
