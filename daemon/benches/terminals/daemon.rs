//! A termd of the benchmark's own, in a directory of its own, and a plain client of it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

/// For the daemon to start, or to have stored what it has.
const DEADLINE: Duration = Duration::from_mins(2);
/// Between two looks at something that has no event.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// For one answer; a thousand terminals take their time.
const ANSWER_DEADLINE: Duration = Duration::from_mins(10);

/// A running termd; dropping it stops it and removes its files.
pub(crate) struct Daemon {
    keeper: Child,
    directory: TempDir,
}

impl Daemon {
    pub(crate) fn start() -> anyhow::Result<Self> {
        Self::start_with("")
    }

    /// With this config.toml.
    pub(crate) fn start_with(config: &str) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("termd-bench").tempdir()?;
        fs::create_dir_all(directory.path().join("config/termd"))?;
        fs::write(directory.path().join("config/termd/config.toml"), config)?;
        let log = File::create(directory.path().join("log"))?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_termd"));
        for (name, value) in environment(directory.path()) {
            command.env(name, value);
        }
        fs::create_dir(directory.path().join("run"))?;
        rustix::fs::chmod(directory.path().join("run"), rustix::fs::Mode::RWXU)?;
        let keeper = command
            .env_remove("TERMD_SOCKET")
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("starting termd")?;
        let mut daemon = Self { keeper, directory };
        let deadline = Instant::now() + DEADLINE;
        while daemon
            .connect()
            .and_then(|mut client| client.call("daemon.info", &json!({})))
            .is_err()
        {
            if let Some(status) = daemon.keeper.try_wait()? {
                bail!("termd ended: {status}: {}", daemon.log());
            }
            if Instant::now() > deadline {
                bail!("termd does not answer: {}", daemon.log());
            }
            pause(LOOK_AGAIN);
        }
        Ok(daemon)
    }

    /// A directory on the file system that the database is on.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What makes a client find this daemon.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 4] {
        environment(self.directory.path())
    }

    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        let stream = UnixStream::connect(self.directory.path().join("run/termd/termd.sock"))?;
        stream.set_read_timeout(Some(ANSWER_DEADLINE))?;
        Ok(Client {
            reader: BufReader::with_capacity(1 << 16, stream),
            last_id: 0,
        })
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.keeper.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.keeper.wait();
    }
}

fn environment(directory: &Path) -> [(&'static str, PathBuf); 4] {
    [
        ("HOME", directory.to_owned()),
        ("XDG_RUNTIME_DIR", directory.join("run")),
        ("XDG_STATE_HOME", directory.join("state")),
        ("XDG_CONFIG_HOME", directory.join("config")),
    ]
}

/// One connection: a line out, a line in.
pub(crate) struct Client {
    reader: BufReader<UnixStream>,
    last_id: u64,
}

impl Client {
    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        let answer = self.exchange(&line)?;
        let mut answer: Value = serde_json::from_slice(&answer)?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => bail!("{method}: {answer}"),
        }
    }

    /// Sends a line as it stands and returns the next one as it comes: the round trip alone.
    pub(crate) fn exchange(&mut self, line: &[u8]) -> anyhow::Result<Vec<u8>> {
        self.reader.get_mut().write_all(line)?;
        let mut answer = Vec::new();
        if self.reader.read_until(b'\n', &mut answer)? == 0 {
            bail!("termd closed the connection");
        }
        Ok(answer)
    }

    /// Starts a command and returns its terminal's id.
    pub(crate) fn create(&mut self, command: &str, args: &[&str]) -> anyhow::Result<String> {
        let info = self.call("session.create", &json!({"command": command, "args": args}))?;
        string(&info, "id")
    }

    /// Waits for the exit, which is reported when all output is there.
    pub(crate) fn wait(&mut self, id: &str) -> anyhow::Result<Value> {
        let timeout_ms = u64::try_from(DEADLINE.as_millis())?;
        let answer = self.call("session.wait", &json!({"id": id, "timeout_ms": timeout_ms}))?;
        if answer["exited"] != json!(true) {
            bail!("{id} has not exited within {DEADLINE:?}");
        }
        Ok(answer)
    }

    pub(crate) fn close(&mut self, id: &str) -> anyhow::Result<()> {
        self.call("session.close", &json!({"id": id})).map(drop)
    }

    /// Waits until everything that was printed is in the database.
    pub(crate) fn wait_until_stored(&mut self) -> anyhow::Result<()> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let stats = self.call("daemon.stats", &json!({}))?;
            if unsigned(&stats, "unstored_bytes")? == 0 {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("not all output is stored after {DEADLINE:?}: {stats}");
            }
            pause(LOOK_AGAIN);
        }
    }
}

pub(crate) fn string(value: &Value, key: &str) -> anyhow::Result<String> {
    let text = value[key]
        .as_str()
        .with_context(|| format!("no text `{key}` in {value}"))?;
    Ok(text.to_owned())
}

pub(crate) fn unsigned(value: &Value, key: &str) -> anyhow::Result<u64> {
    value[key]
        .as_u64()
        .with_context(|| format!("no number `{key}` in {value}"))
}

/// Lets time pass.
#[allow(clippy::disallowed_methods)] // No event to wait for: a rate needs time to pass.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
