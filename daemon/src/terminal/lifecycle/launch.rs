//! From a request to what is executed: the program, its arguments and its environment. Only the file
//! system is looked at. The keeper executes the result as it stands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use termd_policy::SecretVariables;
use termd_proto::terminal::{Agent, Front};
use thiserror::Error;

/// The kernel's `MAX_ARG_STRLEN` (execve(2)), the final NUL counted.
const MAX_ARGUMENT_BYTES: usize = 128 * 1024;
/// Arguments and environment together: the kernel's own bound is a quarter of the stack limit,
/// 2 MiB with the usual one.
const MAX_ARGUMENTS_BYTES: usize = 2 * 1024 * 1024;
/// The search path where PATH is not set (confstr(3), `_CS_PATH`).
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Characters with a meaning in a shell. One of them, or white space, makes a command a shell line.
const SHELL_SYNTAX: &str = "|&;<>()$`\\\"'*?[]#~=%{}!\n";

/// Variables of the daemon itself, which its terminals do not inherit (`sd_listen_fds(3)`,
/// `sd_notify(3)`, systemd.exec(5)).
const DAEMON_VARIABLES: [&str; 12] = [
    "NOTIFY_SOCKET",
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "SYSTEMD_EXEC_PID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
];
/// Variables about the terminal that the daemon or the client runs in.
const OUTER_TERMINAL_VARIABLES: [&str; 9] = [
    "COLUMNS",
    "LINES",
    "TERMCAP",
    "PWD",
    "OLDPWD",
    "TERMD_TERMINAL",
    "TERMD_SHELL_NONCE",
    // With them tmux refuses to start, and its commands act on the outer session.
    "TMUX",
    "TMUX_PANE",
];

/// Set in every terminal. The request's own variables win.
const PRESET_VARIABLES: [(&str, &str); 1] = [("TERM", "xterm-256color")];
/// Set also in what an agent creates, so that no program waits for a person's keys. The agent may have
/// inherited a person's pager, so these replace what the environment starts with.
const AGENT_VARIABLES: [(&str, &str); 6] = [
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Why a request cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LaunchError {
    #[error("{field} {problem}")]
    Invalid {
        /// The param's name on the wire.
        field: &'static str,
        problem: &'static str,
    },
    #[error("cannot start {command}: exec: {}", std::io::Error::from_raw_os_error(*errno))]
    Program { command: String, errno: i32 },
    #[error("cannot start in {cwd}: {}", std::io::Error::from_raw_os_error(*errno))]
    Directory {
        command: String,
        cwd: String,
        errno: i32,
    },
}

/// What is to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    /// `argv[0]` first.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<OsString, OsString>,
    pub cwd: PathBuf,
}

/// Who creates a terminal: what is preset in its environment depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creator {
    Person,
    /// An agent's front, or a process that an agent has started.
    Agent,
    /// An agent's shell, whose command has its environment whole.
    AgentShell,
}

impl Creator {
    /// The creator that comes through this front, and that belongs to this agent.
    pub fn of(front: Front, agent: Option<&Agent>) -> Self {
        match (front, agent) {
            (Front::Shell, _) => Self::AgentShell,
            (Front::Acp | Front::Mcp, _) | (_, Some(_)) => Self::Agent,
            (Front::Cli | Front::Daemon, None) => Self::Person,
        }
    }

    /// Whether it is an agent in any way.
    pub(crate) fn is_agents(self) -> bool {
        matches!(self, Self::Agent | Self::AgentShell)
    }

    fn presets(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (presets, agents) = match self {
            Self::Person => (&PRESET_VARIABLES[..], &[][..]),
            Self::Agent => (&PRESET_VARIABLES[..], &AGENT_VARIABLES[..]),
            Self::AgentShell => (&[][..], &[][..]),
        };
        presets.iter().chain(agents).copied()
    }

    fn inherits(self, name: &OsStr) -> bool {
        self == Self::AgentShell || is_inherited(name)
    }

    /// What is done with secrets of the environment where the policy says nothing: an agent's commands do
    /// not get them, and a person's do. An agent's shell has the environment that the agent gives it,
    /// whole.
    pub fn secrets(self) -> SecretVariables {
        match self {
            Self::Agent => SecretVariables::Drop,
            Self::Person | Self::AgentShell => SecretVariables::Pass,
        }
    }

    /// Whether a command gets a variable of this name from the environment that it starts from.
    pub fn hands_on(self, name: &OsStr) -> bool {
        let is_preset = self.presets().any(|(preset, _)| name == OsStr::new(preset));
        self.inherits(name) && !is_preset
    }
}

/// A request to execute something.
#[derive(Debug, Clone)]
pub struct LaunchRequest {
    /// A program or a shell line; `None` for the user's shell.
    pub command: Option<String>,
    pub args: Vec<String>,
    /// The environment to start from.
    pub base_env: BTreeMap<OsString, OsString>,
    /// Set over everything else.
    pub env: BTreeMap<String, String>,
    pub creator: Creator,
    /// Absolute.
    pub cwd: PathBuf,
    /// Finds the user's shell by passwd(5), where the environment names none.
    pub login_shell: fn() -> PathBuf,
}

/// What of the daemon's environment its terminals inherit.
pub fn inherited_environment(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    variables.filter(|(name, _)| is_inherited(name)).collect()
}

fn is_inherited(name: &OsStr) -> bool {
    let ours = |known: &&str| name == OsStr::new(known);
    !DAEMON_VARIABLES.iter().any(ours) && !OUTER_TERMINAL_VARIABLES.iter().any(ours)
}

/// A command's environment: inherited variables, presets, those of the policy, and over all those of
/// the request.
pub fn environment(
    creator: Creator,
    base_env: BTreeMap<OsString, OsString>,
    by_policy: &BTreeMap<String, String>,
    by_request: &BTreeMap<String, String>,
) -> BTreeMap<OsString, OsString> {
    let inherited = base_env
        .into_iter()
        .filter(|(name, _)| creator.inherits(name));
    let mut env: BTreeMap<OsString, OsString> = inherited.collect();
    let presets = creator.presets();
    env.extend(presets.map(|(name, value)| (name.into(), value.into())));
    let set = by_policy.iter().chain(by_request);
    env.extend(set.map(|(name, value)| (name.into(), value.into())));
    env
}

/// An environment as execve(2) takes it.
pub(crate) fn environment_block(env: BTreeMap<OsString, OsString>) -> Vec<Vec<u8>> {
    let variable = |(name, value): (OsString, OsString)| {
        let mut bytes = name.into_vec();
        bytes.push(b'=');
        bytes.extend(value.into_vec());
        bytes
    };
    env.into_iter().map(variable).collect()
}

impl LaunchRequest {
    /// Decides what is executed. Looks at the file system and changes nothing.
    pub fn resolve(self) -> Result<Launch, LaunchError> {
        self.check()?;
        self.check_directory()?;
        let env = environment(self.creator, self.base_env, &BTreeMap::new(), &self.env);
        let finder = ProgramFinder {
            path: env
                .get(OsStr::new("PATH"))
                .map_or(OsStr::new(DEFAULT_PATH), |path| path),
            cwd: &self.cwd,
        };
        let shell = || {
            env.get(OsStr::new("SHELL"))
                .map(PathBuf::from)
                .filter(|shell| shell.is_absolute() && executable(shell).is_ok())
                .unwrap_or_else(self.login_shell)
        };
        let (program, argv) = match self.command {
            None => {
                let shell = shell();
                let name = shell.to_string_lossy().into_owned();
                (shell, vec![name])
            }
            Some(command) => match finder.find(&command) {
                Ok(program) => {
                    let argv = std::iter::once(command).chain(self.args).collect();
                    (program, argv)
                }
                Err(_) if self.args.is_empty() && is_shell_line(&command) => {
                    let shell = shell();
                    let name = shell.to_string_lossy().into_owned();
                    (shell, vec![name, "-c".to_owned(), command])
                }
                Err(errno) => {
                    return Err(LaunchError::Program {
                        command,
                        errno: errno.raw_os_error(),
                    });
                }
            },
        };
        Ok(Launch {
            program,
            argv,
            env,
            cwd: self.cwd,
        })
    }

    fn check(&self) -> Result<(), LaunchError> {
        let invalid = |field, problem| Err(LaunchError::Invalid { field, problem });
        if self.command.as_deref() == Some("") {
            return invalid("command", "may not be empty");
        }
        let texts = [
            ("command", self.command.as_slice()),
            ("args", self.args.as_slice()),
        ];
        let mut total = 0;
        for (field, values) in texts {
            for value in values {
                if value.contains('\0') {
                    return invalid(field, "may not hold a NUL byte");
                }
                if value.len() >= MAX_ARGUMENT_BYTES {
                    return invalid(field, "may not be longer than 131,071 bytes each");
                }
                total += value.len() + 1;
            }
        }
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return invalid(
                    "env",
                    "needs names that are not empty and hold no = and no NUL",
                );
            }
            if value.contains('\0') {
                return invalid("env", "may not hold a NUL byte");
            }
            if name.len() + value.len() + 2 > MAX_ARGUMENT_BYTES {
                return invalid("env", "may not be longer than 131,071 bytes each");
            }
            total += name.len() + value.len() + 2;
        }
        let inherited = self
            .base_env
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum::<usize>();
        if total + inherited > MAX_ARGUMENTS_BYTES {
            return invalid(
                "args",
                "may not be longer than 2 MiB together with the environment",
            );
        }
        let bad = |text: &OsStr| text.as_bytes().contains(&0);
        if self.base_env.iter().any(|(name, value)| {
            name.is_empty() || bad(name) || bad(value) || name.as_bytes().contains(&b'=')
        }) {
            return invalid("base_env", "needs names without = and no NUL bytes");
        }
        if !self.cwd.is_absolute() {
            return invalid("cwd", "must be an absolute path");
        }
        if bad(self.cwd.as_os_str()) {
            return invalid("cwd", "may not hold a NUL byte");
        }
        Ok(())
    }

    fn check_directory(&self) -> Result<(), LaunchError> {
        let failed = |errno: Errno| LaunchError::Directory {
            command: self
                .command
                .clone()
                .unwrap_or_else(|| "the shell".to_owned()),
            cwd: self.cwd.to_string_lossy().into_owned(),
            errno: errno.raw_os_error(),
        };
        match fs::metadata(&self.cwd) {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Ok(_) => Err(failed(Errno::NOTDIR)),
            Err(error) => Err(failed(errno_of(&error))),
        }
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// A PATH search as execvp(3) does it, with another PATH and directory.
struct ProgramFinder<'a> {
    path: &'a OsStr,
    cwd: &'a Path,
}

impl ProgramFinder<'_> {
    fn find(&self, command: &str) -> Result<PathBuf, Errno> {
        if command.contains('/') {
            let program = self.cwd.join(command);
            return executable(&program).map(|()| program);
        }
        let mut failure = Errno::NOENT;
        for directory in self.path.as_bytes().split(|byte| *byte == b':') {
            // An empty part of PATH means the working directory.
            let program = self.cwd.join(OsStr::from_bytes(directory)).join(command);
            match executable(&program) {
                Ok(()) => return Ok(program),
                Err(Errno::ACCESS) => failure = Errno::ACCESS,
                Err(_) => {}
            }
        }
        Err(failure)
    }
}

fn executable(program: &Path) -> Result<(), Errno> {
    let metadata = fs::metadata(program).map_err(|error| errno_of(&error))?;
    if !metadata.is_file() {
        return Err(Errno::ACCESS);
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Errno::ACCESS);
    }
    rustix::fs::access(program, rustix::fs::Access::EXEC_OK)
}

fn is_shell_line(command: &str) -> bool {
    command.contains(|c: char| c.is_whitespace() || SHELL_SYNTAX.contains(c))
}

#[cfg(test)]
mod tests;
