//! What is done to both servers, and measured.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::private_bytes;

use crate::launch::Launch;
use crate::server::Server;

/// Lines that are printed.
const LINES: usize = 1_000_000;
/// After this nothing more of them is waited for.
const DRAIN_DEADLINE: Duration = Duration::from_mins(2);

/// From the start of the process to the answer to `initialize`.
pub(crate) fn initialize(launch: &Launch) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let server = Server::ready(launch)?;
    let took = begun.elapsed();
    server.end_input()?;
    Ok(took)
}

/// A session more, in a server that is at rest.
pub(crate) fn create(launch: &Launch) -> anyhow::Result<Duration> {
    let mut server = Server::ready(launch)?;
    let warm = bash(&mut server)?;
    let begun = Instant::now();
    let created = bash(&mut server)?;
    let took = begun.elapsed();
    close(&mut server, &[warm, created])?;
    Ok(took)
}

/// One command in a session of its own.
pub(crate) fn exec(launch: &Launch) -> anyhow::Result<Duration> {
    let mut server = Server::ready(launch)?;
    let begun = Instant::now();
    let facts = server.call("session_exec", &json!({"exec": "echo hi"}))?;
    let took = begun.elapsed();
    let output = facts["output"].as_str().unwrap_or_default();
    anyhow::ensure!(output.contains("hi"), "no output: {facts}");
    Ok(took)
}

/// A line into a shell that is at its prompt, waiting for what it prints.
pub(crate) fn interact(launch: &Launch) -> anyhow::Result<Duration> {
    let mut server = Server::ready(launch)?;
    let session = bash(&mut server)?;
    let mut say = |input: &str, wait_for: &str| {
        let arguments = json!({"session_id": session, "input": input, "wait_for": wait_for});
        server.call("session_interact", &arguments)
    };
    // The shell has read its files and shows its prompt.
    say("echo R$((1+1))", "R2")?;
    let begun = Instant::now();
    let facts = say("echo S$((1+1))", "S2")?;
    let took = begun.elapsed();
    anyhow::ensure!(facts["matched"] == json!(true), "no match: {facts}");
    close(&mut server, &[session])?;
    Ok(took)
}

/// A session more while eight calls wait for what never comes.
pub(crate) fn create_beside_waits(launch: &Launch) -> anyhow::Result<Duration> {
    let mut server = Server::ready(launch)?;
    let session = bash(&mut server)?;
    for _ in 0..8 {
        let arguments = json!({"session_id": session, "pattern": "never printed", "timeout": 6});
        server.begin("session_wait_for", &arguments)?;
    }
    let begun = Instant::now();
    let created = bash(&mut server)?;
    let took = begun.elapsed();
    close(&mut server, &[session, created])?;
    Ok(took)
}

/// From the end of its input to the end of the process.
pub(crate) fn exit_at_end_of_input(launch: &Launch) -> anyhow::Result<Duration> {
    let mut server = Server::ready(launch)?;
    let sessions = bashes(&mut server, 10)?;
    let begun = Instant::now();
    server.end_input()?;
    let took = begun.elapsed();
    // Ours live on.
    let mut next = Server::ready(launch)?;
    for session in sessions {
        let _ = next.call("session_close", &json!({"session_id": session}));
    }
    Ok(took)
}

/// How the whole of a long output came.
pub(crate) struct Drained {
    pub(crate) took: Duration,
    pub(crate) lost: usize,
}

/// Reads on until the last line has come, or nothing more does.
pub(crate) fn drain(launch: &Launch) -> anyhow::Result<Drained> {
    let mut server = Server::ready(launch)?;
    let session = bash(&mut server)?;
    let begun = Instant::now();
    let input = format!("seq 1 {LINES}");
    server.call(
        "session_send",
        &json!({"session_id": session, "input": input}),
    )?;
    let mut text = String::new();
    let last = format!("\n{LINES}");
    let mut empty = 0;
    while !text.contains(&last) && empty < 3 && begun.elapsed() < DRAIN_DEADLINE {
        let arguments = json!({
            "session_id": session, "mode": "stream", "timeout": 0.5, "truncation": "none",
        });
        let facts = server.call("session_read", &arguments)?;
        let output = facts["output"].as_str().unwrap_or_default();
        empty = if output.is_empty() { empty + 1 } else { 0 };
        text.push_str(output);
    }
    let took = begun.elapsed();
    let came: HashSet<usize> = text
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect();
    let lost = (1..=LINES).filter(|line| !came.contains(line)).count();
    close(&mut server, &[session])?;
    Ok(Drained { took, lost })
}

/// Private bytes of the server's process with this many sessions, and of `beside` then.
pub(crate) fn memory(
    launch: &Launch,
    sessions: usize,
    beside: impl Fn() -> u64,
) -> anyhow::Result<u64> {
    let mut server = Server::ready(launch)?;
    let sessions = bashes(&mut server, sessions)?;
    let bytes = private_bytes(server.pid().cast_signed()) + beside();
    close(&mut server, &sessions)?;
    Ok(bytes)
}

fn bash(server: &mut Server) -> anyhow::Result<Value> {
    let facts = server.call("session_create", &json!({"command": "bash --norc"}))?;
    Ok(facts["session_id"].clone())
}

fn bashes(server: &mut Server, sessions: usize) -> anyhow::Result<Vec<Value>> {
    (0..sessions).map(|_| bash(server)).collect()
}

fn close(server: &mut Server, sessions: &[Value]) -> anyhow::Result<()> {
    for session in sessions {
        server.call("session_close", &json!({"session_id": session}))?;
    }
    Ok(())
}
