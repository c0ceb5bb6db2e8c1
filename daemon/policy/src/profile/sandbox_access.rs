//! What a sandboxed command may access in one directory.

use std::path::PathBuf;

use serde::Deserialize;

use super::protected_paths::MissingPath;

/// Whose directories for temporary files a command has. The stricter value is the greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TemporaryFiles {
    /// The host's.
    Shared,
    /// The command's own.
    Private,
}

/// The program that builds a sandbox's mounts. The one that is asked for is the greater value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxBuilder {
    /// The daemon itself.
    Termd,
    /// bubblewrap, where it is installed.
    Bubblewrap,
}

/// What of git's repositories in writable places may be written. The stricter value is the greater
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitAccess {
    /// Everything. No profile asks for it: it is what other sandboxes than `workspace` allow.
    #[serde(skip)]
    Write,
    /// Nothing that git obeys may: each git directory, what leads there, and what its settings and its
    /// index name.
    Read,
}

/// What a sandboxed command may access. Paths are absolute; links in them are not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxAccess {
    /// Paths that may be written. `/` is everything.
    pub writable: Vec<PathBuf>,
    /// Paths that may not be written, though a directory above may.
    pub protected: Vec<(PathBuf, MissingPath)>,
    /// Names of files that may not be written in any directory of a writable place.
    pub protected_names: Vec<&'static str>,
    /// Settings at the root of each repository, and of the workspace, that may not be written. A `*`
    /// stands for any part of a name.
    pub repository_settings: Vec<(&'static str, MissingPath)>,
    /// What may be written of repositories.
    pub git: GitAccess,
    /// Paths that cannot be seen.
    pub hidden: Vec<PathBuf>,
    /// The beginnings of further paths that cannot be seen. The directory is whole, the last name is not.
    pub hidden_prefixes: Vec<PathBuf>,
    /// Paths that can be seen, though a directory above cannot.
    pub visible: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: bool,
    /// Whether the daemon's own socket may be used.
    pub daemon_socket: bool,
    /// Whether the command runs where a restriction cannot be enforced.
    pub best_effort: bool,
    /// Whose `/tmp` and `/var/tmp` the command has.
    pub temporary: TemporaryFiles,
    /// The program that builds the mounts.
    pub builder: SandboxBuilder,
}

impl SandboxAccess {
    /// Two sandboxes together: what both let be written, and what either protects or hides.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let mut writable = Vec::new();
        for (from, within) in [
            (&self.writable, &other.writable),
            (&other.writable, &self.writable),
        ] {
            for path in from {
                let allowed = within.iter().any(|above| path.starts_with(above));
                if allowed && !writable.contains(path) {
                    writable.push(path.clone());
                }
            }
        }
        Self {
            writable,
            protected: [self.protected, other.protected].concat(),
            protected_names: [self.protected_names, other.protected_names].concat(),
            repository_settings: [self.repository_settings, other.repository_settings].concat(),
            git: self.git.max(other.git),
            hidden: [self.hidden, other.hidden].concat(),
            hidden_prefixes: [self.hidden_prefixes, other.hidden_prefixes].concat(),
            visible: self
                .visible
                .into_iter()
                .filter(|path| other.visible.contains(path))
                .collect(),
            network: self.network && other.network,
            daemon_socket: self.daemon_socket && other.daemon_socket,
            best_effort: self.best_effort && other.best_effort,
            temporary: self.temporary.max(other.temporary),
            builder: self.builder.max(other.builder),
        }
        .without_duplicates()
    }

    /// Each path once. Of a protected path the stricter entry stays.
    fn without_duplicates(mut self) -> Self {
        for paths in [
            &mut self.writable,
            &mut self.hidden,
            &mut self.hidden_prefixes,
        ] {
            paths.sort();
            paths.dedup();
        }
        self.protected_names.sort_unstable();
        self.protected_names.dedup();
        self.repository_settings.sort();
        self.repository_settings.dedup();
        self.protected.sort();
        self.protected.reverse();
        self.protected.dedup_by(|later, kept| later.0 == kept.0);
        self.protected.reverse();
        self
    }
}
