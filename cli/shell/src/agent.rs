//! Whose command it is: the agent, its process, its session and the call, from what the agents set in
//! their commands' environment.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use termd_proto::Tags;
use termd_proto::acp::Meta;
use termd_proto::daemon::Hello;
use termd_proto::terminal::Front;

use crate::process;

/// What a client sets in the environment of its commands. Seen in claude-code 2.1.330, codex 0.169.0,
/// opencode 1.18.33 and gemini-cli 0.61.0; `TERM_PROGRAM` is documented by VS Code.
struct ClientVariables {
    client: &'static str,
    /// The variable that tells this client from others; where a value is given, with this value.
    mark: (&'static str, Option<&'static str>),
    /// Its process.
    pid: Option<&'static str>,
    /// Its session.
    session: Option<&'static str>,
    /// The call of its tool.
    call: Option<&'static str>,
}

/// The first that is there counts. VS Code comes last: the others run in its terminals.
const CLIENTS: [ClientVariables; 5] = [
    ClientVariables {
        client: "codex",
        mark: ("CODEX_THREAD_ID", None),
        pid: None,
        session: Some("CODEX_THREAD_ID"),
        call: Some("CODEX_TOOL_CALL_ID"),
    },
    ClientVariables {
        client: "claude-code",
        mark: ("CLAUDECODE", None),
        pid: Some("CLAUDE_PID"),
        session: Some("CLAUDE_CODE_SESSION_ID"),
        call: None,
    },
    ClientVariables {
        client: "opencode",
        mark: ("OPENCODE", None),
        pid: Some("OPENCODE_PID"),
        session: None,
        call: None,
    },
    ClientVariables {
        client: "gemini-cli",
        mark: ("GEMINI_CLI", None),
        pid: None,
        session: None,
        call: None,
    },
    ClientVariables {
        client: "vscode",
        mark: ("TERM_PROGRAM", Some("vscode")),
        pid: None,
        session: None,
        call: None,
    },
];

/// Programs that run commands without those variables too, such as at their start, by the names of
/// their processes.
const PROGRAMS: [(&str, &str); 2] = [("claude", "claude-code"), ("gemini", "gemini-cli")];

/// The longest name that the daemon takes (`daemon.hello`).
const MAX_NAME_BYTES: usize = 128;

/// The member of a terminal's `_meta` that names the call.
const CALL_MEMBER: &str = "call";

/// The agent whose command it is.
#[derive(Debug)]
pub(crate) struct Agent {
    client: Option<String>,
    /// Its process; a parent of this one.
    pid: Option<i32>,
    /// That process, held before anything is waited for: its end is seen whenever it comes.
    pidfd: Option<OwnedFd>,
    session: Option<String>,
    call: Option<String>,
}

impl Agent {
    /// By the environment and the parents of this process.
    pub(crate) fn find() -> Self {
        let parents = process::parents();
        let mut agent = Self::of(&parents, process::name_of, |name| std::env::var(name).ok());
        agent.pidfd = agent.pid.and_then(pidfd_of_parent);
        agent
    }

    fn of(
        parents: &[i32],
        name_of: impl Fn(i32) -> Option<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let is_there = |client: &&ClientVariables| {
            let (name, expected) = client.mark;
            let value = variable(name).filter(|value| !value.is_empty());
            value.is_some_and(|value| expected.is_none_or(|expected| value == expected))
        };
        let known = CLIENTS.iter().find(is_there);
        let value = |name: Option<&str>| {
            let value = variable(name?)?;
            (!value.is_empty() && value.len() <= MAX_NAME_BYTES).then_some(value)
        };
        // A variable may be older than the process: it counts only where it names a parent.
        let named = known.and_then(|known| value(known.pid)?.parse().ok());
        let named = named.filter(|pid| parents.contains(pid));
        let parent = parents.first().copied();
        let client = match known {
            Some(known) => Some(known.client.to_owned()),
            None => parent.and_then(name_of).map(|name| client_of(&name)),
        };
        Self {
            client,
            pid: named.or(parent),
            pidfd: None,
            session: known.and_then(|known| value(known.session)),
            call: known.and_then(|known| value(known.call)),
        }
    }

    /// The introduction to the daemon.
    pub(crate) fn hello(&self) -> Hello {
        let directory = self.pid.and_then(process::directory_of);
        Hello {
            client: self.client.clone(),
            front: Some(Front::Shell),
            agent_pid: self.pid,
            session: self.session.clone(),
            tags: Tags::of_agent(self.client.as_deref(), directory.as_deref()),
            ..Hello::default()
        }
    }

    /// What is kept with the terminal.
    pub(crate) fn meta(&self) -> Option<Meta> {
        let call = self.call.clone()?;
        Some(Meta::from_iter([(CALL_MEMBER.to_owned(), call.into())]))
    }

    /// Whether a model reads what the command prints, as far as the agent tells: it runs other commands
    /// too, such as those that take its environment. `is_wrapped`: the daemon has found the line that the
    /// model wrote within the one that was run.
    pub(crate) fn is_for_model(&self, is_wrapped: bool) -> bool {
        match self.client.as_deref() {
            Some("codex") => self.call.is_some(),
            Some("opencode") => true,
            Some("claude-code" | "gemini-cli") => is_wrapped,
            _ => false,
        }
    }

    /// A descriptor that is readable once the agent's process has ended.
    pub(crate) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }
}

/// A descriptor of a parent of this process. Its pid is its own until this one has another parent.
fn pidfd_of_parent(pid: i32) -> Option<OwnedFd> {
    let pidfd = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    // Behind the opening: before it the pid may have become another process's.
    process::parents().contains(&pid).then_some(pidfd)
}

fn client_of(program: &str) -> String {
    let mut known = PROGRAMS.iter();
    let known = known.find(|(name, _)| *name == program);
    known.map_or(program, |(_, client)| client).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENTS: [i32; 3] = [30, 20, 1];

    fn agent(variables: &[(&str, &str)]) -> Agent {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let name_of = |pid| (pid == 30).then(|| "claude".to_owned());
        Agent::of(&PARENTS, name_of, variable)
    }

    #[test]
    fn each_client_is_known_by_its_variables() {
        let claude = agent(&[
            ("CLAUDECODE", "1"),
            ("CLAUDE_PID", "20"),
            ("CLAUDE_CODE_SESSION_ID", "s"),
            ("TERM_PROGRAM", "vscode"),
        ]);
        assert_eq!(claude.client.as_deref(), Some("claude-code"));
        assert_eq!(
            (claude.pid, claude.session.as_deref()),
            (Some(20), Some("s"))
        );
        let codex = agent(&[("CODEX_THREAD_ID", "t"), ("CODEX_TOOL_CALL_ID", "c")]);
        assert_eq!(codex.client.as_deref(), Some("codex"));
        assert_eq!((codex.pid, codex.session.as_deref()), (Some(30), Some("t")));
        let meta = codex.meta().unwrap();
        assert_eq!(meta["call"], "c");
        let others = [
            (("OPENCODE", "1"), "opencode"),
            (("GEMINI_CLI", "1"), "gemini-cli"),
            (("TERM_PROGRAM", "vscode"), "vscode"),
            (("TERM_PROGRAM", "xterm"), "claude-code"),
        ];
        for (variable, client) in others {
            let found = agent(&[variable]);
            assert_eq!(found.client.as_deref(), Some(client), "{variable:?}");
            assert_eq!(found.meta(), None);
        }
    }

    #[test]
    fn a_pid_that_is_no_parents_does_not_count() {
        for pid in ["21", "", "x"] {
            let found = agent(&[("OPENCODE", "1"), ("OPENCODE_PID", pid)]);
            assert_eq!(found.pid, Some(30), "{pid}");
        }
    }
}
