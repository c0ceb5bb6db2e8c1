//! An ACP agent with one session.

use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};

use crate::client::{RawClient, RpcError};
use crate::json::{merged, sh};
use crate::process::Process;
use crate::wait::wait_until;

/// The ACP session id of an [`Agent`].
pub const SESSION: &str = "sess_abc123def456";

/// A connection with calls for ACP's `terminal/*`. It derefs to a [`RawClient`].
#[derive(Debug)]
pub struct Agent {
    client: RawClient,
}

impl Agent {
    /// Makes an agent of a fresh connection.
    pub fn new(client: RawClient) -> Self {
        Self { client }
    }

    /// `terminal/create` in the agent's session: the result or the error.
    #[track_caller]
    pub fn try_create(&mut self, params: &Value) -> Result<Value, RpcError> {
        let params = merged(&json!({ "sessionId": SESSION }), params);
        self.client.request("terminal/create", &params)
    }

    /// `terminal/create` that must succeed: the id of the terminal.
    #[track_caller]
    pub fn create(&mut self, params: &Value) -> String {
        match self.try_create(params) {
            Ok(result) => result["terminalId"]
                .as_str()
                .expect("terminalId")
                .to_owned(),
            Err(error) => panic!("terminal/create {params}: {error:?}"),
        }
    }

    /// `terminal/create` of a shell script: the id of the terminal.
    #[track_caller]
    pub fn script(&mut self, script: &str) -> String {
        self.create(&sh(script))
    }

    /// The params that name a terminal of the agent's session.
    pub fn named(id: &str) -> Value {
        json!({ "sessionId": SESSION, "terminalId": id })
    }

    /// `terminal/output`.
    #[track_caller]
    pub fn output(&mut self, id: &str) -> Value {
        self.client.ok("terminal/output", &Self::named(id))
    }

    /// The text of `terminal/output`.
    #[track_caller]
    pub fn text(&mut self, id: &str) -> String {
        self.output(id)["output"]
            .as_str()
            .expect("output")
            .to_owned()
    }

    /// `terminal/wait_for_exit`: the exit code, or the signal.
    #[track_caller]
    pub fn wait(&mut self, id: &str) -> (Option<i64>, Option<String>) {
        let result = self.client.ok("terminal/wait_for_exit", &Self::named(id));
        exit_of(&result)
    }

    /// Runs a command to its end: the exit code and the output.
    #[track_caller]
    pub fn run(&mut self, params: &Value) -> (Option<i64>, String) {
        let id = self.create(params);
        let (code, _) = self.wait(&id);
        (code, self.text(&id))
    }

    /// `terminal/kill`.
    #[track_caller]
    pub fn kill(&mut self, id: &str) {
        self.client.ok("terminal/kill", &Self::named(id));
    }

    /// `terminal/release`.
    #[track_caller]
    pub fn release(&mut self, id: &str) {
        self.client.ok("terminal/release", &Self::named(id));
    }

    /// Waits until a terminal has printed `pid NUMBER;` at least `count` times: these processes.
    #[track_caller]
    pub fn printed_processes(&mut self, id: &str, count: usize) -> Vec<Process> {
        let mut pids: Vec<i64> = Vec::new();
        wait_until("the script prints its pids", || {
            let text = self.text(id);
            pids = (text.split("pid ").skip(1))
                .filter_map(|rest| rest.split_once(';')?.0.parse().ok())
                .collect();
            pids.len() >= count
        });
        pids.into_iter().map(Process::expect).collect()
    }
}

/// The exit code or the signal of an exit status, which must have exactly one of them.
#[track_caller]
fn exit_of(status: &Value) -> (Option<i64>, Option<String>) {
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
