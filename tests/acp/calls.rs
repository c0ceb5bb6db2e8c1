//! `terminal/*` as an agent calls it through the proxy, and what the daemon has of it.

use serde_json::{Value, json};

use crate::proxied::Proxied;
use crate::support::{RpcError, TestDaemon, merged, sh, wait_until};

/// The session that most tests speak in.
pub(crate) const SESSION: &str = "sess_1";

impl Proxied {
    /// Initialized, with one session.
    pub(crate) fn with_session(daemon: &TestDaemon, arguments: &[&str]) -> Self {
        let mut proxied = Self::start(daemon, arguments, &json!({}));
        proxied.session(SESSION, &daemon.user_home());
        proxied
    }

    /// What must succeed: the result.
    #[track_caller]
    pub(crate) fn ok(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.agent.ask(method, params);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// What must fail.
    #[track_caller]
    pub(crate) fn err(&mut self, method: &str, params: &Value) -> RpcError {
        RpcError::of(&self.agent.ask(method, params))
    }

    /// A new terminal's id.
    #[track_caller]
    pub(crate) fn create(&mut self, params: &Value) -> String {
        let params = merged(&json!({ "sessionId": SESSION }), params);
        let created = self.ok("terminal/create", &params);
        created["terminalId"].as_str().unwrap().to_owned()
    }

    /// A new terminal that runs a shell script.
    #[track_caller]
    pub(crate) fn script(&mut self, script: &str) -> String {
        self.create(&sh(script))
    }

    /// What was printed so far.
    #[track_caller]
    pub(crate) fn text(&mut self, id: &str) -> String {
        let output = self.ok("terminal/output", &named(id));
        output["output"].as_str().unwrap().to_owned()
    }

    /// `terminal/wait_for_exit`.
    #[track_caller]
    pub(crate) fn exit(&mut self, id: &str) -> Value {
        self.ok("terminal/wait_for_exit", &named(id))
    }

    /// Waits until this was printed.
    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, id: &str, text: &str) {
        wait_until(text, || self.text(id).contains(text));
    }
}

/// The params that name a terminal.
pub(crate) fn named(id: &str) -> Value {
    json!({ "sessionId": SESSION, "terminalId": id })
}

/// The daemon's terminals of a scope.
pub(crate) fn listed(daemon: &TestDaemon, scope: &str) -> Vec<Value> {
    let page = daemon
        .client()
        .ok("session.list", &json!({ "scope": scope }));
    page["terminals"].as_array().unwrap().clone()
}

/// Waits until none of the daemon's terminals is open.
#[track_caller]
pub(crate) fn nothing_is_left(daemon: &TestDaemon) {
    wait_until("no terminal is left", || listed(daemon, "open").is_empty());
}

/// All records of this action, newest first.
pub(crate) fn records(daemon: &TestDaemon, action: &str) -> Vec<Value> {
    let filter = json!({ "filter": { "action": action } });
    let page = daemon.client().ok("audit.list", &filter);
    page["records"].as_array().unwrap().clone()
}
