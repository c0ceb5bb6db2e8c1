//! The store against real files: every query is run here.

mod chain;
mod commands;
mod full_disk;
mod imports;
mod opening;
mod refusal;
mod retention;
mod terminals;
mod transcripts;

use std::path::PathBuf;

use serde_json::{Map, Value};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;
use termd_proto::audit::AuditOrder;
use termd_proto::terminal::{ExitStatus, Front, Owner};
use termd_proto::{Offset, Tags, TerminalId};
use tokio::sync::watch;

use super::{AuditAction, AuditEntry, AuditOutcome, BLOCK_BYTES, Block, Store, TerminalRow};

/// A directory for one test's database.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("termd.db")
    }

    async fn open(&self) -> Store {
        Store::open(self.path()).await.unwrap()
    }

    /// The name and bytes of every file except the reserve, which holds nothing.
    fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .filter(|(name, _)| !name.ends_with("-reserve"))
            .collect();
        files.sort();
        files
    }

    /// A connection of its own, past the store.
    async fn connection(&self) -> SqliteConnection {
        SqliteConnectOptions::new()
            .filename(self.path())
            .connect()
            .await
            .unwrap()
    }

    /// Runs statements past the store.
    async fn execute(&self, sql: &str) {
        let mut connection = self.connection().await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    }

    /// Reads one number past the store.
    async fn number(&self, sql: &str) -> i64 {
        let mut connection = self.connection().await;
        let number = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        number
    }
}

fn id(number: u64) -> TerminalId {
    TerminalId::from_random(number)
}

fn owner() -> Owner {
    Owner {
        front: Front::Acp,
        uid: 1000,
        pid: 4242,
        exe: Some("/usr/bin/agent".to_owned()),
        session: Some("sess_1".to_owned()),
        client: Some("zed".to_owned()),
        agent: None,
        terminal: None,
    }
}

fn running(number: u64) -> TerminalRow {
    TerminalRow {
        id: id(number),
        label: None,
        argv: vec!["sh".to_owned(), "-c".to_owned(), "echo it's".to_owned()],
        agent_line: None,
        cwd: "/tmp".to_owned(),
        pid: 77,
        cols: 80,
        rows: 24,
        owner: owner(),
        created_at_ms: 1_000,
        exited_at_ms: None,
        exit_status: None,
        released_at_ms: None,
        imported_at_ms: None,
        seen_at_ms: None,
        tags: Tags::default(),
        closed_at_ms: None,
        close_cause: None,
        end_cause: None,
        held_to: None,
        idle_timeout_ms: None,
        last_activity_ms: None,
        scrollback_lines: None,
        first_cols: None,
        first_rows: None,
        output_byte_limit: 1 << 20,
        start: Offset::ZERO,
        end: Offset::ZERO,
        stdio: termd_proto::terminal::Stdio::Pty,
        meta: None,
    }
}

fn ended(number: u64, exited_at_ms: i64) -> TerminalRow {
    TerminalRow {
        exited_at_ms: Some(exited_at_ms),
        exit_status: Some(ExitStatus {
            exit_code: Some(0),
            signal: None,
        }),
        ..running(number)
    }
}

fn entry(action: &'static str, at_ms: i64) -> AuditEntry {
    let mut detail = Map::new();
    detail.insert("argv".to_owned(), Value::from(vec!["sh", "-c", "ü\n"]));
    AuditEntry {
        at_ms,
        action: AuditAction::Other(action),
        outcome: AuditOutcome::Ok,
        actor: owner(),
        terminal: Some(id(1)),
        detail,
    }
}

/// Queues a block; returns the receiver of its commit.
async fn put(store: &Store, terminal: u64, start: u64, bytes: Vec<u8>) -> watch::Receiver<Offset> {
    let (sender, committed) = watch::channel(Offset::ZERO);
    store.reserve_block().await.unwrap().send(Block {
        terminal: id(terminal),
        start: Offset(start),
        bytes,
        origins: None,
        arrivals: Vec::new(),
        committed: sender,
    });
    committed
}

async fn read(store: &Store, terminal: u64, since: u64, max: u64) -> (u64, Vec<u8>) {
    let read = store
        .read_transcript(&id(terminal), Offset(since), max)
        .await
        .unwrap();
    (read.start.0, read.bytes)
}

/// Bytes that do not compress, the same for the same seed (xorshift64*).
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Random(seed | 1);
    (0..length)
        .map(|_| random.below(256).to_le_bytes()[0])
        .collect()
}

struct Random(u64);

impl Random {
    fn length_below(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }
}
