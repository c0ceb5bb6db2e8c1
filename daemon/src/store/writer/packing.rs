//! The packing thread: compresses blocks and redacts rows on their way to the writer.
//!
//! Compressing is the most expensive step of storing, so it happens before the writer sees a block,
//! in the order of the queue, and beside the transaction of the blocks before.

use std::io;
use std::sync::Arc;
use std::thread;

use termd_policy::secrets::redact::Redactor;
use termd_proto::Offset;
use tokio::sync::mpsc;

use super::queue::{PackedWrite, RowWrite, Write};
use crate::store::commands::CommandChange;
use crate::store::transcript::arrivals;
use crate::store::transcript::blocks::PackedBlock;
use crate::store::transcript::checkpoints::PackedCheckpoint;
use crate::store::transcript::encoding::Packer;

/// The niceness of the packing thread (setpriority(2), 0 to 19).
const PACKING_NICENESS: i32 = 10;

/// Starts the thread. It ends with the queue, with the writer, or after a request to close.
pub(crate) fn start_packing(
    mut queue: mpsc::Receiver<Write>,
    writer: mpsc::Sender<PackedWrite>,
    redactor: Arc<Redactor>,
) -> io::Result<()> {
    let mut packer = Packer::new()?;
    let mut pack = move |write| pack(&mut packer, &redactor, write);
    thread::Builder::new()
        .name("termd-pack".to_owned())
        .spawn(move || {
            // Where processors are short, reading terminals comes first: the spool can wait. A
            // refused niceness changes only the order.
            let _ = rustix::process::setpriority_process(None, PACKING_NICENESS);
            while let Some(write) = queue.blocking_recv() {
                let packed = pack(write);
                if let PackedWrite::Close(done) = packed {
                    // Writes that are queued are still taken. A permit may be held for ever, so
                    // permits without a write are not waited for.
                    queue.close();
                    while let Ok(write) = queue.try_recv() {
                        let last = match pack(write) {
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

fn pack(packer: &mut Packer, redactor: &Redactor, write: Write) -> PackedWrite {
    match write {
        Write::Block(block) => {
            let length = block.bytes.len();
            let (encoding, data) = packer.pack(block.bytes);
            PackedWrite::Block(PackedBlock {
                origins: block.origins.map(|origins| packer.pack_tagged(origins)),
                times: packer.pack_tagged(arrivals::encode(block.start, &block.arrivals)),
                end: Offset(block.start.0.saturating_add(length as u64)),
                terminal: block.terminal,
                start: block.start,
                length,
                encoding,
                data,
                committed: block.committed,
            })
        }
        Write::Checkpoint(terminal, kept_as, checkpoint) => {
            let length = checkpoint.dump.len();
            let (encoding, data) = packer.pack(checkpoint.dump);
            PackedWrite::Checkpoint(PackedCheckpoint {
                terminal,
                kept_as,
                at: checkpoint.at,
                length,
                encoding,
                data,
            })
        }
        Write::Row(row) => PackedWrite::Row(redacted(redactor, row)),
        Write::Flush(done) => PackedWrite::Flush(done),
        Write::Close(done) => PackedWrite::Close(done),
    }
}

/// A row without the secrets in a terminal's arguments and `_meta`, and in a command line.
fn redacted(redactor: &Redactor, mut write: RowWrite) -> RowWrite {
    match &mut write {
        RowWrite::Terminal(row) => {
            row.argv = redactor.argv(&row.argv);
            let line = row.agent_line.as_deref();
            row.agent_line = line.map(|line| redactor.text(line).into_owned());
            row.meta = row.meta.take().map(|meta| redactor.map(meta));
        }
        RowWrite::Command(command) => {
            if let CommandChange::Started(started) = &mut command.change {
                started.text = redactor.text(&started.text).into_owned();
            }
        }
        RowWrite::Size(..) | RowWrite::OutputHash(..) | RowWrite::Gap(_) => {}
    }
    write
}
