//! The encoding of messages: pure, and total over whatever bytes arrive.
//!
//! Fixed-width little-endian integers, byte strings with a u32 length before them. A body longer
//! than its fields is fine (a newer peer added some); a shorter one is malformed.

use std::str::FromStr;
use std::time::Duration;

use termd_proto::TerminalId;
use thiserror::Error;

use super::message::{
    EndTree, KeeperEvent, ProcessId, Refusal, SpawnFailure, SpawnRequest, SpawnStep, ToKeeper,
    ToServer, WaitStatus,
};

/// Which message a packet holds.
pub type Kind = u16;

/// A body that is not what its kind says.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("malformed control message")]
pub struct Malformed;

/// Kinds from server to keeper. Numbers are never reused.
mod to_keeper {
    pub(super) const HELLO: u16 = 1;
    pub(super) const SPAWN: u16 = 2;
    pub(super) const END_TREE: u16 = 3;
    pub(super) const SIGNAL_TREE: u16 = 4;
    pub(super) const SET_NOTES: u16 = 5;
    pub(super) const RELEASE: u16 = 6;
    pub(super) const READY: u16 = 7;
    pub(super) const PONG: u16 = 8;
    pub(super) const FORGET: u16 = 9;
}

/// Kinds from keeper to server. Numbers are never reused.
mod to_server {
    pub(super) const HELLO: u16 = 101;
    pub(super) const INVENTORY: u16 = 102;
    pub(super) const INVENTORY_END: u16 = 103;
    pub(super) const DONE: u16 = 104;
    pub(super) const SPAWNED: u16 = 105;
    pub(super) const REFUSED: u16 = 106;
    pub(super) const EXITED: u16 = 107;
    pub(super) const HAND_OVER: u16 = 108;
    pub(super) const STOPPING: u16 = 109;
    pub(super) const FINISH: u16 = 110;
    pub(super) const PING: u16 = 111;
}

impl ToKeeper {
    /// The message's kind and body.
    pub fn encode(&self) -> (Kind, Vec<u8>) {
        let mut out = Writer::default();
        let kind = match self {
            Self::Hello { version } => {
                out.u32(*version);
                to_keeper::HELLO
            }
            Self::Spawn(request) => {
                out.id(&request.id);
                out.bytes(&request.program);
                out.list(&request.argv);
                out.list(&request.env);
                out.bytes(&request.cwd);
                out.u16(request.cols);
                out.u16(request.rows);
                out.bytes(&request.notes);
                to_keeper::SPAWN
            }
            Self::EndTree { id, end } => {
                out.id(id);
                out.i32(end.signal);
                out.u64(u64::try_from(end.grace.as_millis()).unwrap_or(u64::MAX));
                to_keeper::END_TREE
            }
            Self::SignalTree { id, signal } => {
                out.id(id);
                out.i32(*signal);
                to_keeper::SIGNAL_TREE
            }
            Self::SetNotes { id, notes } => {
                out.id(id);
                out.bytes(notes);
                to_keeper::SET_NOTES
            }
            Self::Release { id } => {
                out.id(id);
                to_keeper::RELEASE
            }
            Self::Forget { id } => {
                out.id(id);
                to_keeper::FORGET
            }
            Self::Ready => to_keeper::READY,
            Self::Pong => to_keeper::PONG,
        };
        (kind, out.0)
    }

    /// The message that this body is, or `None` where the kind is of a newer server.
    pub fn decode(kind: Kind, body: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut input = Reader(body);
        Ok(Some(match kind {
            to_keeper::HELLO => Self::Hello {
                version: input.u32()?,
            },
            to_keeper::SPAWN => Self::Spawn(SpawnRequest {
                id: input.id()?,
                program: input.bytes()?,
                argv: input.list()?,
                env: input.list()?,
                cwd: input.bytes()?,
                cols: input.u16()?,
                rows: input.u16()?,
                notes: input.bytes()?,
            }),
            to_keeper::END_TREE => Self::EndTree {
                id: input.id()?,
                end: EndTree {
                    signal: input.i32()?,
                    grace: Duration::from_millis(input.u64()?),
                },
            },
            to_keeper::SIGNAL_TREE => Self::SignalTree {
                id: input.id()?,
                signal: input.i32()?,
            },
            to_keeper::SET_NOTES => Self::SetNotes {
                id: input.id()?,
                notes: input.bytes()?,
            },
            to_keeper::RELEASE => Self::Release { id: input.id()? },
            to_keeper::FORGET => Self::Forget { id: input.id()? },
            to_keeper::READY => Self::Ready,
            to_keeper::PONG => Self::Pong,
            _ => return Ok(None),
        }))
    }
}

impl ToServer {
    /// The message's kind and body.
    pub fn encode(&self) -> (Kind, Vec<u8>) {
        let mut out = Writer::default();
        let kind = match self {
            Self::Hello { version } => {
                out.u32(*version);
                to_server::HELLO
            }
            Self::Inventory {
                id,
                process,
                status,
                notes,
            } => {
                out.id(id);
                out.process(*process);
                out.status(*status);
                out.bytes(notes);
                to_server::INVENTORY
            }
            Self::InventoryEnd => to_server::INVENTORY_END,
            Self::Done => to_server::DONE,
            Self::Spawned { process } => {
                out.process(*process);
                to_server::SPAWNED
            }
            Self::Refused(refusal) => {
                out.refusal(*refusal);
                to_server::REFUSED
            }
            Self::Event(KeeperEvent::Exited { id, status }) => {
                out.id(id);
                out.status(Some(*status));
                to_server::EXITED
            }
            Self::Event(KeeperEvent::HandOver) => to_server::HAND_OVER,
            Self::Event(KeeperEvent::Stopping) => to_server::STOPPING,
            Self::Event(KeeperEvent::Finish) => to_server::FINISH,
            Self::Ping => to_server::PING,
        };
        (kind, out.0)
    }

    /// The message that this body is, or `None` where the kind is of a newer keeper.
    pub fn decode(kind: Kind, body: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut input = Reader(body);
        Ok(Some(match kind {
            to_server::HELLO => Self::Hello {
                version: input.u32()?,
            },
            to_server::INVENTORY => Self::Inventory {
                id: input.id()?,
                process: input.process()?,
                status: input.status()?,
                notes: input.bytes()?,
            },
            to_server::INVENTORY_END => Self::InventoryEnd,
            to_server::DONE => Self::Done,
            to_server::SPAWNED => Self::Spawned {
                process: input.process()?,
            },
            to_server::REFUSED => Self::Refused(input.refusal()?),
            to_server::EXITED => Self::Event(KeeperEvent::Exited {
                id: input.id()?,
                status: input.status()?.ok_or(Malformed)?,
            }),
            to_server::HAND_OVER => Self::Event(KeeperEvent::HandOver),
            to_server::STOPPING => Self::Event(KeeperEvent::Stopping),
            to_server::FINISH => Self::Event(KeeperEvent::Finish),
            to_server::PING => Self::Ping,
            _ => return Ok(None),
        }))
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn i32(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A length beyond u32 cannot arise: bodies are bounded far below it when they are sent.
    fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, items: &[Vec<u8>]) {
        self.length(items.len());
        for item in items {
            self.bytes(item);
        }
    }

    fn id(&mut self, id: &TerminalId) {
        self.bytes(id.as_str().as_bytes());
    }

    fn process(&mut self, process: ProcessId) {
        self.i32(process.pid);
        self.u64(process.start_time);
    }

    fn status(&mut self, status: Option<WaitStatus>) {
        let (tag, value) = match status {
            None => (0, 0),
            Some(WaitStatus::Exited(code)) => (1, code),
            Some(WaitStatus::Signaled(signal)) => (2, signal),
        };
        self.u8(tag);
        self.i32(value);
    }

    fn refusal(&mut self, refusal: Refusal) {
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

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.u32()?).map_err(|_| Malformed)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = self.length()?;
        self.take(length).map(<[u8]>::to_vec)
    }

    /// Grows with what is really there, never by the length that a peer claims.
    fn list(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        let count = self.length()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.bytes()?);
        }
        Ok(items)
    }

    fn id(&mut self) -> Result<TerminalId, Malformed> {
        let length = self.length()?;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| Malformed)?;
        TerminalId::from_str(text).map_err(|_| Malformed)
    }

    fn process(&mut self) -> Result<ProcessId, Malformed> {
        Ok(ProcessId {
            pid: self.i32()?,
            start_time: self.u64()?,
        })
    }

    fn status(&mut self) -> Result<Option<WaitStatus>, Malformed> {
        let (tag, value) = (self.u8()?, self.i32()?);
        match tag {
            0 => Ok(None),
            1 => Ok(Some(WaitStatus::Exited(value))),
            2 => Ok(Some(WaitStatus::Signaled(value))),
            _ => Err(Malformed),
        }
    }

    fn refusal(&mut self) -> Result<Refusal, Malformed> {
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

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
