//! What the store costs: `cargo bench -p termd --bench store`.
//!
//! Prints MiB/s of log-like and of incompressible output until it is committed, and what an audit
//! record costs on an idle store and beside a flood, next to a bare 4 KiB fdatasync on the same
//! file system. `TERMD_BENCH_DIR` names the directory; without it, the current one.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use termd::store::{AuditAction, AuditEntry, AuditOutcome, BLOCK_BYTES, Block, Store, TerminalRow};
use termd_proto::terminal::{Front, Owner};
use termd_proto::{Offset, Tags, TerminalId};
use tokio::sync::watch;

/// Output written in the throughput runs.
const OUTPUT_MIB: u16 = 64;
/// The same in bytes.
const OUTPUT_BYTES: usize = (OUTPUT_MIB as usize) << 20;
/// Samples of each latency.
const SAMPLES: usize = 500;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let parent = std::env::var("TERMD_BENCH_DIR").unwrap_or_else(|_| ".".to_owned());
    let directory = tempfile::tempdir_in(parent).unwrap();
    let store = Store::open(directory.path().join("termd.db"))
        .await
        .unwrap();
    let id = TerminalId::from_random(1);
    store.put_terminal(row(&id)).await.unwrap();
    store.flush().await.unwrap();

    let sync = median(fdatasyncs(directory.path()));
    // On a worker, as the daemon's tasks are.
    let audit = median(tokio::spawn(audits(store.clone())).await.unwrap());
    println!("bare append of 4 KiB + fdatasync, median   {sync:>8.0?}");
    println!("audit record on an idle store, median      {audit:>8.0?}");
    println!(
        "  over the fdatasync                       {:>8.0?}",
        audit.saturating_sub(sync)
    );

    let log = log_lines(OUTPUT_BYTES);
    let (mut start, seconds) = (0, write(&store, &id, 0, &log).await);
    println!(
        "log-like output, committed                 {:>6.0} MiB/s",
        f64::from(OUTPUT_MIB) / seconds
    );
    start += log.len();
    let noise = noise(OUTPUT_BYTES);
    let seconds = write(&store, &id, start, &noise).await;
    println!(
        "incompressible output, committed           {:>6.0} MiB/s",
        f64::from(OUTPUT_MIB) / seconds
    );
    start += noise.len();

    let began = Instant::now();
    let read = store
        .read_transcript(&id, Offset(0), log.len() as u64)
        .await
        .unwrap();
    assert!(read.bytes == log, "what was written reads back");
    println!(
        "log-like output, read back                 {:>6.0} MiB/s",
        f64::from(OUTPUT_MIB) / began.elapsed().as_secs_f64()
    );

    let flood = tokio::spawn({
        let (store, id) = (store.clone(), id.clone());
        async move {
            write(&store, &id, start, &log).await;
            write(&store, &id, start + log.len(), &noise).await
        }
    });
    let mut beside = Vec::new();
    while !flood.is_finished() {
        let began = Instant::now();
        store.audit(entry()).await.unwrap();
        beside.push(began.elapsed());
    }
    beside.sort_unstable();
    println!(
        "audit records beside a flood ({}): median {:.0?}, 99% {:.0?}, worst {:.0?}",
        beside.len(),
        beside[beside.len() / 2],
        beside[beside.len() * 99 / 100],
        beside[beside.len() - 1]
    );
    println!(
        "database                                   {:>6} KiB",
        store.database_bytes() >> 10
    );
    store.close().await.unwrap();
}

/// Queues all of it in blocks and waits until it is committed; in seconds.
async fn write(store: &Store, id: &TerminalId, start: usize, bytes: &[u8]) -> f64 {
    let began = Instant::now();
    let (committed, mut told) = watch::channel(Offset::ZERO);
    for (number, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
        store.reserve_block().await.unwrap().send(Block {
            terminal: id.clone(),
            start: Offset((start + number * BLOCK_BYTES) as u64),
            bytes: block.to_vec(),
            origins: None,
            arrivals: Vec::new(),
            committed: committed.clone(),
        });
    }
    let end = (start + bytes.len()) as u64;
    told.wait_for(|told| told.0 == end).await.unwrap();
    began.elapsed().as_secs_f64()
}

async fn audits(store: Store) -> Vec<Duration> {
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let began = Instant::now();
        store.audit(entry()).await.unwrap();
        samples.push(began.elapsed());
    }
    samples
}

fn fdatasyncs(directory: &Path) -> Vec<Duration> {
    let mut file = File::create(directory.join("bare")).unwrap();
    let page = [7_u8; 4096];
    (0..SAMPLES)
        .map(|_| {
            let began = Instant::now();
            file.write_all(&page).unwrap();
            file.sync_data().unwrap();
            began.elapsed()
        })
        .collect()
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn log_lines(length: usize) -> Vec<u8> {
    let mut lines = String::with_capacity(length + 200);
    let mut number = 1_u64;
    while lines.len() < length {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let _ = writeln!(
            lines,
            "\u{1b}[32m2026-03-01T12:{:02}:{:02}.{:06}Z\u{1b}[0m INFO worker-{} request id={:016x} GET /api/v1/items/{} took {} us\r",
            number >> 58,
            (number >> 52) & 0x3f,
            (number >> 20) % 1_000_000,
            number >> 61,
            number,
            (number >> 33) % 5_000,
            (number >> 40) % 9_000,
        );
    }
    lines.truncate(length);
    lines.into_bytes()
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn owner() -> Owner {
    Owner {
        front: Front::Acp,
        uid: 1000,
        pid: 1,
        exe: Some("/usr/bin/agent".to_owned()),
        session: Some("sess_1".to_owned()),
        client: Some("bench".to_owned()),
        agent: None,
        terminal: None,
    }
}

fn entry() -> AuditEntry {
    let mut detail = Map::new();
    detail.insert(
        "argv".to_owned(),
        Value::from(vec!["cargo", "test", "--workspace"]),
    );
    detail.insert("cwd".to_owned(), Value::from("/home/user/project"));
    AuditEntry {
        at_ms: 1,
        action: AuditAction::TerminalCreate,
        outcome: AuditOutcome::Ok,
        actor: owner(),
        terminal: Some(TerminalId::from_random(1)),
        detail,
    }
}

fn row(id: &TerminalId) -> TerminalRow {
    TerminalRow {
        id: id.clone(),
        label: None,
        argv: vec!["true".to_owned()],
        agent_line: None,
        cwd: "/".to_owned(),
        pid: 1,
        cols: 80,
        rows: 24,
        owner: owner(),
        created_at_ms: 1,
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
