//! A server that does what a test says: one JSON line in, one out, over the socket that the keeper
//! passed it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use termd::keeper_client::{Connected, KeeperClient, KeeperError};
use termd_keeper::inherited_fds;
use termd_keeper::protocol::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, IfAbsent, ProcessLimits, Processes,
    ProtectedPath, Sandbox, Temporary,
};
use termd_keeper::protocol::message::{
    EndTree, ExecRelease, KeeperEvent, PausePoint, ProcessId, SpawnRequest, Spawned, TerminalFds,
    WaitStatus,
};
use termd_proto::TerminalId;
use termd_proto::terminal::{Stdin, Stdio};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, watch};

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct Terminal {
    process: ProcessId,
    notes: Vec<u8>,
    fds: TerminalFds,
    enforced: Enforced,
}

struct Server {
    keeper: KeeperClient,
    terminals: HashMap<TerminalId, Terminal>,
    /// What is held, and by what it will be read.
    held: HashMap<TerminalId, Stdio>,
    exits: watch::Receiver<HashMap<TerminalId, WaitStatus>>,
}

/// Serves; or ends at once with the code that is given.
pub(crate) fn run(exit_code: Option<&str>) -> ExitCode {
    if let Some(code) = exit_code {
        eprintln!("the database is from the future");
        return ExitCode::from(code.parse::<u8>().unwrap());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(serve());
    ExitCode::SUCCESS
}

async fn serve() {
    let inherited = inherited_fds().unwrap();
    let connected = KeeperClient::connect(inherited.control).await.unwrap();
    let Connected {
        keeper,
        inventory,
        events,
        ..
    } = connected;
    let known = inventory
        .iter()
        .filter_map(|terminal| Some((terminal.id.clone(), terminal.status?)))
        .collect();
    let (exit_sender, exits) = watch::channel(known);
    tokio::spawn(follow(events, exit_sender));
    let terminals = inventory.into_iter().filter_map(|terminal| {
        let known = Terminal {
            process: terminal.process,
            notes: terminal.notes,
            fds: terminal.fds?,
            enforced: Enforced::default(),
        };
        Some((terminal.id, known))
    });
    let mut server = Server {
        keeper,
        terminals: terminals.collect(),
        held: HashMap::new(),
        exits,
    };
    server.keeper.ready().await.unwrap();
    let listener = UnixListener::from_std(inherited.listener.into()).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = server.converse(stream).await;
    }
}

async fn follow(
    mut events: mpsc::Receiver<KeeperEvent>,
    exits: watch::Sender<HashMap<TerminalId, WaitStatus>>,
) {
    while let Some(event) = events.recv().await {
        match event {
            KeeperEvent::Exited { id, status } => {
                exits.send_modify(|exits| {
                    exits.insert(id, status);
                });
            }
            KeeperEvent::BuilderFailed { stderr, .. } => {
                std::fs::write(crate::support::said_in(), stderr).unwrap();
            }
            KeeperEvent::HandOver | KeeperEvent::Finish => std::process::exit(0),
            KeeperEvent::Stopping | KeeperEvent::Reloading | KeeperEvent::ReloadFailed { .. } => {}
        }
    }
}

impl Server {
    async fn converse(&mut self, stream: UnixStream) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while stream.read_line(&mut line).await? > 0 {
            let request: Value = serde_json::from_str(&line)?;
            let answer = match tokio::time::timeout(PATIENCE, self.answer(&request)).await {
                Ok(answer) => answer,
                Err(_) => json!({"error": "too slow"}),
            };
            stream.write_all(format!("{answer}\n").as_bytes()).await?;
            line.clear();
        }
        Ok(())
    }

    /// Their names, after their number.
    async fn orphans(&self) -> Value {
        let orphans = self.keeper.orphans().await.unwrap().unwrap();
        let names = orphans.listed.iter();
        let names = names.map(|orphan| String::from_utf8_lossy(&orphan.name).into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        json!([orphans.count, names])
    }

    async fn answer(&mut self, request: &Value) -> Value {
        let id: Option<TerminalId> = request["id"].as_str().map(|id| id.parse().unwrap());
        let id = id.as_ref();
        let done = match request["op"].as_str().unwrap() {
            "pid" => return json!(std::process::id()),
            "crash" => std::process::abort(),
            "inventory" => return self.inventory(),
            "spawn" => return self.spawn(id.unwrap(), request).await,
            "release_exec" => return self.release_exec(id.unwrap(), request).await,
            "output" => {
                return self
                    .output(id.unwrap(), request["until"].as_str().unwrap())
                    .await;
            }
            "exit" => return self.exit(id.unwrap()).await,
            "enforced" => return enforced(&self.terminals[id.unwrap()].enforced),
            "type" => {
                let text = request["text"].as_str().unwrap();
                return json!(type_into(&self.terminals[id.unwrap()].fds, text));
            }
            "spool" => {
                let spool = &self.terminals[id.unwrap()].fds.spool();
                rustix::io::write(spool, bytes(&request["text"]).as_slice()).unwrap();
                Ok(())
            }
            "end" => {
                let end = EndTree {
                    signal: number(&request["signal"]),
                    grace: Duration::from_millis(request["grace_ms"].as_u64().unwrap()),
                };
                self.keeper.end_tree(id.unwrap(), end).await
            }
            "signal" => {
                let signal = number(&request["signal"]);
                self.keeper.signal_tree(id.unwrap(), signal).await
            }
            "notes" => {
                let notes = bytes(&request["text"]);
                self.keeper.set_notes(id.unwrap(), notes).await
            }
            "orphans" => return self.orphans().await,
            "close_stdin" => self.keeper.close_stdin(id.unwrap()).await,
            "release" => self.keeper.release_fds(id.unwrap()).await,
            "forget" => self.keeper.forget(id.unwrap()).await,
            other => panic!("no such op: {other}"),
        };
        match done {
            Ok(()) => json!("done"),
            Err(error) => refused(&error),
        }
    }

    fn inventory(&self) -> Value {
        let terminals = self.terminals.iter().map(|(id, terminal)| {
            let spool = &terminal.fds.spool();
            let mut content = [0; 100];
            let length = rustix::io::pread(spool, &mut content, 0).unwrap();
            let described = json!({
                "pid": terminal.process.pid,
                "notes": String::from_utf8_lossy(&terminal.notes),
                "spool": String::from_utf8_lossy(&content[..length]),
                "spool_inode": rustix::fs::fstat(spool).unwrap().st_ino,
                "tty": tty_of(&terminal.fds),
                "exit": self.exits.borrow().get(id).map(|status| format!("{status:?}")),
            });
            (id.to_string(), described)
        });
        Value::Object(terminals.collect())
    }

    async fn spawn(&mut self, id: &TerminalId, request: &Value) -> Value {
        let list = |name: &str| -> Vec<Vec<u8>> {
            request[name]
                .as_array()
                .unwrap()
                .iter()
                .map(bytes)
                .collect()
        };
        let spawn = SpawnRequest {
            id: id.clone(),
            program: bytes(&request["argv"][0]),
            argv: list("argv"),
            env: list("env"),
            cwd: bytes(&request["cwd"]),
            cols: 80,
            rows: 24,
            notes: bytes(&request["notes"]),
            stdio: match request["stdio"].as_str() {
                Some("pipes") => Stdio::Pipes,
                _ => Stdio::Pty,
            },
            stdin: match request["stdin"].as_str() {
                Some("pipe") => Stdin::Pipe,
                _ => Stdin::Null,
            },
            confinement: confinement(&request["confinement"]),
            ..SpawnRequest::bare(id.clone(), "", Stdio::Pty)
        };
        if request["held"] == true {
            self.held.insert(id.clone(), spawn.stdio);
            let pause = match request["at"].as_str() {
                Some("exec") => PausePoint::BeforeExec,
                _ => PausePoint::BeforeConfinement,
            };
            return match self.keeper.spawn_paused(spawn.into(), pause).await {
                Ok(process) => json!(process.pid),
                Err(error) => refused(&error),
            };
        }
        let spawned = self.keeper.spawn(spawn.into()).await;
        self.started(id, spawned)
    }

    /// Goes on with a held command in the cgroup that is named, or gives it up.
    async fn release_exec(&mut self, id: &TerminalId, request: &Value) -> Value {
        let how = match request["cgroup"].as_str() {
            Some(cgroup) => ExecRelease::Run {
                cgroup: cgroup.into(),
            },
            None => ExecRelease::Cancel,
        };
        let stdio = self.held.get(id).copied().unwrap_or_default();
        let spawned = self.keeper.release_exec(id, stdio, how).await;
        self.started(id, spawned)
    }

    fn started(&mut self, id: &TerminalId, spawned: Result<Spawned, KeeperError>) -> Value {
        match spawned {
            Err(error) => refused(&error),
            Ok(spawned) => {
                let pid = spawned.process.pid;
                let terminal = Terminal {
                    process: spawned.process,
                    notes: Vec::new(),
                    fds: spawned.fds,
                    enforced: spawned.enforced,
                };
                self.terminals.insert(id.clone(), terminal);
                json!(pid)
            }
        }
    }

    /// Everything until this text, or the end of the output.
    async fn output(&self, id: &TerminalId, until: &str) -> Value {
        let fds = &self.terminals[id].fds;
        match fds {
            TerminalFds::Pty { master, .. } => json!(read_until(master, until).await),
            TerminalFds::Pipes { stdout, stderr, .. } => {
                let stdout = read_until(stdout, until).await;
                json!({ "stdout": stdout, "stderr": read_until(stderr, until).await })
            }
        }
    }

    async fn exit(&mut self, id: &TerminalId) -> Value {
        let exits = self.exits.wait_for(|exits| exits.contains_key(id)).await;
        json!(format!("{:?}", exits.unwrap()[id]))
    }
}

/// What a command is held to, by names.
fn enforced(enforced: &Enforced) -> Value {
    let missing = enforced.missing.iter();
    let missing = missing.map(|missing| (missing.restriction.to_string(), json!(missing.errno)));
    json!({
        "held": enforced.active.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "missing": Value::Object(missing.collect()),
    })
}

fn confinement(spec: &Value) -> Confinement {
    let limits = &spec["limits"];
    let limit = |name: &str| limits[name].as_u64();
    Confinement {
        limits: ProcessLimits {
            cpu_seconds: limit("cpu_seconds"),
            address_space_bytes: limit("address_space_bytes"),
            open_files: limit("open_files"),
            processes: limit("processes"),
            file_bytes: limit("file_bytes"),
            ..ProcessLimits::default()
        },
        sandbox: spec["sandbox"]
            .is_object()
            .then(|| sandbox(&spec["sandbox"])),
    }
}

fn sandbox(spec: &Value) -> Sandbox {
    let list = |name: &str| spec[name].as_array().cloned().unwrap_or_default();
    let access = |name: &str| match spec[name].as_str() {
        Some("allowed") => Access::Allowed,
        _ => Access::Denied,
    };
    let protected = |entry: &Value| ProtectedPath {
        path: bytes(&entry[0]),
        if_absent: match entry[1].as_str() {
            Some("directory") => IfAbsent::MakeDirectory,
            Some("file") => IfAbsent::MakeFile,
            Some("link") => IfAbsent::PinLink,
            _ => IfAbsent::Leave,
        },
    };
    Sandbox {
        writable: list("writable").iter().map(bytes).collect(),
        protected: list("protected").iter().map(protected).collect(),
        writable_ids: Vec::new(),
        hidden: list("hidden").iter().map(bytes).collect(),
        visible: list("visible").iter().map(bytes).collect(),
        network: access("network"),
        daemon_socket: access("daemon_socket"),
        enforcement: match spec["best_effort"].as_bool() {
            Some(true) => Enforcement::BestEffort,
            _ => Enforcement::Required,
        },
        temporary: match spec["private_tmp"].as_bool() {
            Some(true) => Temporary::Private,
            _ => Temporary::Shared,
        },
        processes: match spec["processes"].as_str() {
            Some("private") => Processes::Private,
            _ => Processes::Shared,
        },
        builder: match spec["builder"].as_str() {
            Some("bubblewrap") => Builder::Bubblewrap,
            _ => Builder::Termd,
        },
    }
}

async fn read_until(source: &OwnedFd, until: &str) -> String {
    let mut output = String::new();
    while !output.contains(until) || until.is_empty() {
        let mut buffer = [0; 4096];
        match rustix::io::read(source, &mut buffer) {
            Ok(0) | Err(rustix::io::Errno::IO) => break,
            Ok(length) => output.push_str(&String::from_utf8_lossy(&buffer[..length])),
            Err(rustix::io::Errno::AGAIN) => readable(source.as_fd()).await,
            Err(error) => panic!("{error}"),
        }
    }
    output
}

/// How much of it the terminal took.
fn type_into(fds: &TerminalFds, text: &str) -> usize {
    let input = match (fds, fds.stdin()) {
        (TerminalFds::Pty { master, .. }, _) => master,
        (_, Some(stdin)) => &stdin.pipe,
        (_, None) => return 0,
    };
    rustix::io::write(input, text.as_bytes()).unwrap()
}

fn tty_of(fds: &TerminalFds) -> String {
    let TerminalFds::Pty { master, .. } = fds else {
        return String::new();
    };
    let name = rustix::pty::ptsname(master, Vec::new()).unwrap();
    name.to_string_lossy().into_owned()
}

/// Waits until there is something to read, off the runtime's thread: the keeper must be answered.
async fn readable(fd: BorrowedFd<'_>) {
    let fd = fd.try_clone_to_owned().unwrap();
    let wait = move || {
        let mut fds = [rustix::event::PollFd::new(
            &fd,
            rustix::event::PollFlags::IN,
        )];
        let patience = rustix::event::Timespec::try_from(PATIENCE).unwrap();
        rustix::event::poll(&mut fds, Some(&patience)).unwrap()
    };
    tokio::task::spawn_blocking(wait).await.unwrap();
}

fn refused(error: &KeeperError) -> Value {
    match error {
        KeeperError::Spawn(failure) => json!({
            "error": "spawn",
            "step": format!("{:?}", failure.step),
            "errno": failure.errno,
        }),
        other => json!({"error": other.to_string()}),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    value.as_str().unwrap_or_default().as_bytes().to_vec()
}

fn number(value: &Value) -> i32 {
    value.as_i64().unwrap().try_into().unwrap()
}
