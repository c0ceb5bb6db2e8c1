//! Packing blocks: zstd where it helps, as they are where it does not, on a thread of its own.
//!
//! Compressing is the most expensive step of storing, so it happens before the writer sees a
//! block, in the order of the queue, and beside the transaction of the blocks before.
//!
//! **Invariant:** nothing here knows SQLite.

use std::io;
use std::sync::Arc;
use std::thread;

use termd_proto::Offset;
use tokio::sync::mpsc;
use zstd::bulk::{Compressor, Decompressor};

use super::model::{BLOCK_BYTES, Block, CommandChange, CommandWrite, TerminalRow};
use super::queue::{Packed, PackedScreen, PackedWrite, Write};
use termd_policy::secrets::redact::Redactor;

/// The lowest level: log-like output shrinks six-fold and costs less than writing it would.
const LEVEL: i32 = 1;

/// How a block's data is stored; the number is the database's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As it is.
    Raw,
    /// One zstd frame (RFC 8878).
    Zstd,
}

impl Encoding {
    /// Its number in the database.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Raw => 0,
            Self::Zstd => 1,
        }
    }

    /// The encoding of this number.
    pub(super) fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Raw),
            1 => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Compresses one block after the other with one context.
pub(super) struct Packer(Compressor<'static>);

impl Packer {
    pub(super) fn new() -> io::Result<Self> {
        Compressor::new(LEVEL).map(Self)
    }

    /// Packs bytes; gives them back as they are where that is not longer.
    pub(super) fn pack(&mut self, bytes: Vec<u8>) -> (Encoding, Vec<u8>) {
        match self.0.compress(&bytes) {
            Ok(packed) if packed.len() < bytes.len() => (Encoding::Zstd, packed),
            // zstd fails only without memory; raw bytes are as good, and nothing is lost.
            _ => (Encoding::Raw, bytes),
        }
    }
}

/// Unpacks what a [`Packer`] packed. `length` is what the row says it holds; `None` where the data
/// is something else. Never takes more memory than a block, whatever the data says.
pub(super) fn unpack(encoding: i64, data: &[u8], length: i64) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok()?;
    if length == 0 || length > BLOCK_BYTES {
        return None;
    }
    let bytes = match Encoding::from_number(encoding)? {
        Encoding::Raw => data.to_vec(),
        Encoding::Zstd => Decompressor::new().ok()?.decompress(data, length).ok()?,
    };
    (bytes.len() == length).then_some(bytes)
}

/// How much the packing thread yields to others (setpriority(2), 0 to 19).
const PACKING_NICENESS: i32 = 10;

/// Starts the thread that packs what is queued and hands it to the writer. It ends with the queue,
/// with the writer, or after a request to close.
pub(super) fn start_packing(
    mut queue: mpsc::Receiver<Write>,
    writer: mpsc::Sender<PackedWrite>,
    redactor: Arc<Redactor>,
) -> io::Result<()> {
    let mut packer = Packer::new()?;
    let mut pack_write = move |write| pack_write(&mut packer, &redactor, write);
    thread::Builder::new()
        .name("termd-pack".to_owned())
        .spawn(move || {
            // Where processors are short, reading terminals comes first: the spool can wait. Not
            // being allowed to be modest is no reason not to work.
            let _ = rustix::process::setpriority_process(None, PACKING_NICENESS);
            while let Some(write) = queue.blocking_recv() {
                let packed = pack_write(write);
                if let PackedWrite::Close(done) = packed {
                    // What was queued meanwhile is still taken. Not what has only a place: whoever
                    // holds one may hold it for ever.
                    queue.close();
                    while let Ok(write) = queue.try_recv() {
                        let last = match pack_write(write) {
                            PackedWrite::Close(done) => PackedWrite::Flush(done),
                            other => other,
                        };
                        if writer.blocking_send(last).is_err() {
                            return;
                        }
                    }
                    let _ = writer.blocking_send(PackedWrite::Close(done));
                    return;
                }
                if writer.blocking_send(packed).is_err() {
                    return;
                }
            }
        })
        .map(|_detached| ())
}

fn pack_write(packer: &mut Packer, redactor: &Redactor, write: Write) -> PackedWrite {
    match write {
        Write::Block(block) => PackedWrite::Block(pack_block(packer, block)),
        Write::Terminal(row) => PackedWrite::Terminal(Box::new(redacted_row(redactor, *row))),
        Write::Screen(terminal, screen) => {
            let length = screen.dump.len();
            let (encoding, data) = packer.pack(screen.dump);
            PackedWrite::Screen(PackedScreen {
                terminal,
                at: screen.at,
                length,
                encoding,
                data,
            })
        }
        Write::Size(terminal, change) => PackedWrite::Size(terminal, change),
        Write::Command(command) => {
            PackedWrite::Command(Box::new(redacted_command(redactor, *command)))
        }
        Write::Gap(gap) => PackedWrite::Gap(gap),
        Write::Flush(done) => PackedWrite::Flush(done),
        Write::Close(done) => PackedWrite::Close(done),
    }
}

/// A terminal without the secrets in its arguments and in what its creator said of it.
fn redacted_row(redactor: &Redactor, row: TerminalRow) -> TerminalRow {
    TerminalRow {
        argv: redactor.argv(&row.argv),
        meta: row.meta.map(|meta| redactor.map(meta)),
        ..row
    }
}

fn redacted_command(redactor: &Redactor, command: CommandWrite) -> CommandWrite {
    let change = match command.change {
        CommandChange::Started(mut started) => {
            started.text = redactor.text(&started.text).into_owned();
            CommandChange::Started(started)
        }
        ended @ CommandChange::Ended(_) => ended,
    };
    CommandWrite { change, ..command }
}

fn pack_origins(packer: &mut Packer, origins: Vec<u8>) -> Vec<u8> {
    let (encoding, data) = packer.pack(origins);
    let mut packed = vec![u8::from(encoding == Encoding::Zstd)];
    packed.extend_from_slice(&data);
    packed
}

/// Unpacks the origins of a block of this length.
pub(super) fn unpack_origins(packed: &[u8], length: i64) -> Option<Vec<u8>> {
    let (encoding, data) = packed.split_first()?;
    let length = length.checked_add(7)? / 8;
    unpack(i64::from(*encoding), data, length)
}

fn pack_block(packer: &mut Packer, block: Block) -> Packed {
    let length = block.bytes.len();
    let (encoding, data) = packer.pack(block.bytes);
    let origins = block.origins.map(|origins| pack_origins(packer, origins));
    Packed {
        origins,
        end: Offset(block.start.0.saturating_add(length as u64)),
        terminal: block.terminal,
        start: block.start,
        length,
        encoding,
        data,
        committed: block.committed,
    }
}
