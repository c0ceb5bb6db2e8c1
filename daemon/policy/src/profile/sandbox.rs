//! The sandbox of a profile, and what it makes of the directory that a command starts in.
//!
//! Paths in, paths out: links are not resolved here, and how a restriction is enforced is not known.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::escape_sockets::ESCAPE_SOCKETS;
use super::host_paths::HostPaths;
use super::protected_paths::{
    MissingPath, PROTECTED_EVERYWHERE, PROTECTED_IN_HOME, REPOSITORY_SETTINGS,
};
use super::sandbox_access::{GitAccess, SandboxAccess, SandboxBuilder, TemporaryFiles};
use super::secret_files::SECRETS_IN_HOME;

/// The directory of the daemon's socket, below the runtime directory.
const SOCKET_DIRECTORY: &str = "termd";

/// The name by which git finds a repository.
const GIT_DIRECTORY: &str = ".git";

/// Directories of the system, which are never a workspace.
const NO_WORKSPACES: [&str; 12] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
    "/var/lib",
];

/// The directory of files in memory. A directory below it may be a workspace.
const SHARED_MEMORY: &str = "/dev/shm";

/// The directories for temporary files, which a sandbox may have of its own.
pub(super) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// How much a sandbox takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    /// There is no sandbox.
    None,
    /// The command writes only to the workspace, the temporary directories and named paths.
    ReadOnly,
    /// The same. Secrets are hidden as well; hooks and settings in the workspace are protected.
    Workspace,
    /// There is no network, and nothing else is taken away.
    NoNetwork,
}

impl SandboxKind {
    /// The word in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::NoNetwork => "no-network",
        }
    }
}

/// The sandbox of a profile as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// How much the sandbox takes away.
    pub kind: SandboxKind,
    /// Further paths that may be written.
    pub writable: Vec<PathBuf>,
    /// Further paths that may not be written.
    pub protected: Vec<PathBuf>,
    /// Further paths that cannot be seen.
    pub hidden: Vec<PathBuf>,
    /// Directories that workspaces lie below. Empty: a workspace may be anywhere.
    pub workspaces: Vec<PathBuf>,
    /// What may be written of repositories.
    pub git: GitAccess,
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

impl SandboxSpec {
    /// A sandbox of this kind, and nothing besides.
    pub fn plain(kind: SandboxKind) -> Self {
        Self {
            kind,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            workspaces: Vec::new(),
            git: match kind {
                SandboxKind::Workspace => GitAccess::Read,
                SandboxKind::None | SandboxKind::ReadOnly | SandboxKind::NoNetwork => {
                    GitAccess::Write
                }
            },
            network: kind != SandboxKind::NoNetwork,
            daemon_socket: false,
            best_effort: false,
            temporary: TemporaryFiles::Shared,
            builder: SandboxBuilder::Termd,
        }
    }

    /// What a command may access in a directory. `None` if the kind is none.
    pub(super) fn access(&self, host: &HostPaths) -> Option<SandboxAccess> {
        let absolute = |path: &PathBuf| host.place(path);
        let mut writable: Vec<PathBuf> = match self.kind {
            SandboxKind::None => return None,
            SandboxKind::NoNetwork => vec![PathBuf::from("/")],
            SandboxKind::ReadOnly | SandboxKind::Workspace => {
                let workspace = self.may_write_workspace(host).then_some(&host.workspace);
                let to_write = workspace.into_iter().chain(&host.temporary);
                // Private ones can be written anyway; those of the host cannot be seen then.
                let is_hosts = |path: &&PathBuf| {
                    self.temporary == TemporaryFiles::Private
                        && (TEMPORARY.iter().any(|own| path.as_path() == Path::new(own))
                            || (host.temporary.contains(path) && **path != host.workspace))
                };
                to_write.filter(|path| !is_hosts(path)).cloned().collect()
            }
        };
        writable.extend(self.writable.iter().map(absolute));
        let mut protected: Vec<(PathBuf, MissingPath)> =
            vec![(host.daemon_config.clone(), MissingPath::Ignore)];
        let (mut hidden, hidden_prefixes) = escape_sockets(host);
        let mut protected_names = Vec::new();
        let mut repository_settings = Vec::new();
        let mut visible: Vec<PathBuf> = host.ssh_agent.iter().cloned().collect();
        if let Some(runtime_dir) = &host.runtime_dir {
            hidden.push(runtime_dir.clone());
            let socket = runtime_dir.join(SOCKET_DIRECTORY);
            visible.extend(self.daemon_socket.then_some(socket));
        }
        if self.git != GitAccess::Write {
            // A repository that is made here is obeyed by the git of whoever works here.
            let git_directory = host.workspace.join(GIT_DIRECTORY);
            protected.push((git_directory, MissingPath::CreateDirectory));
        }
        if self.kind == SandboxKind::Workspace {
            protected_names.extend(PROTECTED_EVERYWHERE.iter().map(|(name, _)| *name));
            let settings = REPOSITORY_SETTINGS.iter();
            repository_settings.extend(settings.map(|(path, absent, _)| (*path, *absent)));
            let places = |path: &str| {
                let mut places = host.moved.elsewhere(Path::new(path));
                places.push(host.home.join(path));
                places
            };
            let in_home = PROTECTED_IN_HOME.iter().flat_map(|(path, _)| places(path));
            let moved = host.moved.protected().cloned();
            let settings = in_home.chain(moved);
            protected.extend(settings.map(|path| (path, MissingPath::Ignore)));
            // One that is absent would be looked through once it is made.
            let directories = self.directories_in_workspace(host);
            protected.extend(directories.map(|path| (path, MissingPath::CreateDirectory)));
            hidden.extend(SECRETS_IN_HOME.iter().flat_map(|(path, _)| places(path)));
            hidden.extend(host.moved.hidden().cloned());
        }
        let named = self.protected.iter().map(absolute);
        protected.extend(named.map(|path| (path, MissingPath::Ignore)));
        hidden.extend(self.hidden.iter().map(absolute));
        Some(SandboxAccess {
            writable,
            protected,
            protected_names,
            repository_settings,
            git: self.git,
            hidden,
            hidden_prefixes,
            visible,
            network: self.network,
            daemon_socket: self.daemon_socket,
            best_effort: self.best_effort,
            temporary: self.temporary,
            builder: self.builder,
        })
    }

    /// Directories of settings that lie in the workspace, but for those that the profile lets be written.
    fn directories_in_workspace<'a>(
        &'a self,
        host: &'a HostPaths,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let is_in_workspace = |path: &&PathBuf| path.starts_with(&host.workspace);
        let is_named = |path: &PathBuf| {
            let mut writable = self.writable.iter().map(|named| host.place(named));
            writable.any(|named| named.starts_with(path))
        };
        let directories = host.moved.directories().filter(is_in_workspace);
        directories.filter(move |path| !is_named(path)).cloned()
    }

    /// Whether the directory that a command starts in may be written. Whoever asks for a command chooses
    /// that directory. So a directory that holds everything, or the settings of a program, is only
    /// written if the profile names it.
    fn may_write_workspace(&self, host: &HostPaths) -> bool {
        let workspace = &host.workspace;
        if !self.workspaces.is_empty() {
            let named = self.workspaces.iter().map(|path| host.place(path));
            let is_below = |above: PathBuf| *workspace != above && workspace.starts_with(above);
            return named.into_iter().any(is_below);
        }
        let in_home = workspace.strip_prefix(&host.home).ok();
        let hides = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let first = in_home.and_then(|below| below.components().next());
        let is_of_a_program = first.is_some_and(hides);
        let mut moved = host.moved.directories();
        let is_of_a_program =
            is_of_a_program || moved.any(|settings| workspace.starts_with(settings));
        let holds_home = host.home.starts_with(workspace);
        let is_the_systems = NO_WORKSPACES
            .iter()
            .any(|above| workspace.starts_with(above));
        // A home below /var/lib is still a home.
        let is_in_memory = workspace
            .strip_prefix(SHARED_MEMORY)
            .is_ok_and(|below| below != Path::new(""));
        let is_the_systems = is_the_systems && in_home.is_none() && !is_in_memory;
        !holds_home && !is_of_a_program && !is_the_systems
    }
}

/// The paths of [`ESCAPE_SOCKETS`] on this host, and the beginnings of paths.
fn escape_sockets(host: &HostPaths) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let usual = TEMPORARY.map(PathBuf::from);
    let mut paths = Vec::new();
    let mut prefixes = Vec::new();
    for (path, _) in ESCAPE_SOCKETS {
        let (path, is_prefix) = match path.strip_suffix('*') {
            Some(prefix) => (Path::new(prefix), true),
            None => (Path::new(*path), false),
        };
        let list = if is_prefix { &mut prefixes } else { &mut paths };
        if let Ok(below) = path.strip_prefix(TEMPORARY[0]) {
            let directories = usual.iter().chain(&host.temporary);
            list.extend(directories.map(|directory| directory.join(below)));
            continue;
        }
        if let Ok(below) = path.strip_prefix("~") {
            list.extend(host.moved.elsewhere(below));
        }
        list.push(host.place(path));
    }
    (paths, prefixes)
}
