//! `termctl acp` with both of its ends in the test's hands.
//!
//! The test is the client. It is the agent as well, through two FIFOs: the agent's process only
//! carries bytes between them and the proxy. Every message that the proxy itself writes is held to
//! ACP's schema, in every test ([`TrafficLog`]).

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;
use termd_test_support::{DEADLINE, Home, Process, RpcError, TestDaemon, merged, sh, wait_until};

use super::peer::Peer;
use super::schema::Direction;
use super::traffic_log::TrafficLog;

/// The session that most tests speak in.
pub(crate) const SESSION: &str = "sess_1";

/// The agent's process: it copies its input to the FIFO `$1` and the FIFO `$2` to its output. It
/// ends with code 7 when the test closes the second FIFO. A shell gives background processes no
/// input, hence descriptor 3.
const RELAY: &str = r#"exec 3<&0; cat <&3 >"$1" & exec 0<&- 3<&-; cat <"$2"; exit 7"#;

/// A running proxy and its two ends.
#[derive(Debug)]
pub(crate) struct AcpProxy {
    child: Child,
    /// The client's end.
    pub(crate) client: Peer,
    /// The agent's end.
    pub(crate) agent: Peer,
    /// Everything that has passed, and the proxy's own messages.
    pub(crate) log: Arc<TrafficLog>,
    _fifos: TempDir,
}

impl AcpProxy {
    /// Starts `termctl acp ARGUMENTS -- AGENT` and sends nothing.
    pub(crate) fn spawn(home: &Home, arguments: &[&str]) -> Self {
        let fifos = tempfile::tempdir().unwrap();
        let (input, output) = (fifos.path().join("input"), fifos.path().join("output"));
        for fifo in [&input, &output] {
            mknodat(CWD, fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        }
        let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
        command.arg("acp").args(arguments);
        command
            .args(["--", "/bin/sh", "-c", RELAY, "agent"])
            .args([&input, &output]);
        let mut child = started(&mut command);
        let log = Arc::new(TrafficLog::default());
        let client = Peer::new(
            Direction::ToAgent,
            &log,
            child
                .stdin
                .take()
                .map(|stdin| File::from(std::os::fd::OwnedFd::from(stdin))),
            child.stdout.take().unwrap(),
        );
        // Opening waits until the relay opens the other end of the FIFO.
        let reader = open_fifo(OpenOptions::new().read(true), &input);
        let writer = open_fifo(OpenOptions::new().write(true), &output);
        Self {
            child,
            client,
            agent: Peer::new(Direction::ToClient, &log, Some(writer), reader),
            log,
            _fifos: fifos,
        }
    }

    /// Starts a proxy and initializes it as version 1, with a client of these capabilities and no
    /// terminals.
    pub(crate) fn start(home: &Home, arguments: &[&str], capabilities: &Value) -> Self {
        let mut proxy = Self::spawn(home, arguments);
        let id = proxy.client.request(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "clientCapabilities": capabilities,
                "clientInfo": { "name": "a-client", "version": "1" },
            }),
        );
        let request = proxy
            .agent
            .wait("initialize", |line| line["method"] == "initialize");
        proxy.agent.answer(
            &request,
            &json!({
                "protocolVersion": 1,
                "agentCapabilities": {},
                "agentInfo": { "name": "an-agent", "version": "2" },
                "authMethods": [],
            }),
        );
        proxy.client.answer_to(id);
        proxy
    }

    /// Creates a session in this directory.
    pub(crate) fn session(&mut self, session: &str, cwd: &Path) {
        let id = self
            .client
            .request("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
        let request = self
            .agent
            .wait("session/new", |line| line["method"] == "session/new");
        self.agent
            .answer(&request, &json!({ "sessionId": session }));
        self.client.answer_to(id);
    }

    /// Starts and initializes a proxy with one session.
    pub(crate) fn with_session(daemon: &TestDaemon, arguments: &[&str]) -> Self {
        let mut proxy = Self::start(daemon, arguments, &json!({}));
        proxy.session(SESSION, &daemon.user_home());
        proxy
    }

    /// A call of the agent's that must succeed: the result.
    #[track_caller]
    pub(crate) fn ok(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.agent.ask(method, params);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// A call of the agent's that must fail: the error.
    #[track_caller]
    pub(crate) fn err(&mut self, method: &str, params: &Value) -> RpcError {
        RpcError::of(&self.agent.ask(method, params))
    }

    /// `terminal/create`: the id.
    #[track_caller]
    pub(crate) fn create(&mut self, params: &Value) -> String {
        let params = merged(&json!({ "sessionId": SESSION }), params);
        let created = self.ok("terminal/create", &params);
        created["terminalId"].as_str().unwrap().to_owned()
    }

    /// `terminal/create` of a shell script: the id.
    #[track_caller]
    pub(crate) fn script(&mut self, script: &str) -> String {
        self.create(&sh(script))
    }

    /// The output of a terminal so far.
    #[track_caller]
    pub(crate) fn text(&mut self, id: &str) -> String {
        let output = self.ok("terminal/output", &named(id));
        output["output"].as_str().unwrap().to_owned()
    }

    /// `terminal/wait_for_exit`: the result.
    #[track_caller]
    pub(crate) fn exit(&mut self, id: &str) -> Value {
        self.ok("terminal/wait_for_exit", &named(id))
    }

    /// Waits until the output of a terminal holds this text.
    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, id: &str, text: &str) {
        wait_until(text, || self.text(id).contains(text));
    }

    /// The proxy's process.
    pub(crate) fn process(&self) -> Process {
        Process::expect(self.child.id().into())
    }

    /// Waits for the end of the proxy.
    #[track_caller]
    pub(crate) fn wait_exit(&mut self) -> ExitStatus {
        self.process().wait_for_end();
        self.child.wait().unwrap()
    }
}

impl Drop for AcpProxy {
    fn drop(&mut self) {
        self.client.close();
        self.agent.close();
        // The proxy ends what it has started and then itself. A failed test does not wait for that.
        if let Some(process) = Process::open(self.child.id().cast_signed()) {
            if std::thread::panicking() {
                process.signal(rustix::process::Signal::TERM);
            }
            process.ends_by(termd_test_support::Deadline::after(DEADLINE));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let wrong = self.log.violations();
        if !std::thread::panicking() {
            assert!(wrong.is_empty(), "not ACP v1:\n{}", wrong.join("\n\n"));
        }
    }
}

fn started(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Opens a FIFO. It fails, and does not hang, where the relay never opens its end.
fn open_fifo(options: &mut OpenOptions, path: &Path) -> File {
    let (sender, receiver) = channel();
    let (options, path) = (options.clone(), path.to_owned());
    std::thread::spawn(move || sender.send(options.open(path)));
    receiver
        .recv_timeout(DEADLINE)
        .expect("the relay never opened its FIFO")
        .unwrap()
}

/// The params that name a terminal.
pub(crate) fn named(id: &str) -> Value {
    json!({ "sessionId": SESSION, "terminalId": id })
}

/// The daemon's terminals of this scope.
pub(crate) fn listed(daemon: &TestDaemon, scope: &str) -> Vec<Value> {
    let page = daemon
        .client()
        .ok("session.list", &json!({ "scope": scope }));
    page["terminals"].as_array().unwrap().clone()
}

/// Waits until the daemon has no open terminal.
#[track_caller]
pub(crate) fn wait_until_nothing_is_left(daemon: &TestDaemon) {
    wait_until("no terminal is left", || listed(daemon, "open").is_empty());
}

/// The daemon's audit records of this action, newest first.
pub(crate) fn records(daemon: &TestDaemon, action: &str) -> Vec<Value> {
    let filter = json!({ "filter": { "action": action } });
    let page = daemon.client().ok("audit.list", &filter);
    page["records"].as_array().unwrap().clone()
}
