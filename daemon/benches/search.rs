//! What a search costs: `cargo bench -p termd --bench search -- [MIB]`, 200 MiB of logs unless given.
//!
//! Terminals print logs of six shapes ([`termd_test_support::LogShape`]). Prints how long indexing takes
//! and how large the index is, the 95th percentile of searches for words that stand in few documents, the
//! first hit of a frequent word, a scan by a pattern that no index helps, whether each finds what a scan
//! of the lines finds, and how fast a command prints beside the indexing and without it.
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "a bench prints, and waits for what has no event"
)]

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use termd_test_support::{LogShape, log};

#[path = "terminals/daemon.rs"]
#[allow(dead_code, reason = "other benches use the rest")]
mod daemon;

use daemon::{Client, Daemon, string};

const MIB: usize = 1 << 20;
/// Logs of each terminal.
const TERMINAL_MIB: usize = 20;
/// Searches of each kind.
const ROUNDS: usize = 40;
/// Hits of a word that counts as rare: it stands in at most that many documents.
const RARE_HITS: usize = 100;
/// The shortest such word: the random numbers of logs are that long.
const RARE_CHARS: usize = 6;
/// For the index to be written.
const INDEX_DEADLINE: Duration = Duration::from_hours(2);
/// What a command prints beside the indexing.
const FLOOD_MIB: usize = 256;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [generate, shape, seed] = arguments.as_slice()
        && generate == "generate"
    {
        let shape = LogShape::ALL[shape.parse::<usize>()?];
        let output = log(shape, seed.parse()?, TERMINAL_MIB * MIB);
        return Ok(std::io::stdout().write_all(&output)?);
    }
    let mib = arguments.iter().find_map(|argument| argument.parse().ok());
    let terminals = mib.unwrap_or(200_usize).div_ceil(TERMINAL_MIB);
    let daemon =
        Daemon::start_with("[store]\nterminal_quota = \"none\"\ntotal_quota = \"none\"\n")?;
    let mut client = daemon.connect()?;
    let without = flood(&mut client)?;
    let own = std::env::current_exe()?;
    let own = own.to_str().context("the path of this program")?;
    let mut printed = Vec::new();
    let began = Instant::now();
    for number in 0..terminals {
        let (shape, seed) = (number % LogShape::ALL.len(), number);
        let id = create(
            &mut client,
            own,
            &["generate", &shape.to_string(), &seed.to_string()],
        )?;
        client.wait(&id)?;
        printed.push((id, shape, seed));
    }
    client.wait_until_stored()?;
    println!(
        "{} MiB printed and stored in {:.0?}",
        terminals * TERMINAL_MIB,
        began.elapsed()
    );
    let beside = flood(&mut client)?;
    println!("{FLOOD_MIB} MiB printed in {without:.2?}, beside the indexing in {beside:.2?}");

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let index = daemon.directory().join("state/termd/search.sqlite");
    let began = Instant::now();
    runtime.block_on(indexed(&index, printed.len()))?;
    println!("indexed after another {:.0?}", began.elapsed());
    let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
    let index_mib = size(&index) as f64 / MIB as f64;
    let whole = (terminals * TERMINAL_MIB) as f64;
    let database = size(&index.with_file_name("termd.sqlite")) as f64 / MIB as f64;
    println!(
        "index {index_mib:.0} MiB, {:.2} of the output; database {database:.0} MiB",
        index_mib / whole
    );

    measure(&mut client, &printed)
}

/// Searches of each kind.
fn measure(client: &mut Client, printed: &[(String, usize, usize)]) -> anyhow::Result<()> {
    // A word of each terminal that stands in few documents: of a line in its middle.
    let mut rare = Vec::new();
    for (_, shape, seed) in printed.iter().take(ROUNDS) {
        rare.extend(rare_word(LogShape::ALL[*shape], *seed as u64));
    }
    let mut times = Vec::new();
    let mut found = 0;
    for word in rare.iter().cycle().take(ROUNDS) {
        let began = Instant::now();
        let hits = search(client, &json!({ "pattern": word, "limit": 1000 }))?.len();
        times.push(began.elapsed());
        ensure!((1..=RARE_HITS).contains(&hits), "{word} has {hits} hits");
        found += hits;
    }
    times.sort_unstable();
    println!(
        "rare words: median {:.1?}, p95 {:.1?}, {found} hits",
        times[ROUNDS / 2],
        times[ROUNDS * 95 / 100]
    );

    for (name, params) in [
        (
            "first hit of a frequent word",
            json!({ "pattern": "redis", "limit": 1 }),
        ),
        (
            "100 hits of a frequent word",
            json!({ "pattern": "redis", "limit": 100 }),
        ),
        (
            "a word that is nowhere",
            json!({ "pattern": "quetzalcoatlus", "limit": 100 }),
        ),
        (
            "an expression that no index helps",
            json!({ "pattern": "^.{7}Q$", "kind": "regex", "limit": 1000, "timeout_ms": 600_000 }),
        ),
    ] {
        let began = Instant::now();
        let hits = search(client, &params)?.len();
        println!("{name}: {:.1?}, {hits} hits", began.elapsed());
    }
    let began = Instant::now();
    let hits = all(client, "AssertionError: assert 7")?;
    let scanned: usize = printed
        .iter()
        .map(|(_, shape, seed)| scan(LogShape::ALL[*shape], *seed as u64))
        .sum();
    println!(
        "all hits of a text: {hits} in {:.1?}; a scan finds {scanned}",
        began.elapsed()
    );
    ensure!(hits == scanned, "a search finds what a scan finds");
    Ok(())
}

fn create(client: &mut Client, command: &str, args: &[&str]) -> anyhow::Result<String> {
    let params = json!({ "command": command, "args": args, "stdio": "pipes" });
    string(&client.call("session.create", &params)?, "id")
}

/// How long a command takes that prints without end.
fn flood(client: &mut Client) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let script = format!(
        "yes 'some line of a log that is printed again and again' | head -c {}",
        FLOOD_MIB * MIB
    );
    let id = create(client, "sh", &["-c", &script])?;
    client.wait(&id)?;
    let took = began.elapsed();
    client.close(&id)?;
    client.call("session.delete", &json!({ "id": id }))?;
    Ok(took)
}

/// Resolves when `terminals` terminals are indexed.
async fn indexed(path: &Path, terminals: usize) -> anyhow::Result<()> {
    let deadline = Instant::now() + INDEX_DEADLINE;
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut connection: SqliteConnection = options.connect().await?;
    loop {
        let done: i64 = sqlx::query_scalar("SELECT count(*) FROM progress WHERE is_done")
            .fetch_one(&mut connection)
            .await?;
        if usize::try_from(done)? >= terminals {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "indexed {done} of {terminals}");
        daemon::pause(Duration::from_millis(200));
    }
}

fn search(client: &mut Client, params: &Value) -> anyhow::Result<Vec<Value>> {
    let mut params = params.clone();
    params["in"] = "output".into();
    let page = client.call("output.search", &params)?;
    ensure!(page["timed_out"] == false, "{params} timed out");
    Ok(page["hits"].as_array().cloned().unwrap_or_default())
}

/// How many lines have a text, by pages.
fn all(client: &mut Client, text: &str) -> anyhow::Result<usize> {
    let mut params = json!({ "pattern": text, "kind": "fixed", "in": "output", "limit": 1000, "timeout_ms": 600_000 });
    let mut hits = 0;
    loop {
        let page = client.call("output.search", &params)?;
        hits += page["hits"].as_array().map_or(0, Vec::len);
        if page["next_cursor"].is_null() {
            return Ok(hits);
        }
        params["cursor"] = page["next_cursor"].clone();
    }
}

/// The longest number of letters and digits in the middle of a log, if there is one that is in no other place.
fn rare_word(shape: LogShape, seed: u64) -> Option<String> {
    let output = log(shape, seed, TERMINAL_MIB * MIB / 2);
    let text = String::from_utf8_lossy(&output);
    let line = text.lines().rev().take(40);
    let words = line.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
    let digits = |word: &str| word.bytes().filter(u8::is_ascii_digit).count();
    let words = words.filter(|word| word.len() >= RARE_CHARS && digits(word) >= 3);
    words.max_by_key(|word| word.len()).map(str::to_owned)
}

/// How many lines of a log have the text that is counted.
fn scan(shape: LogShape, seed: u64) -> usize {
    let output = log(shape, seed, TERMINAL_MIB * MIB);
    let text = String::from_utf8_lossy(&output);
    text.lines()
        .filter(|line| line.contains("AssertionError: assert 7"))
        .count()
}
