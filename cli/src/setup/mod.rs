//! Setting up clients: the clients, their settings files, and what is entered there: `termctl mcp`, and
//! the entry for termd's shells.
//!
//! All other bytes of a file stay, with comments, order and indentation. A file that cannot be parsed
//! is left alone, and the fault has its place. Setting up twice is the same as once. A file is whole
//! at every moment. `json` and `toml` are pure; only `file` touches the disk.

mod clients;
mod entry;
mod environments;
mod file;
mod fragment;
mod hooks;
mod json;
mod list_item;
mod shell_entries;
mod shells;
#[cfg(test)]
mod tests;
mod toml;
mod value;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use clients::{CLIENTS, Client, ClientName, Places, Scope, names};
pub(crate) use entry::{Arguments, Server};
pub(crate) use fragment::fragment;
pub(crate) use hooks::{HookEntry, names as clients_with_hooks};
pub(crate) use shell_entries::{ShellEntry, Trial, names as clients_with_shell_entries};
pub(crate) use shells::{Shells, is_shell_path, program_beside};

use clients::Format;
use entry::fields;

/// Why a client is not set up. Nothing was written.
#[derive(Debug, Error)]
pub(crate) enum SetupError {
    /// The text cannot be edited.
    #[error("{}:{fault}", .path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Where and why.
        fault: Fault,
    },
    /// The file cannot be read or written.
    #[error("{}: cannot {doing}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The action that failed.
        doing: &'static str,
        /// Why.
        error: std::io::Error,
    },
    /// The file is too large to be settings.
    #[error("{}: larger than {limit} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        limit: u64,
    },
    /// The client rewrote its file during each attempt.
    #[error("{}: is being rewritten by somebody else; try again when the client is idle", .0.display())]
    Busy(PathBuf),
    /// termctl does not edit this client's file.
    #[error(
        "{client} keeps its settings in YAML, which termctl does not edit: {}",
        by_hand(*.action, client, .server, .path)
    )]
    ByHand {
        action: Action,
        /// Its name.
        client: &'static str,
        /// What the client calls termd.
        server: String,
        /// Its file.
        path: PathBuf,
    },
    /// This client has no settings of a project.
    #[error("{0} has no settings for a project")]
    NoProject(&'static str),
    /// This client has no shell that can be set.
    #[error("{0} takes its shell from nowhere that termctl could set; {known} do", known = shell_entries::names())]
    TakesNoShell(&'static str),
    /// This client has no hook that could ask.
    #[error("{0} has no hook that can ask a person; {known} do", known = hooks::names())]
    TakesNoHook(&'static str),
    /// The program of the shells is not installed.
    #[error(
        "there is no {PROGRAM} beside {}, and agents' shells are links to it; install it there first",
        .0.display(), PROGRAM = shells::PROGRAM
    )]
    NoShell(PathBuf),
    /// Something else is in the place of a file of termctl's.
    #[error("{}: is not termctl's, and stays", .0.display())]
    NotOurs(PathBuf),
    /// The user's settings cannot be located.
    #[error("HOME is not set, so the clients' settings cannot be found")]
    NoHome,
    /// The path of this program is unknown.
    #[error("cannot tell the path of this termctl: {0}")]
    NoProgram(std::io::Error),
}

/// What a person does to a file that termctl does not edit.
fn by_hand(action: Action, client: &str, server: &str, path: &Path) -> String {
    let path = path.display();
    match action {
        Action::Add => {
            format!("add what `termctl setup --client {client} --print` shows to {path}")
        }
        Action::Remove => format!("take {server} out of {path}, if it is there"),
    }
}

/// A fault in a text, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {reason}")]
pub(crate) struct Fault {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    /// Without a full stop.
    pub(crate) reason: String,
}

impl Fault {
    /// A fault at a byte of a text.
    pub(crate) fn at(text: &str, byte: usize, reason: impl Into<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
        Self {
            line: before.matches('\n').count().saturating_add(1),
            column: before
                .get(line_start..)
                .map_or(0, |line| line.chars().count())
                .saturating_add(1),
            reason: reason.into(),
        }
    }
}

/// The edit of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Add,
    Remove,
}

/// The change that an edit made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The entry is new.
    Added,
    /// The entry was there, with another command or other arguments.
    Updated,
    /// The entry is gone.
    Removed,
    /// The entry was there, and equal.
    AlreadyThere,
    /// There was no entry to remove.
    NotThere,
}

impl Change {
    /// Whether the file changes.
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Added | Self::Updated | Self::Removed)
    }

    /// For a program.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::AlreadyThere => "already_set_up",
            Self::NotThere => "not_set_up",
        }
    }

    /// For a person.
    pub(crate) const fn phrase(self) -> &'static str {
        match self {
            Self::Added => "set up",
            Self::Updated => "set up anew",
            Self::Removed => "removed",
            Self::AlreadyThere => "already set up",
            Self::NotThere => "not set up",
        }
    }
}

/// A text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) change: Change,
    /// The whole text.
    pub(crate) text: String,
}

impl Edited {
    fn unchanged(change: Change, text: &str) -> Self {
        Self {
            change,
            text: text.to_owned(),
        }
    }
}

/// The change of a client's file.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) change: Change,
    /// The old content, if the file existed and changed.
    pub(crate) backup: Option<PathBuf>,
}

/// Adds a server to a client's file, or removes it.
pub(crate) fn apply(
    client: &Client,
    path: &Path,
    scope: Scope,
    server: &Server,
    action: Action,
) -> Result<Outcome, SetupError> {
    if client.format == Format::GooseYaml {
        return Err(SetupError::ByHand {
            action,
            client: client.name,
            server: server.name.clone(),
            path: path.to_owned(),
        });
    }
    file::rewrite(path, scope, |text| {
        edit(client.format, text, server, action)
    })
}

/// Takes an entry out of a file. Where all else in the file is as it was before the entry, so is then
/// every byte, and a file that was not there is gone.
fn restoring(
    path: &Path,
    edit: impl Fn(&str, Action) -> Result<Edited, Fault>,
) -> Result<Outcome, SetupError> {
    let earlier = file::backups(path);
    let outcome = file::rewrite(path, Scope::User, |text| restored(text, &earlier, &edit))?;
    // One that was there and empty has an empty backup.
    if outcome.change == Change::Removed && !earlier.iter().any(String::is_empty) {
        file::remove_empty(path);
    }
    Ok(outcome)
}

/// The pure part of [`restoring`]: `earlier` are the texts that the file had, the newest first.
fn restored(
    text: &str,
    earlier: &[String],
    edit: &impl Fn(&str, Action) -> Result<Edited, Fault>,
) -> Result<Edited, Fault> {
    let removed = edit(text, Action::Remove)?;
    if removed.change != Change::Removed {
        return Ok(removed);
    }
    let leads_here = |before: &&str| {
        edit(before, Action::Add)
            .is_ok_and(|added| added.change == Change::Added && added.text == text)
    };
    let earlier = earlier.iter().map(String::as_str);
    let before = earlier.chain([""]).find(leads_here);
    Ok(before.map_or(removed, |before| Edited {
        change: Change::Removed,
        text: before.to_owned(),
    }))
}

/// The pure part of [`apply`].
fn edit(format: Format, text: &str, server: &Server, action: Action) -> Result<Edited, Fault> {
    let container = format.container();
    match (format, action) {
        (Format::CodexToml, Action::Add) => {
            let there = toml::arguments(text, server);
            toml::add(text, server, &fields(format, server, there))
        }
        (Format::CodexToml, Action::Remove) => toml::remove(text, server),
        (_, Action::Add) => {
            let there = json::arguments(text, container, server);
            json::add(text, container, server, &fields(format, server, there))
        }
        (_, Action::Remove) => json::remove(text, container, server),
    }
}
