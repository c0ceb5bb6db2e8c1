//! `times` of `session.read` and `command.read`: when output came.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, wait_until};

/// What a time is off by: it is noted to 10 ms, and the machine may be busy.
const SLACK_MS: i64 = 100;

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_millis().try_into().unwrap()
}

/// A command that prints a line for each that it reads of a FIFO.
struct Steps {
    fifo: fs::File,
    id: String,
}

impl Steps {
    fn start(daemon: &TestDaemon, client: &mut RawClient) -> Self {
        let path = daemon.path("steps");
        let script = format!(
            "mkfifo '{0}'; while read -r line; do echo $line; done <'{0}'",
            path.display()
        );
        let id = client
            .create_terminal(&json!({ "command": "sh", "args": ["-c", script], "stdio": "pipes" }));
        wait_until("the FIFO is there", || path.exists());
        let fifo = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        Self { fifo, id }
    }

    /// Has the line printed.
    fn tell(&mut self, line: &str) {
        use std::io::Write as _;
        self.fifo.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The same, and waits until it is read: the time in between.
    fn print(&mut self, client: &mut RawClient, line: &str) -> (i64, i64) {
        let before = now_ms();
        self.tell(line);
        client.wait_for_text(&self.id, &format!("{line}\n"));
        (before, now_ms())
    }

    fn times(&self, client: &mut RawClient) -> Vec<Value> {
        let read = json!({ "id": self.id, "encoding": "raw", "times": true });
        let page = client.ok("session.read", &read);
        let times = page["times"].as_array().expect("times").clone();
        // Without a hole, and all of it.
        let mut end = page["start"].clone();
        for time in &times {
            assert_eq!(time["start"], end, "{page}");
            end = time["end"].clone();
        }
        assert_eq!(end, page["end"], "{page}");
        times
    }

    /// The time of the output at an offset.
    fn time_at(&self, client: &mut RawClient, offset: u64) -> Value {
        let mut times = self.times(client).into_iter();
        let covers = |time: &Value| {
            time["start"].as_u64() <= Some(offset) && time["end"].as_u64() > Some(offset)
        };
        times.find(covers).expect("a time")
    }
}

fn assert_within(time: &Value, (from, to): (i64, i64)) {
    let at = time["at_ms"].as_i64().unwrap();
    assert!(
        (from - SLACK_MS..=to + SLACK_MS).contains(&at),
        "{time}: {from} to {to}"
    );
}

#[test]
fn output_has_the_times_at_which_it_came_whoever_serves() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let mut steps = Steps::start(&daemon, &mut client);
    let one = steps.print(&mut client, "one");
    std::thread::park_timeout(Duration::from_millis(300));
    let two = steps.print(&mut client, "two");
    client.wait_until_stored();
    daemon.kill_server();
    let mut client = daemon.client();
    // The next server has the terminal once it answers; what it reads right then was found late.
    client.ok("daemon.info", &json!({}));
    std::thread::park_timeout(Duration::from_millis(300));
    let three = steps.print(&mut client, "three");
    client.wait_until_stored();
    daemon.replace_server();
    let mut client = daemon.client();
    for (offset, range) in [(0, one), (4, two), (8, three)] {
        let time = steps.time_at(&mut client, offset);
        assert_within(&time, range);
        assert_eq!(time["found_late"], Value::Null, "{time}");
    }
    let read = json!({ "id": steps.id, "number": 0, "times": true });
    let of_command = client.ok("command.read", &read);
    assert_eq!(of_command["times"], json!(steps.times(&mut client)));
    // Once it is closed, the database alone has them.
    let before = steps.times(&mut client);
    client.ok("session.close", &json!({ "id": steps.id }));
    daemon.kill_server();
    let mut client = daemon.client();
    assert_eq!(steps.times(&mut client), before);
    let without = client.ok("session.read", &json!({ "id": steps.id }));
    assert_eq!(without.get("times"), None);
}

#[test]
fn a_size_has_the_time_at_which_it_was_set_whoever_serves() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "cat", "cols": 80, "rows": 24 }));
    let before = now_ms();
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 90, "rows": 30 }),
    );
    let after = now_ms();
    daemon.kill_server();
    let mut client = daemon.client();
    let read = json!({ "id": id, "encoding": "raw", "times": true });
    let sizes = client.ok("session.read", &read)["sizes"].clone();
    assert_eq!(sizes.as_array().map(Vec::len), Some(1), "{sizes}");
    assert_eq!(sizes[0]["cols"], 90, "{sizes}");
    assert_within(&sizes[0], (before, after));
}

#[test]
fn what_came_while_nobody_read_says_so() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let mut steps = Steps::start(&daemon, &mut client);
    steps.print(&mut client, "one");
    client.wait_until_stored();
    let server = daemon.server();
    server.stop();
    steps.tell("two");
    server.signal(Signal::KILL);
    server.wait_for_end();
    let mut client = daemon.client();
    client.wait_for_text(&steps.id, "two\n");
    let after = now_ms();
    let time = steps.time_at(&mut client, 4);
    assert_eq!(time["found_late"], true, "{time}");
    assert!(time["at_ms"].as_i64().unwrap() <= after);
    steps.print(&mut client, "three");
    assert_eq!(steps.time_at(&mut client, 8)["found_late"], Value::Null);
    assert_eq!(steps.time_at(&mut client, 0)["found_late"], Value::Null);
}
