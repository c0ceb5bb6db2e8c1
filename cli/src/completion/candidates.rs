//! What may stand at the cursor: terminals, tags, questions, signals, clients, actions, programs.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use termd_client::escape::{shell_line, terminal_command};
use termd_client::question::command;
use termd_client::{ClientError, Link, StartPolicy};
use termd_proto::Tag;
use termd_proto::approval::{ApprovalState, ListApprovals};
use termd_proto::audit::ACTIONS;
use termd_proto::terminal::{ListScope, ListTerminals, TerminalInfo, TerminalState};

use crate::setup::CLIENTS;
use crate::signal_number::SIGNAL_NAMES;

/// How long a person's TAB waits for the daemon.
const MAX_WAIT: Duration = Duration::from_millis(500);
/// Terminals that are offered: more than anybody reads.
const MAX_TERMINALS: u32 = 1000;
const MAX_HELP_CHARS: usize = 60;

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let mut shown: String = help.chars().take(MAX_HELP_CHARS).collect();
    if shown.len() < help.len() {
        shown.push('…');
    }
    CompletionCandidate::new(value).help(Some(shown.into()))
}

/// Asks a daemon that runs. Without an answer nothing is offered.
fn asked<T>(ask: impl AsyncFnOnce(&Link) -> Result<Vec<T>, ClientError>) -> Vec<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return Vec::new();
    };
    let answer = async {
        let link = Link::open(StartPolicy::Never).await?;
        ask(&link).await
    };
    let answer = runtime.block_on(async { tokio::time::timeout(MAX_WAIT, answer).await });
    match answer {
        Ok(Ok(found)) => found,
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

/// Open terminals, which most verbs are about.
pub(super) fn open_terminals() -> Vec<CompletionCandidate> {
    terminals(&listed(ListScope::Open))
}

/// Closed terminals, of which alone something can be deleted.
pub(super) fn closed_terminals() -> Vec<CompletionCandidate> {
    let mut all = listed(ListScope::All);
    all.retain(|terminal| terminal.state == TerminalState::Closed);
    terminals(&all)
}

fn listed(scope: ListScope) -> Vec<TerminalInfo> {
    asked(async |link| {
        let list = ListTerminals {
            scope: Some(scope),
            limit: Some(MAX_TERMINALS),
            ..ListTerminals::default()
        };
        Ok(link.repeat(&list).await?.terminals)
    })
}

/// Each terminal by its label, or its id where it has none of its own, with what was started there.
fn terminals(found: &[TerminalInfo]) -> Vec<CompletionCandidate> {
    let mut candidates = Vec::new();
    for terminal in found {
        let help = terminal_command(terminal);
        let others = found.iter().filter(|other| other.id != terminal.id);
        let label = terminal.label.as_ref().filter(|label| {
            let mut labels = others.filter_map(|other| other.label.as_ref());
            labels.all(|other| other != *label)
        });
        if let Some(label) = label {
            candidates.push(candidate(label.as_str(), &help));
        }
        // The id of one that has a label is offered once it is begun.
        let id = candidate(terminal.id.as_str(), &help);
        candidates.push(id.hide(label.is_some()));
    }
    candidates
}

/// The tags of open terminals.
pub(super) fn tags() -> Vec<CompletionCandidate> {
    let open = listed(ListScope::Open);
    let tags: BTreeSet<&str> = (open.iter())
        .flat_map(|terminal| terminal.tags.iter())
        .map(Tag::as_str)
        .collect();
    tags.into_iter().map(CompletionCandidate::new).collect()
}

/// Questions of the gate that wait for a person.
pub(super) fn questions() -> Vec<CompletionCandidate> {
    let mut all = asked(async |link| {
        let list = ListApprovals {
            after: None,
            wait_ms: None,
        };
        Ok(link.repeat(&list).await?.approvals)
    });
    all.retain(|question| question.state == ApprovalState::Pending);
    let found = all
        .iter()
        .map(|question| candidate(question.id.as_str(), &shell_line(command(question))));
    found.collect()
}

/// Keys for `send -k`, those with a modifier that are pressed most among them.
const KEYS: [&str; 36] = [
    "enter",
    "escape",
    "tab",
    "shift-tab",
    "backspace",
    "space",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "page-up",
    "page-down",
    "insert",
    "delete",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
    "kp-enter",
    "ctrl-a",
    "ctrl-c",
    "ctrl-d",
    "ctrl-e",
    "ctrl-l",
    "ctrl-r",
    "ctrl-z",
];

pub(super) fn keys() -> Vec<CompletionCandidate> {
    KEYS.into_iter().map(CompletionCandidate::new).collect()
}

pub(super) fn signals() -> Vec<CompletionCandidate> {
    SIGNAL_NAMES
        .into_iter()
        .map(CompletionCandidate::new)
        .collect()
}

pub(super) fn clients() -> Vec<CompletionCandidate> {
    CLIENTS
        .iter()
        .map(|client| CompletionCandidate::new(client.name))
        .collect()
}

pub(super) fn actions() -> Vec<CompletionCandidate> {
    ACTIONS.iter().map(CompletionCandidate::new).collect()
}

/// A command: a program, and then paths.
pub(super) struct Programs;

impl ValueCompleter for Programs {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        self.complete_at(0, current)
    }

    fn complete_at(&self, arg_index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        let is_path = current.as_encoded_bytes().contains(&b'/');
        if arg_index > 0 || is_path {
            return PathCompleter::any().complete(current);
        }
        let mut names = Vec::new();
        for directory in env::split_paths(&env::var_os("PATH").unwrap_or_default()) {
            let entries = directory.read_dir().into_iter().flatten().flatten();
            let begun = entries.filter(|entry| {
                let name = entry.file_name();
                name.as_encoded_bytes()
                    .starts_with(current.as_encoded_bytes())
            });
            let programs = begun.filter(|entry| {
                let metadata = entry.path().metadata();
                metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
            });
            names.extend(programs.map(|entry| entry.file_name()));
        }
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(CompletionCandidate::new).collect()
    }
}
