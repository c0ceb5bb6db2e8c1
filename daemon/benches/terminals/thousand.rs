//! A thousand terminals at once, each writing 1 MiB; every transcript whole.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::daemon::{Client, Daemon, string, unsigned};
use termd_test_support::figures::{Limit, Report};

const TERMINALS: usize = 1000;
const BYTES_EACH: usize = 1 << 20;
/// Each begins with its own number, so that no two transcripts are alike.
const NUMBER_BYTES: usize = 8;

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    let rest = write_rest(daemon.directory())?;
    let gate = make_gate(daemon.directory())?;
    let directory = daemon.directory().to_string_lossy().into_owned();
    // Opening the gate for reading blocks until somebody has it open for writing.
    let script = format!(r#": <"$1/gate"; printf %0{NUMBER_BYTES}d "$0"; exec cat "$1/rest""#);

    let start = Instant::now();
    let mut ids = Vec::with_capacity(TERMINALS);
    for number in 0..TERMINALS {
        ids.push(client.create("sh", &["-c", &script, &number.to_string(), &directory])?);
    }
    report.beside(
        "1,000 creates, one after the other",
        "s",
        start.elapsed().as_secs_f64(),
    );

    let start = Instant::now();
    let _open = gate.open()?;
    for id in &ids {
        let answer = client.wait(id)?;
        ensure!(
            answer["exit_status"]["exit_code"] == json!(0),
            "{id}: {answer}"
        );
    }
    report.beside(
        "until all 1,000 have exited",
        "s",
        start.elapsed().as_secs_f64(),
    );
    client.wait_until_stored()?;
    report.beside(
        "until all of it is in the database",
        "s",
        start.elapsed().as_secs_f64(),
    );

    let mut whole = 0_u32;
    for (number, id) in ids.iter().enumerate() {
        // Closed: what is read now is read from the database.
        client.close(id)?;
        let mut expected = Sha256::new();
        expected.update(format!("{number:0NUMBER_BYTES$}"));
        expected.update(&rest);
        whole += u32::from(transcript_hash(&mut client, id)? == expected.finalize().to_vec());
    }
    let limit = Limit::AtLeast(f64::from(u32::try_from(TERMINALS)?));
    report.figure(
        "transcripts whole, of 1,000 of 1 MiB",
        "",
        f64::from(whole),
        limit,
    );
    Ok(())
}

/// What every terminal prints after its number: no newline, which the tty would change.
fn write_rest(directory: &Path) -> anyhow::Result<Vec<u8>> {
    let mut state = 1_u64;
    let rest: Vec<u8> = (NUMBER_BYTES..BYTES_EACH)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            b"abcdefghijklmnopqrstuvwxyz234567"[(state >> 59) as usize]
        })
        .collect();
    fs::write(directory.join("rest"), &rest)?;
    Ok(rest)
}

/// A FIFO that holds every terminal back until it is opened.
struct Gate<'a>(&'a Path);

fn make_gate(directory: &Path) -> anyhow::Result<Gate<'_>> {
    let made = Command::new("mkfifo").arg(directory.join("gate")).status();
    ensure!(made.context("mkfifo")?.success(), "mkfifo failed");
    Ok(Gate(directory))
}

impl Gate<'_> {
    /// Who comes later passes too, until the returned file is dropped.
    fn open(&self) -> anyhow::Result<File> {
        Ok(OpenOptions::new().write(true).open(self.0.join("gate"))?)
    }
}

/// SHA-256 of a whole transcript, read in pages.
fn transcript_hash(client: &mut Client, id: &str) -> anyhow::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut since = 0;
    loop {
        let page = client.call(
            "session.read",
            &json!({"id": id, "since": since, "max_bytes": BYTES_EACH, "encoding": "base64"}),
        )?;
        ensure!(unsigned(&page, "start")? == since, "{id}: a gap at {since}");
        hash.update(STANDARD.decode(string(&page, "data")?)?);
        since = unsigned(&page, "end")?;
        if page["at_end"] == json!(true) {
            return Ok(hash.finalize().to_vec());
        }
    }
}
