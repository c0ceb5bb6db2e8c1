//! A terminal that was recorded elsewhere: packed as it comes, and stored whole or not at all.

use std::io;
use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;
use termd_policy::secrets::redact::Redactor;
use termd_proto::{Offset, TerminalId};
use tokio::sync::{oneshot, watch};

use super::Store;
use super::audit::entry::AuditEntry;
use super::commands::{CommandChange, CommandWrite, put_command};
use super::error::StoreError;
use super::terminals::{TerminalRow, put_terminal, raise_end};
use super::transcript::arrivals::{self, Arrival, ArrivalClock};
use super::transcript::blocks::{BLOCK_BYTES, PackedBlock, put_blocks};
use super::transcript::checkpoints::{
    CheckpointUse, PackedCheckpoint, ScreenCheckpoint, SizeChange, put_checkpoint, put_size,
};
use super::transcript::encoding::Packer;
use super::writer::queue::{ImportRequest, Urgent};

/// The output of a recording, packed block by block.
pub struct ImportedOutput {
    terminal: TerminalId,
    packer: Packer,
    blocks: Vec<PackedBlock>,
    /// The block that is being filled.
    bytes: Vec<u8>,
    arrivals: Vec<Arrival>,
}

/// A terminal that was recorded elsewhere, whole.
pub struct ImportedTerminal {
    /// Its row. The ends of its output are those of `output`.
    pub row: TerminalRow,
    /// What it printed.
    pub output: ImportedOutput,
    /// Each size but the first.
    pub sizes: Vec<SizeChange>,
    /// What was run in it.
    pub commands: Vec<CommandChange>,
    /// Its last screen.
    pub screen: ScreenCheckpoint,
    /// Screens to look back from.
    pub keyframes: Vec<ScreenCheckpoint>,
}

impl Store {
    /// Stores a terminal that was recorded elsewhere, and the record of that: both, or nothing.
    pub async fn import(
        &self,
        terminal: ImportedTerminal,
        entry: AuditEntry,
    ) -> Result<(), StoreError> {
        let entry = self.redacted(entry).await?;
        let redactor = Arc::clone(&self.redactor);
        let packed = tokio::task::spawn_blocking(move || terminal.pack(&redactor));
        let terminal = Box::new(packed.await.map_err(|_| StoreError::Closed)?);
        let (done, stored) = oneshot::channel();
        let import = ImportRequest {
            terminal,
            entry,
            done,
        };
        self.urgent.send(Urgent::Import(Box::new(import))).await?;
        stored.await?
    }
}

impl ImportedOutput {
    /// No output yet.
    pub fn of(terminal: TerminalId) -> io::Result<Self> {
        Ok(Self {
            terminal,
            packer: Packer::new()?,
            blocks: Vec::new(),
            bytes: Vec::new(),
            arrivals: Vec::new(),
        })
    }

    /// The offset after the last byte.
    pub fn end(&self) -> Offset {
        self.start() + self.bytes.len() as u64
    }

    /// Adds output that came at this time, in milliseconds since the start. Times never go back.
    pub fn add(&mut self, mut bytes: &[u8], at_ms: u64) {
        while !bytes.is_empty() {
            let room = BLOCK_BYTES - self.bytes.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.bytes.extend_from_slice(now);
            let end = self.end();
            match self.arrivals.last_mut() {
                Some(last) if last.at_ms == at_ms => last.end = end,
                _ => self.arrivals.push(Arrival {
                    end,
                    at_ms,
                    clock: ArrivalClock::Read,
                }),
            }
            if self.bytes.len() == BLOCK_BYTES {
                self.finish_block();
            }
            bytes = later;
        }
    }

    /// Where the block begins that is being filled.
    fn start(&self) -> Offset {
        self.blocks.last().map_or(Offset::ZERO, |block| block.end)
    }

    fn finish_block(&mut self) {
        let (start, end) = (self.start(), self.end());
        let bytes = std::mem::take(&mut self.bytes);
        let times = arrivals::encode(start, &std::mem::take(&mut self.arrivals));
        let length = bytes.len();
        let (encoding, data) = self.packer.pack(bytes);
        self.blocks.push(PackedBlock {
            terminal: self.terminal.clone(),
            start,
            end,
            length,
            encoding,
            data,
            origins: None,
            times: self.packer.pack_tagged(times),
            committed: watch::Sender::new(Offset::ZERO),
        });
    }
}

/// An [`ImportedTerminal`] as it is stored.
#[derive(Debug)]
pub(crate) struct PackedTerminal {
    row: TerminalRow,
    blocks: Vec<PackedBlock>,
    sizes: Vec<SizeChange>,
    commands: Vec<CommandWrite>,
    screens: Vec<PackedCheckpoint>,
}

impl ImportedTerminal {
    /// Packs what is left, and takes secrets out of the texts.
    pub(super) fn pack(mut self, redactor: &Redactor) -> PackedTerminal {
        if !self.output.bytes.is_empty() {
            self.output.finish_block();
        }
        let (mut row, mut output) = (self.row, self.output);
        row.argv = redactor.argv(&row.argv);
        row.meta = row.meta.map(|meta| redactor.map(meta));
        let terminal = row.id.clone();
        let commands = self.commands.into_iter().map(|mut change| {
            if let CommandChange::Started(started) = &mut change {
                started.text = redactor.text(&started.text).into_owned();
            }
            let terminal = terminal.clone();
            CommandWrite { terminal, change }
        });
        let keyframes = self.keyframes.into_iter();
        let keyframes = keyframes.map(|keyframe| (CheckpointUse::Keyframe, keyframe));
        let screens = keyframes.chain([(CheckpointUse::Latest, self.screen)]);
        let screens = screens.map(|(kept_as, screen)| {
            let length = screen.dump.len();
            let (encoding, data) = output.packer.pack(screen.dump);
            PackedCheckpoint {
                terminal: terminal.clone(),
                kept_as,
                at: screen.at,
                length,
                encoding,
                data,
            }
        });
        PackedTerminal {
            screens: screens.collect(),
            commands: commands.collect(),
            blocks: output.blocks,
            sizes: self.sizes,
            row,
        }
    }
}

/// Writes all of it in the transaction that is open.
pub(super) async fn put(
    connection: &mut SqliteConnection,
    packed: &PackedTerminal,
) -> Result<(), StoreError> {
    let id = &packed.row.id;
    put_terminal(&mut *connection, &packed.row).await?;
    for block in &packed.blocks {
        put_blocks(&mut *connection, &[block]).await?;
    }
    if let Some(last) = packed.blocks.last() {
        raise_end(&mut *connection, id, last.end).await?;
    }
    for size in &packed.sizes {
        put_size(&mut *connection, id, *size).await?;
    }
    for command in &packed.commands {
        put_command(&mut *connection, command).await?;
    }
    for screen in &packed.screens {
        put_checkpoint(&mut *connection, screen).await?;
    }
    Ok(())
}
