//! An ACP agent with one session, as its client's side hears it.

use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};

use super::client::{RawClient, RpcError};
use super::process::Process;
use super::{merged, sh};

/// The session that an [`Agent`] speaks in.
pub(crate) const SESSION: &str = "sess_abc123def456";

/// A connection that knows `terminal/*`; it is a [`RawClient`] as well.
#[derive(Debug)]
pub(crate) struct Agent {
    client: RawClient,
}

impl Agent {
    /// On a fresh connection.
    pub(crate) fn new(client: RawClient) -> Self {
        Self { client }
    }

    /// `terminal/create` in this session, its whole result.
    #[track_caller]
    pub(crate) fn try_create(&mut self, params: &Value) -> Result<Value, RpcError> {
        let params = merged(&json!({ "sessionId": SESSION }), params);
        self.client.request("terminal/create", &params)
    }

    /// `terminal/create` that must succeed; the terminal's id.
    #[track_caller]
    pub(crate) fn create(&mut self, params: &Value) -> String {
        match self.try_create(params) {
            Ok(result) => result["terminalId"]
                .as_str()
                .expect("terminalId")
                .to_owned(),
            Err(error) => panic!("terminal/create {params}: {error:?}"),
        }
    }

    /// `terminal/create` of a shell script.
    #[track_caller]
    pub(crate) fn script(&mut self, script: &str) -> String {
        self.create(&sh(script))
    }

    /// The params that name a terminal.
    pub(crate) fn named(id: &str) -> Value {
        json!({ "sessionId": SESSION, "terminalId": id })
    }

    /// `terminal/output`.
    #[track_caller]
    pub(crate) fn output(&mut self, id: &str) -> Value {
        self.client.ok("terminal/output", &Self::named(id))
    }

    /// `terminal/output`'s text.
    #[track_caller]
    pub(crate) fn text(&mut self, id: &str) -> String {
        self.output(id)["output"]
            .as_str()
            .expect("output")
            .to_owned()
    }

    /// `terminal/wait_for_exit`: the exit code, or the signal.
    #[track_caller]
    pub(crate) fn wait(&mut self, id: &str) -> (Option<i64>, Option<String>) {
        let result = self.client.ok("terminal/wait_for_exit", &Self::named(id));
        exit_of(&result)
    }

    /// Runs a command to its end: its exit code and all of its output.
    #[track_caller]
    pub(crate) fn run(&mut self, params: &Value) -> (Option<i64>, String) {
        let id = self.create(params);
        let (code, _) = self.wait(&id);
        (code, self.text(&id))
    }

    /// `terminal/kill`.
    #[track_caller]
    pub(crate) fn kill(&mut self, id: &str) {
        self.client.ok("terminal/kill", &Self::named(id));
    }

    /// `terminal/release`.
    #[track_caller]
    pub(crate) fn release(&mut self, id: &str) {
        self.client.ok("terminal/release", &Self::named(id));
    }

    /// Waits until a terminal has printed `pid NUMBER;` this many times, and holds each.
    #[track_caller]
    pub(crate) fn printed_processes(&mut self, id: &str, count: usize) -> Vec<Process> {
        let mut pids: Vec<i64> = Vec::new();
        super::wait_until("the script says its pids", || {
            let text = self.text(id);
            pids = (text.split("pid ").skip(1))
                .filter_map(|rest| rest.split_once(';')?.0.parse().ok())
                .collect();
            pids.len() >= count
        });
        pids.into_iter().map(Process::must).collect()
    }
}

/// The exit code, or the signal, of an exit status; exactly one must be there.
#[track_caller]
pub(crate) fn exit_of(status: &Value) -> (Option<i64>, Option<String>) {
    let code = status["exitCode"].as_i64();
    let signal = status["signal"].as_str().map(str::to_owned);
    assert!(
        code.is_some() != signal.is_some(),
        "one of the two: {status}"
    );
    (code, signal)
}

impl Deref for Agent {
    type Target = RawClient;

    fn deref(&self) -> &RawClient {
        &self.client
    }
}

impl DerefMut for Agent {
    fn deref_mut(&mut self) -> &mut RawClient {
        &mut self.client
    }
}
