//! The socket's own cost: the round trip of a method that does nothing, next to the bare echo of
//! the same bytes over a Unix socket on the same runtime, in the same run.
//!
//! `cargo bench -p termd --bench rpc`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and may fail"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use termd::rpc::{Api, ServeOptions, serve};
use termd_proto::Method;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 20_000;

/// A method that does nothing.
#[derive(Serialize, Deserialize)]
struct Nothing {}

impl Method for Nothing {
    const NAME: &'static str = "nothing";
    type Answer = ();
}

/// Median and 99th percentile of the round trips of one line.
async fn round_trips(stream: UnixStream, line: &str) -> (Duration, Duration) {
    let mut stream = BufReader::new(stream);
    let mut answer = String::new();
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        answer.clear();
        let start = Instant::now();
        stream.get_mut().write_all(line.as_bytes()).await.unwrap();
        stream.read_line(&mut answer).await.unwrap();
        times.push(start.elapsed());
    }
    assert!(answer.contains("\"id\":1"), "{answer}");
    times.sort_unstable();
    (times[ROUNDS / 2], times[ROUNDS * 99 / 100])
}

async fn echo(listener: UnixListener) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        stream.write_all(&buffer[..read]).await.unwrap();
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let (bare, served) = (
        directory.path().join("bare"),
        directory.path().join("served"),
    );
    runtime.block_on(async {
        tokio::spawn(echo(UnixListener::bind(&bare).unwrap()));

        let mut api = Api::default();
        api.method(&Arc::new(()), |_, Nothing {}, _| async { Ok(()) });
        let listener = UnixListener::bind(&served).unwrap();
        let token = CancellationToken::new();
        tokio::spawn(serve(
            listener,
            Arc::new(api),
            ServeOptions::default(),
            token,
        ));

        let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\",\"params\":{}}\n";
        for (name, path) in [("bare echo", &bare), ("termd rpc", &served)] {
            let stream = UnixStream::connect(path).await.unwrap();
            let (median, p99) = round_trips(stream, line).await;
            println!("{name}: median {median:?}, p99 {p99:?} ({ROUNDS} round trips)");
        }
    });
}
