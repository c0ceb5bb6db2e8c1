//! What the floods of one client cost another: `session.send`, `session.create` and
//! `session.close` beside eight terminals that print without end and a client that lists a thousand.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use crate::daemon::{Client, Daemon};
use termd_test_support::figures::{Limit, Report, median, millis};

const FLOODS: usize = 8;
const LISTED: usize = 1_000;
const ROUNDS: usize = 101;
/// Busy processes outside termd, beside which the quiet calls are timed.
const BUSY: usize = 2;
/// How many times its quiet median a call may take.
const MOST_TIMES: f64 = 3.0;

/// The medians of one connection's calls.
struct Medians {
    create: Duration,
    send: Duration,
    close: Duration,
}

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    for _ in 0..LISTED {
        client.create("sleep", &["1000000"])?;
    }
    let quiet = {
        let _busy = (0..BUSY)
            .map(|_| Busy::start())
            .collect::<Result<Vec<_>, _>>()?;
        medians(&mut client)?
    };
    for _ in 0..FLOODS {
        client.create("yes", &[])?;
    }
    let flooded = beside_lists(&daemon, || medians(&mut client))?;
    for (what, quiet, flooded) in [
        ("session.send", quiet.send, flooded.send),
        ("session.create", quiet.create, flooded.create),
        ("session.close", quiet.close, flooded.close),
    ] {
        let (quiet, flooded) = (millis(quiet), millis(flooded));
        report.beside(&format!("{what} beside two busy processes"), "ms", quiet);
        report.figure(
            &format!("{what} beside eight floods and lists of 1,000"),
            "ms",
            flooded,
            Limit::AtMost(quiet * MOST_TIMES),
        );
    }
    Ok(())
}

/// Creates a terminal, types a line into it and closes it, over and over.
fn medians(client: &mut Client) -> anyhow::Result<Medians> {
    let (mut creates, mut sends, mut closes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let id = client.create("cat", &[])?;
        creates.push(start.elapsed());
        let start = Instant::now();
        client.call("session.send", &json!({"id": id, "text": "hello\n"}))?;
        sends.push(start.elapsed());
        let start = Instant::now();
        client.call("session.close", &json!({"id": id}))?;
        closes.push(start.elapsed());
    }
    Ok(Medians {
        create: median(creates),
        send: median(sends),
        close: median(closes),
    })
}

/// Does something while another client lists all terminals without a pause.
fn beside_lists<T>(daemon: &Daemon, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut lister = daemon.connect()?;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let lists = scope.spawn(|| -> anyhow::Result<()> {
            while !is_over.load(Ordering::Relaxed) {
                lister.call("session.list", &Value::Null)?;
            }
            Ok(())
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        let listed = lists.join().ok().context("the lister panicked")?;
        listed.and(done)
    })
}

/// `yes`, outside termd.
struct Busy(Child);

impl Busy {
    fn start() -> anyhow::Result<Self> {
        let yes = Command::new("yes").stdout(Stdio::null()).spawn();
        Ok(Self(yes.context("yes")?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
