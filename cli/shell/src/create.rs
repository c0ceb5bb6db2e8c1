//! The start of a command: the daemon is asked to run it, and says no, or has it run here, or runs it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use termd_proto::approval::{ApprovalId, ApprovalState, WaitForApproval};
use termd_proto::shell::ReportInPlace;
use termd_proto::terminal::{CreateTerminal, Stderr, Stdin, Stdio};
use termd_proto::{ErrorKind, Method, TerminalRef};
use thiserror::Error;

use crate::agent::Agent;
use crate::connection::{CallError, Connection};
use crate::inherited;
use crate::real_shell::RealShell;
use crate::refusal::Refusal;
use crate::server::Server;
use crate::signals::Signals;
use crate::socket;
use crate::standard_fds::StandardFds;
use crate::surroundings::{OutputPipes, Surroundings, Unfit};
use crate::syntax_check::{SyntaxError, syntax_error};

/// Set in each of the daemon's terminals: what runs there runs in the daemon already.
const TERMINAL_VARIABLE: &str = "TERMD_TERMINAL";
/// Set, and not empty: the model gets the output as it is.
const RAW_VARIABLE: &str = "TERMD_RAW";
/// How long the record of a command that runs in place may take.
const REPORT: Duration = Duration::from_secs(1);

/// Why the daemon does not run the command.
#[derive(Debug)]
pub(crate) enum NotStarted {
    /// It is to run here, with the real shell in this process's place.
    InPlace,
    /// The gate has refused it.
    Refused(Refusal),
    /// The real shell cannot read it.
    Unreadable(SyntaxError),
    /// This signal came before it was started; SIGHUP, too, where the agent has ended.
    Signalled(Signal),
}

/// Why a call that is waited for has no result.
#[derive(Debug, Error)]
enum WaitError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{0} came")]
    Signalled(Signal),
}

impl From<io::Error> for WaitError {
    fn from(error: io::Error) -> Self {
        Self::Call(error.into())
    }
}

/// What ends a command before its start.
type Enders<'a> = (&'a Agent, &'a Signals);

/// What the output is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The bytes that the command has written.
    Exact,
    /// Plain text in which the daemon has applied redraws and hidden secrets, for a model. Of each stream
    /// at most about this number of bytes is shown.
    Text(Option<u64>),
}

/// What the daemon has answered.
#[derive(Debug)]
struct Created {
    terminal: TerminalRef,
    /// Whether the line that a model wrote stands within the one that is run.
    is_wrapped: bool,
}

/// A command that the daemon runs.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) server: Server,
    pub(crate) connection: Connection,
    pub(crate) terminal: TerminalRef,
    pub(crate) form: Form,
    pub(crate) signals: Signals,
    pub(crate) surroundings: Surroundings,
    pub(crate) agent: Agent,
}

/// A command that is to be started.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    shell: &'a RealShell,
    args: &'a [OsString],
    fds: &'a StandardFds,
}

impl<'a> Start<'a> {
    pub(crate) fn new(shell: &'a RealShell, args: &'a [OsString], fds: &'a StandardFds) -> Self {
        Self { shell, args, fds }
    }

    /// Has the daemon start the command.
    pub(crate) fn run(self) -> Result<Started, NotStarted> {
        if env::var_os(TERMINAL_VARIABLE).is_some() {
            return Err(NotStarted::InPlace);
        }
        let socket = socket::find().ok_or(NotStarted::InPlace)?;
        let agent = Agent::find();
        let server = Server::new(socket, agent.hello());
        let connected = server.connect();
        let (mut connection, daemon) = connected.map_err(|_| NotStarted::InPlace)?;
        let (surroundings, request) = match self.request(&agent) {
            Ok(request) => request,
            Err(unfit) => return Err(self.in_place(&mut connection, &unfit.to_string())),
        };
        let nothing = termd_proto::terminal::Inherited::default();
        let signals = Signals::take(request.inherited.as_ref().unwrap_or(&nothing));
        let signals = signals.map_err(|_| NotStarted::InPlace)?;
        let created = match self.create(&server, &mut connection, &request, (&agent, &signals)) {
            Ok(created) => created,
            Err(not_started) => {
                if matches!(not_started, NotStarted::InPlace) {
                    signals.give_back();
                }
                return Err(not_started);
            }
        };
        let is_raw = env::var_os(RAW_VARIABLE).is_some_and(|value| !value.is_empty());
        let for_model = !is_raw && agent.is_for_model(created.is_wrapped);
        let form = match daemon.shell.filter(|_| for_model) {
            Some(output) if output.hide_secrets || output.limit.is_some() => {
                Form::Text(output.limit)
            }
            Some(_) | None => Form::Exact,
        };
        Ok(Started {
            server,
            connection,
            terminal: created.terminal,
            form,
            signals,
            surroundings,
            agent,
        })
    }

    /// Asks until there is an answer that stays.
    fn create(
        &self,
        server: &Server,
        connection: &mut Connection,
        request: &CreateTerminal,
        enders: Enders<'_>,
    ) -> Result<Created, NotStarted> {
        loop {
            let since_ms = now_ms();
            let refusal = match create_once(connection, request, enders) {
                Ok(created) => return Ok(created),
                Err(WaitError::Signalled(signal)) => return Err(NotStarted::Signalled(signal)),
                Err(WaitError::Call(CallError::Refused(refusal))) => refusal,
                Err(WaitError::Call(CallError::Disconnected(_) | CallError::Timeout)) => {
                    // The answer is lost, and the command may run.
                    *connection = server
                        .reconnect(enders.0)
                        .map_err(|_| NotStarted::InPlace)?;
                    let found = Server::own_terminal(connection, since_ms).ok().flatten();
                    let reason = "termd was replaced before it was started";
                    let found = found.map(|terminal| Created {
                        terminal,
                        is_wrapped: false,
                    });
                    return found.ok_or_else(|| self.in_place(connection, reason));
                }
            };
            if refusal.is_gates() {
                if let Some(error) = syntax_error(self.shell, self.args) {
                    return Err(NotStarted::Unreadable(error));
                }
                match refusal.question() {
                    Some(question) => wait_for_person(connection, question, refusal, enders)?,
                    None => return Err(NotStarted::Refused(refusal)),
                }
            } else if refusal.kind() == Some(ErrorKind::Unavailable) {
                // The server makes way for another one, and has started nothing.
                *connection = server
                    .connect()
                    .map_err(|_| NotStarted::InPlace)
                    .map(|(connection, _)| connection)?;
            } else {
                return Err(match refusal.kind() {
                    // The daemon has recorded it.
                    Some(ErrorKind::InPlace) => NotStarted::InPlace,
                    _ => self.in_place(connection, refusal.message()),
                });
            }
        }
    }

    /// Has the daemon record that the command runs in place, for a reason that it does not know.
    fn in_place(&self, connection: &mut Connection, reason: &str) -> NotStarted {
        let program = self.shell.program.to_string_lossy().into_owned();
        let args = self.args.iter().skip(1);
        let args = args.map(|arg| arg.to_string_lossy().into_owned());
        let cwd = env::current_dir().unwrap_or_default();
        let report = ReportInPlace {
            argv: std::iter::once(program).chain(args).collect(),
            cwd: cwd.to_string_lossy().into_owned(),
            reason: reason.to_owned(),
        };
        // A record that cannot be written holds no command up.
        let _ = connection.call(&report, Instant::now() + REPORT);
        NotStarted::InPlace
    }

    /// The request for a terminal in which everything is as it is here.
    fn request(&self, agent: &Agent) -> Result<(Surroundings, CreateTerminal), Unfit> {
        let surroundings = Surroundings::look(self.fds)?;
        let (stdio, stdin, stderr, size) = match surroundings {
            Surroundings::Tty { cols, rows } => {
                (Stdio::Pty, Stdin::Null, Stderr::Pipe, Some((cols, rows)))
            }
            Surroundings::Pipes { has_stdin, output } => {
                let stdin = if has_stdin {
                    Stdin::Inherited
                } else {
                    Stdin::Null
                };
                let stderr = match output {
                    OutputPipes::One => Stderr::Stdout,
                    OutputPipes::Two => Stderr::Pipe,
                };
                (Stdio::Pipes, stdin, stderr, None)
            }
        };
        let args = self.args.iter().map(|arg| text(arg));
        let mut args = args.collect::<Result<Vec<String>, _>>()?.into_iter();
        let arg0 = args.next();
        let cwd = env::current_dir().map_err(|_| Unfit::NoDirectory)?;
        let request = CreateTerminal {
            command: Some(text(self.shell.program.as_os_str())?),
            arg0,
            args: args.collect(),
            base_env: Some(environment()?),
            cwd: Some(text(cwd.as_os_str())?),
            cols: size.map(|(cols, _)| cols),
            rows: size.map(|(_, rows)| rows),
            close_on_disconnect: true,
            one_shot: true,
            stdio,
            stdin,
            stderr,
            inherited: Some(inherited::of_this_process(stdin == Stdin::Inherited)?),
            meta: agent.meta(),
            ..CreateTerminal::default()
        };
        Ok((surroundings, request))
    }
}

fn text(text: &OsStr) -> Result<String, Unfit> {
    text.to_str().map(str::to_owned).ok_or(Unfit::NotUtf8)
}

fn environment() -> Result<BTreeMap<String, String>, Unfit> {
    let variables = env::vars_os().map(|(name, value)| Ok((text(&name)?, text(&value)?)));
    variables.collect()
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default().as_millis();
    i64::try_from(now).unwrap_or(i64::MAX)
}

fn create_once(
    connection: &mut Connection,
    request: &CreateTerminal,
    enders: Enders<'_>,
) -> Result<Created, WaitError> {
    let numbers = request.inherited.iter();
    let numbers: Vec<_> = numbers
        .flat_map(|inherited| &inherited.fds)
        .copied()
        .collect();
    let id = connection.send_with_fds(request, &inherited::descriptors(&numbers))?;
    let info = wait::<CreateTerminal>(connection, id, enders)?;
    Ok(Created {
        terminal: TerminalRef::from(&info.id),
        is_wrapped: info.agent_line.is_some(),
    })
}

/// Waits until a person has agreed. An error: none has.
fn wait_for_person(
    connection: &mut Connection,
    (id, wait_ms): (ApprovalId, u64),
    refusal: Refusal,
    enders: Enders<'_>,
) -> Result<(), NotStarted> {
    let question = WaitForApproval {
        id,
        timeout_ms: Some(wait_ms),
    };
    let answered = connection.send(&question).map_err(WaitError::from);
    let answered = answered.and_then(|id| wait::<WaitForApproval>(connection, id, enders));
    match answered.map(|info| info.state) {
        Ok(ApprovalState::Approved) => Ok(()),
        Ok(ApprovalState::Denied) => Err(NotStarted::Refused(refusal.denied())),
        Err(WaitError::Signalled(signal)) => Err(NotStarted::Signalled(signal)),
        Ok(_) | Err(WaitError::Call(_)) => Err(NotStarted::Refused(refusal)),
    }
}

/// Waits for an answer, and for what ends the command before its start.
fn wait<M: Method>(
    connection: &mut Connection,
    id: u64,
    (agent, signals): Enders<'_>,
) -> Result<M::Answer, WaitError> {
    loop {
        match connection.next_answer()? {
            Some(answer) if answer.id == id => return Ok(answer.read::<M>()?),
            Some(_) => continue,
            None => {}
        }
        let fds = [Some(connection.fd()), Some(signals.fd()), agent.pidfd()].into_iter();
        let fds = fds.flatten();
        let mut fds: Vec<_> = fds
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        let is_ready = |place: usize| fds.get(place).is_some_and(|fd| !fd.revents().is_empty());
        let [has_answer, has_signal, has_agent_ended] = [0, 1, 2].map(is_ready);
        if has_signal && let Some(signal) = signals.next_ending() {
            return Err(WaitError::Signalled(signal));
        }
        if has_agent_ended {
            return Err(WaitError::Signalled(Signal::SIGHUP));
        }
        if has_answer {
            connection.receive()?;
        }
    }
}
