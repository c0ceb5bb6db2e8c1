//! Setting up MCP clients: which there are, where their settings are, and how `termctl mcp` is
//! entered there and taken out again.
//!
//! It promises that a file's other bytes stay as they are, comments, order and indentation
//! included; that what it cannot parse it leaves alone and says where the fault is; that doing it
//! twice is doing it once; and that a file is whole at every moment. `json` and `toml` are pure:
//! text in, text out. `file` alone touches the disk. It must not know the daemon.

mod clients;
mod entry;
mod file;
mod fragment;
mod json;
#[cfg(test)]
mod tests;
mod toml;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use clients::{CLIENTS, Client, ClientName, Places, Scope, names};
pub(crate) use entry::Server;
pub(crate) use fragment::fragment;

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
    /// The disk said no.
    #[error("{}: cannot {doing}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What could not be done.
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
    /// Its owner rewrote the file each time between reading and writing it.
    #[error("{}: is being rewritten by somebody else; try again when the client is idle", .0.display())]
    Busy(PathBuf),
    /// termctl does not edit this client's file.
    #[error(
        "{client} keeps its settings in YAML, which termctl does not edit: add what `termctl setup \
         --client {client} --print` shows to {}", .path.display()
    )]
    ByHand {
        /// Its name.
        client: &'static str,
        /// Its file.
        path: PathBuf,
    },
    /// This client has no settings of a project.
    #[error("{0} has no settings for a project")]
    NoProject(&'static str),
    /// Where the user's settings are cannot be told.
    #[error("HOME is not set, so the clients' settings cannot be found")]
    NoHome,
    /// The path of this program cannot be told.
    #[error("cannot tell the path of this termctl: {0}")]
    NoProgram(std::io::Error),
}

/// Where in a text something is wrong, and what.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}:{column}: {reason}")]
pub(crate) struct Fault {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    /// What is wrong, without a full stop.
    pub(crate) reason: String,
}

impl Fault {
    /// At a byte of a text.
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

/// What is to be done with the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// It is to stand there as given.
    Add,
    /// It is to be gone.
    Remove,
}

/// What was done, or would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The entry is new.
    Added,
    /// The entry was there, with another command or other arguments.
    Updated,
    /// The entry is gone.
    Removed,
    /// The entry was as it is to be.
    AlreadyThere,
    /// There was none to remove.
    NotThere,
}

impl Change {
    /// Whether the file is another one after it.
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
    /// What was done to it.
    pub(crate) change: Change,
    /// The whole of it.
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

/// What was done to a client's file.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What.
    pub(crate) change: Change,
    /// What the file held before, if there was one and it was changed.
    pub(crate) backup: Option<PathBuf>,
}

/// Enters a server in a client's file, or takes it out.
pub(crate) fn apply(
    client: &Client,
    path: &Path,
    scope: Scope,
    server: &Server,
    action: Action,
) -> Result<Outcome, SetupError> {
    if client.format == Format::GooseYaml {
        return Err(SetupError::ByHand {
            client: client.name,
            path: path.to_owned(),
        });
    }
    file::rewrite(path, scope, |text| {
        edit(client.format, text, server, action)
    })
}

/// The pure part of [`apply`].
fn edit(format: Format, text: &str, server: &Server, action: Action) -> Result<Edited, Fault> {
    let fields = fields(format, server);
    match format {
        Format::CodexToml => match action {
            Action::Add => toml::add(text, server, &fields),
            Action::Remove => toml::remove(text, server),
        },
        _ => match action {
            Action::Add => json::add(text, format.container(), server, &fields),
            Action::Remove => json::remove(text, format.container(), server),
        },
    }
}
