//! The encoding of messages: pure, and total over whatever bytes arrive.
//!
//! Integers are little-endian and of fixed width; a u32 length precedes a byte string. A body may be
//! longer than its fields, because a newer peer added some; a shorter one is malformed.

mod confinement;
mod fields;
mod file_operation;
mod inherited;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::fields::Malformed;
use self::fields::{Reader, Writer};
use super::message::{EndTree, KeeperEvent, SpawnRequest, ToKeeper, ToServer};

/// The number that says which message a packet is.
pub type Kind = u16;

/// Kinds from server to keeper. Numbers are never reused.
mod to_keeper {
    pub(super) const HELLO: u16 = 1;
    pub(super) const SPAWN: u16 = 2;
    pub(super) const END_TREE: u16 = 3;
    pub(super) const SIGNAL_TREE: u16 = 4;
    pub(super) const SET_NOTES: u16 = 5;
    pub(super) const RELEASE_FDS: u16 = 6;
    pub(super) const READY: u16 = 7;
    pub(super) const PONG: u16 = 8;
    pub(super) const FORGET: u16 = 9;
    pub(super) const RELEASE_EXEC: u16 = 10;
    pub(super) const LIST_ORPHANS: u16 = 11;
    pub(super) const SET_AUDIT_HEAD: u16 = 12;
    pub(super) const CLOSE_STDIN: u16 = 13;
    pub(super) const LIST_TREE: u16 = 14;
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
    pub(super) const PAUSED: u16 = 112;
    pub(super) const BUILDER_FAILED: u16 = 113;
    pub(super) const PROCESSES: u16 = 114;
    pub(super) const AUDIT_HEAD: u16 = 115;
    pub(super) const RECOVERY: u16 = 116;
    pub(super) const RELOAD_FAILED: u16 = 117;
    pub(super) const RELOADING: u16 = 118;
}

impl ToKeeper {
    /// The kind of [`ToKeeper::Spawn`].
    pub const SPAWN: Kind = to_keeper::SPAWN;

    /// The message's kind and body.
    pub fn encode(&self) -> (Kind, Vec<u8>) {
        let mut out = Writer::default();
        let kind = match self {
            Self::Hello { version, level } => {
                out.u32(*version);
                out.u32(*level);
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
                out.stdio(request.stdio);
                out.confinement(&request.confinement);
                out.pause(request.pause);
                out.file(request.file.as_ref());
                out.stdin(request.stdin);
                out.stderr(request.stderr);
                out.inherited(&request.inherited);
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
            Self::ReleaseFds { id } => {
                out.id(id);
                to_keeper::RELEASE_FDS
            }
            Self::CloseStdin { id } => {
                out.id(id);
                to_keeper::CLOSE_STDIN
            }
            Self::Forget { id } => {
                out.id(id);
                to_keeper::FORGET
            }
            Self::ReleaseExec { id, release } => {
                out.id(id);
                out.exec_release(release);
                to_keeper::RELEASE_EXEC
            }
            Self::ListOrphans => to_keeper::LIST_ORPHANS,
            Self::ListTree { id } => {
                out.id(id);
                to_keeper::LIST_TREE
            }
            Self::SetAuditHead { head } => {
                out.bytes(head);
                to_keeper::SET_AUDIT_HEAD
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
                level: input.level()?,
            },
            to_keeper::SPAWN => Self::Spawn(Box::new(SpawnRequest {
                id: input.id()?,
                program: input.bytes()?,
                argv: input.list()?,
                env: input.list()?,
                cwd: input.bytes()?,
                cols: input.u16()?,
                rows: input.u16()?,
                notes: input.bytes()?,
                stdio: input.stdio()?,
                confinement: input.confinement()?,
                pause: input.pause()?,
                file: input.file()?,
                stdin: input.stdin()?,
                stderr: input.stderr()?,
                inherited: input.inherited()?,
            })),
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
            to_keeper::RELEASE_FDS => Self::ReleaseFds { id: input.id()? },
            to_keeper::CLOSE_STDIN => Self::CloseStdin { id: input.id()? },
            to_keeper::FORGET => Self::Forget { id: input.id()? },
            to_keeper::RELEASE_EXEC => Self::ReleaseExec {
                id: input.id()?,
                release: input.exec_release()?,
            },
            to_keeper::LIST_ORPHANS => Self::ListOrphans,
            to_keeper::LIST_TREE => Self::ListTree { id: input.id()? },
            to_keeper::SET_AUDIT_HEAD => Self::SetAuditHead {
                head: input.bytes()?,
            },
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
            Self::Hello { version, level } => {
                out.u32(*version);
                out.u32(*level);
                to_server::HELLO
            }
            Self::Inventory {
                id,
                process,
                status,
                notes,
                stdio,
            } => {
                out.id(id);
                out.process(*process);
                out.status(*status);
                out.bytes(notes);
                out.stdio(*stdio);
                out.status_extension(*status);
                to_server::INVENTORY
            }
            Self::AuditHead { head } => {
                out.bytes(head);
                to_server::AUDIT_HEAD
            }
            Self::Recovery => to_server::RECOVERY,
            Self::InventoryEnd => to_server::INVENTORY_END,
            Self::Done => to_server::DONE,
            Self::Spawned { process, enforced } => {
                out.process(*process);
                out.enforced(enforced);
                to_server::SPAWNED
            }
            Self::Paused { process } => {
                out.process(*process);
                to_server::PAUSED
            }
            Self::Processes(processes) => {
                out.processes(processes);
                to_server::PROCESSES
            }
            Self::Refused(refusal) => {
                out.refusal(*refusal);
                to_server::REFUSED
            }
            Self::Event(KeeperEvent::Exited { id, status }) => {
                out.id(id);
                out.status(Some(*status));
                out.status_extension(Some(*status));
                to_server::EXITED
            }
            Self::Event(KeeperEvent::BuilderFailed { id, stderr }) => {
                out.id(id);
                out.bytes(stderr);
                to_server::BUILDER_FAILED
            }
            Self::Event(KeeperEvent::ReloadFailed { reason }) => {
                out.bytes(reason.as_bytes());
                to_server::RELOAD_FAILED
            }
            Self::Event(KeeperEvent::Reloading) => to_server::RELOADING,
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
                level: input.level()?,
            },
            to_server::INVENTORY => {
                let (id, process) = (input.id()?, input.process()?);
                let status = input.status()?;
                Self::Inventory {
                    id,
                    process,
                    notes: input.bytes()?,
                    stdio: input.stdio()?,
                    status: input.status_extension(status)?,
                }
            }
            to_server::AUDIT_HEAD => Self::AuditHead {
                head: input.bytes()?,
            },
            to_server::RECOVERY => Self::Recovery,
            to_server::INVENTORY_END => Self::InventoryEnd,
            to_server::DONE => Self::Done,
            to_server::SPAWNED => Self::Spawned {
                process: input.process()?,
                enforced: input.enforced()?,
            },
            to_server::PAUSED => Self::Paused {
                process: input.process()?,
            },
            to_server::PROCESSES => Self::Processes(input.processes()?),
            to_server::REFUSED => Self::Refused(input.refusal()?),
            to_server::EXITED => {
                let (id, status) = (input.id()?, input.status()?);
                let status = input.status_extension(status)?.ok_or(Malformed)?;
                Self::Event(KeeperEvent::Exited { id, status })
            }
            to_server::BUILDER_FAILED => Self::Event(KeeperEvent::BuilderFailed {
                id: input.id()?,
                stderr: input.bytes()?,
            }),
            to_server::RELOAD_FAILED => Self::Event(KeeperEvent::ReloadFailed {
                reason: String::from_utf8(input.bytes()?).map_err(|_| Malformed)?,
            }),
            to_server::RELOADING => Self::Event(KeeperEvent::Reloading),
            to_server::HAND_OVER => Self::Event(KeeperEvent::HandOver),
            to_server::STOPPING => Self::Event(KeeperEvent::Stopping),
            to_server::FINISH => Self::Event(KeeperEvent::Finish),
            to_server::PING => Self::Ping,
            _ => return Ok(None),
        }))
    }
}
