//! `terminal/output` of 4 KiB on an open connection.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use crate::daemon::{Daemon, string};
use termd_test_support::figures::{Limit, Report, median, micros};

const OUTPUT_BYTES: usize = 4096;
const WARM_UP_CALLS: usize = 200;
const CALLS: usize = 5001;
const MOST_MICROS: f64 = 60.0;
const SESSION: &str = "sess_bench";

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    let script = format!("head -c {OUTPUT_BYTES} /dev/zero | tr '\\0' x");
    let created = client.call(
        "terminal/create",
        &json!({"sessionId": SESSION, "command": "sh", "args": ["-c", script]}),
    )?;
    let terminal = string(&created, "terminalId")?;
    let of_it = json!({"sessionId": SESSION, "terminalId": terminal});
    client.call("terminal/wait_for_exit", &of_it)?;

    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "terminal/output", "params": of_it});
    let line = format!("{request}\n");
    let mut answer = Vec::new();
    let ours = round_trips(|| {
        answer = client.exchange(line.as_bytes())?;
        Ok(())
    })?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let output = answer["result"]["output"].as_str().unwrap_or_default();
    ensure!(
        output.len() == OUTPUT_BYTES,
        "not the whole output: {answer}"
    );

    report.beside(
        "4 KiB over a bare socket, another thread answering",
        "µs",
        bare_socket(&line)?,
    );
    report.figure(
        "terminal/output of 4 KiB",
        "µs",
        ours,
        Limit::AtMost(MOST_MICROS),
    );
    Ok(())
}

/// The median of many, in microseconds.
fn round_trips(mut call: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let mut samples: Vec<Duration> = Vec::with_capacity(CALLS);
    for round in 0..WARM_UP_CALLS + CALLS {
        let start = Instant::now();
        call()?;
        if round >= WARM_UP_CALLS {
            samples.push(start.elapsed());
        }
    }
    Ok(micros(median(samples)))
}

/// What the kernel alone takes for a request and an answer of that size.
fn bare_socket(request: &str) -> anyhow::Result<f64> {
    let (client, server) = UnixStream::pair()?;
    let answering = thread::spawn(move || -> std::io::Result<()> {
        let mut answer = vec![b'x'; OUTPUT_BYTES];
        answer.push(b'\n');
        let mut requests = BufReader::new(server);
        let mut line = String::new();
        while requests.read_line(&mut line)? > 0 {
            requests.get_mut().write_all(&answer)?;
            line.clear();
        }
        Ok(())
    });
    let mut client = BufReader::new(client);
    let mut line = String::new();
    let median = round_trips(|| {
        client.get_mut().write_all(request.as_bytes())?;
        line.clear();
        client.read_line(&mut line)?;
        Ok(())
    })?;
    drop(client);
    answering
        .join()
        .map_err(|_| anyhow::anyhow!("the answering thread panicked"))??;
    Ok(median)
}
