//! What a sandboxed command may write, see and reach: the built-in lists with their reasons, and
//! the walls that a profile makes of them for one directory.
//!
//! Pure: places in, paths out. It must not know the file system (whoever asks resolves links), nor
//! how a wall is held.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// How much a sandbox takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxKind {
    /// Nothing: there is none.
    None,
    /// Writes only in the workspace, the temporary directories and named paths.
    ReadOnly,
    /// The same, and secrets are hidden, hooks and settings in the workspace protected.
    Workspace,
    /// No network, and nothing else.
    NoNetwork,
}

impl SandboxKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::NoNetwork => "no-network",
        }
    }
}

/// What is done about a protected path that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Absent {
    /// Nothing.
    Leave,
    /// An empty directory is made, in a repository only: git does not show it.
    MakeDirectory,
}

/// In the workspace: what runs later, outside of the sandbox, without a person having asked for it.
///
/// Texts that are only read are not here (`AGENTS.md`, `CLAUDE.md`, `.github/workflows`): agents are
/// asked to write them, and a diff shows what they say. Of single files none is made where there
/// is none: an empty `.mcp.json` breaks its reader.
pub(crate) const PROTECTED_IN_WORKSPACE: [(&str, Absent, &str); 14] = [
    (
        ".git/hooks",
        Absent::MakeDirectory,
        "run by the person's own git",
    ),
    (".git/config", Absent::Leave, "names programs that git runs"),
    (
        ".git/modules",
        Absent::Leave,
        "hooks and settings of submodules",
    ),
    (
        ".git/info",
        Absent::Leave,
        "attributes name filters that git runs",
    ),
    (
        ".husky",
        Absent::MakeDirectory,
        "hooks, where core.hooksPath names them",
    ),
    (".envrc", Absent::Leave, "run by direnv"),
    (
        ".vscode",
        Absent::MakeDirectory,
        "tasks that run when the folder is opened",
    ),
    (".idea", Absent::MakeDirectory, "run configurations"),
    (
        ".zed",
        Absent::MakeDirectory,
        "tasks, and settings of agents",
    ),
    (
        ".claude",
        Absent::MakeDirectory,
        "hooks and permissions of an agent",
    ),
    (".codex", Absent::MakeDirectory, "the same"),
    (".cursor", Absent::MakeDirectory, "the same"),
    (".gemini", Absent::MakeDirectory, "the same"),
    (".mcp.json", Absent::Leave, "programs that agents start"),
];

/// In the home directory: the same, for every shell and program of the person. They matter where a
/// profile lets something above them be written.
pub(crate) const PROTECTED_IN_HOME: [(&str, &str); 31] = [
    (".bashrc", "run by every shell"),
    (".bash_profile", "run at login"),
    (".bash_login", "run at login"),
    (".bash_logout", "run at logout"),
    (".bash_aliases", "run by every shell on Debian"),
    (".profile", "run at login"),
    (".zshrc", "run by every shell"),
    (".zshenv", "run by every shell"),
    (".zprofile", "run at login"),
    (".zlogin", "run at login"),
    (".config/fish", "run by every shell"),
    (".inputrc", "keys that run lines"),
    (".gitconfig", "names programs that git runs"),
    (".config/git", "the same"),
    (".config/systemd", "units that run at login"),
    (".config/autostart", "programs that run at login"),
    (".config/environment.d", "variables of everything at login"),
    (".config/direnv", "which .envrc may run"),
    (".local/share/direnv", "the same"),
    (".cargo/config.toml", "names programs that cargo runs"),
    (".tmux.conf", "runs programs"),
    (".vimrc", "runs programs"),
    (".config/nvim", "runs programs"),
    (".claude", "hooks and permissions of an agent"),
    (".claude.json", "the same"),
    (".codex", "the same"),
    (".cursor", "the same"),
    (".gemini", "the same"),
    (".vscode", "extensions"),
    (".config/Code/User", "settings that name programs"),
    (".config/zed", "the same"),
];

/// In the home directory: what gives rights elsewhere to whoever reads it. npm's and cargo's own
/// settings stay readable, for the tools need them; where they hold tokens, add them.
pub(crate) const SECRETS_IN_HOME: [(&str, &str); 27] = [
    (".ssh", "keys"),
    (".gnupg", "keys"),
    (".aws", "Amazon"),
    (".azure", "Microsoft"),
    (".config/gcloud", "Google"),
    (".oci", "Oracle"),
    (".kube", "clusters"),
    (".netrc", "passwords by host"),
    (".authinfo", "the same"),
    (".git-credentials", "passwords by host"),
    (".config/git/credentials", "the same"),
    (".config/gh", "GitHub"),
    (".config/hub", "GitHub"),
    (".config/glab-cli", "GitLab"),
    (".docker/config.json", "registries"),
    (".config/containers/auth.json", "registries"),
    (".cargo/credentials.toml", "crates.io"),
    (".pypirc", "PyPI"),
    (".terraform.d/credentials.tfrc.json", "Terraform"),
    (".vault-token", "Vault"),
    (".config/rclone", "storage"),
    (".password-store", "pass"),
    (".local/share/keyrings", "the desktop's passwords"),
    (".mozilla", "a browser's cookies and passwords"),
    (".config/google-chrome", "the same"),
    (".config/chromium", "the same"),
    (".config/BraveSoftware", "the same"),
];

/// Sockets whose other end does what the sandbox may not. The user's runtime directory is hidden
/// whole, for the same reason: D-Bus asks the user's systemd to run anything.
pub(crate) const ESCAPES: [(&str, &str); 3] = [
    ("/run/docker.sock", "containers with any directory in them"),
    ("/run/podman", "the same"),
    ("/tmp/.X11-unix", "types into windows"),
];
/// Where the daemon's socket is below the runtime directory.
const SOCKET_DIRECTORY: &str = "termd";

/// Directories that nobody works in, and that mean everything: as a workspace they are not taken.
const NO_WORKSPACES: [&str; 12] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
    "/var/lib",
];

/// Below this one of them people work all the same: files in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Whose directories for temporary files a command has; the stricter is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TemporaryFiles {
    /// The host's.
    Shared,
    /// Its own.
    Private,
}

/// Who builds a sandbox's mounts; the one that is asked for is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxBuilder {
    /// termd itself.
    Termd,
    /// bubblewrap, where it is installed.
    Bubblewrap,
}

/// The directories that a sandbox may have of its own.
pub(crate) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Where things are, links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The user's home.
    pub home: PathBuf,
    /// The directory that the command starts in, or the root of the repository around it.
    pub workspace: PathBuf,
    /// Whether that is a repository of git.
    pub is_repository: bool,
    /// Directories for temporary files that are there.
    pub temporary: Vec<PathBuf>,
    /// The user's runtime directory.
    pub runtime_dir: Option<PathBuf>,
    /// The socket of the ssh agent: it signs, and gives no key away.
    pub ssh_agent: Option<PathBuf>,
    /// Where the daemon's settings are.
    pub daemon_config: PathBuf,
}

/// A profile's sandbox, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// How much it takes away.
    pub kind: SandboxKind,
    /// Paths that may be written besides.
    pub writable: Vec<PathBuf>,
    /// Paths that may not, besides.
    pub protected: Vec<PathBuf>,
    /// Paths that cannot be seen, besides.
    pub hidden: Vec<PathBuf>,
    /// Where workspaces lie; none: anywhere that [`Places`] makes one.
    pub workspaces: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: bool,
    /// Whether the daemon's own socket may be used.
    pub daemon_socket: bool,
    /// Whether it runs where a wall cannot be held.
    pub best_effort: bool,
    /// Whose `/tmp` and `/var/tmp` it has.
    pub temporary: TemporaryFiles,
    /// Who builds its mounts.
    pub builder: SandboxBuilder,
}

/// What a command is kept from. Paths are absolute; links in them are not resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    /// May be written; `/` is everything.
    pub writable: Vec<PathBuf>,
    /// May not, though something above may.
    pub protected: Vec<(PathBuf, Absent)>,
    /// Cannot be seen.
    pub hidden: Vec<PathBuf>,
    /// Can be seen, though something above cannot.
    pub visible: Vec<PathBuf>,
    /// Whether there is a network.
    pub network: bool,
    /// Whether the daemon's own socket may be used.
    pub daemon_socket: bool,
    /// Whether it runs where a wall cannot be held.
    pub best_effort: bool,
    /// Whose `/tmp` and `/var/tmp` it has.
    pub temporary: TemporaryFiles,
    /// Who builds its mounts.
    pub builder: SandboxBuilder,
}

impl SandboxSpec {
    /// A sandbox of this kind and no more.
    pub fn plain(kind: SandboxKind) -> Self {
        Self {
            kind,
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            workspaces: Vec::new(),
            network: kind != SandboxKind::NoNetwork,
            daemon_socket: false,
            best_effort: false,
            temporary: TemporaryFiles::Shared,
            builder: SandboxBuilder::Termd,
        }
    }

    /// Its walls at a place; `None` where it is none.
    pub fn walls(&self, places: &Places) -> Option<Walls> {
        let absolute = |path: &PathBuf| placed(path, places);
        let mut writable: Vec<PathBuf> = match self.kind {
            SandboxKind::None => return None,
            SandboxKind::NoNetwork => vec![PathBuf::from("/")],
            SandboxKind::ReadOnly | SandboxKind::Workspace => {
                let workspace = self.takes_workspace(places).then_some(&places.workspace);
                let places_to_write = workspace.into_iter().chain(&places.temporary);
                // Those of its own can be written anyway, and the host's are not to be seen.
                let is_hosts = |path: &&PathBuf| {
                    self.temporary == TemporaryFiles::Private
                        && (TEMPORARY.iter().any(|own| path.as_path() == Path::new(own))
                            || (places.temporary.contains(path) && **path != places.workspace))
                };
                places_to_write
                    .filter(|path| !is_hosts(path))
                    .cloned()
                    .collect()
            }
        };
        writable.extend(self.writable.iter().map(absolute));
        let mut protected: Vec<(PathBuf, Absent)> =
            vec![(places.daemon_config.clone(), Absent::Leave)];
        let mut hidden: Vec<PathBuf> = ESCAPES.iter().map(|(path, _)| path.into()).collect();
        let mut visible: Vec<PathBuf> = places.ssh_agent.iter().cloned().collect();
        if let Some(runtime_dir) = &places.runtime_dir {
            hidden.push(runtime_dir.clone());
            let socket = runtime_dir.join(SOCKET_DIRECTORY);
            visible.extend(self.daemon_socket.then_some(socket));
        }
        if self.kind == SandboxKind::Workspace {
            let in_workspace = PROTECTED_IN_WORKSPACE.iter().map(|(path, absent, _)| {
                let absent = if places.is_repository {
                    *absent
                } else {
                    Absent::Leave
                };
                (places.workspace.join(path), absent)
            });
            protected.extend(in_workspace);
            let in_home = PROTECTED_IN_HOME.iter();
            protected.extend(in_home.map(|(path, _)| (places.home.join(path), Absent::Leave)));
            hidden.extend(
                SECRETS_IN_HOME
                    .iter()
                    .map(|(path, _)| places.home.join(path)),
            );
        }
        let named = self.protected.iter().map(absolute);
        protected.extend(named.map(|path| (path, Absent::Leave)));
        hidden.extend(self.hidden.iter().map(absolute));
        Some(Walls {
            writable,
            protected,
            hidden,
            visible,
            network: self.network,
            daemon_socket: self.daemon_socket,
            best_effort: self.best_effort,
            temporary: self.temporary,
            builder: self.builder,
        })
    }

    /// Whether the directory that a command starts in may be written because it does. Whoever asks
    /// for a command chooses that directory: so it is not one that holds everything, nor one of a
    /// program's own settings, unless a person has named it.
    fn takes_workspace(&self, places: &Places) -> bool {
        let workspace = &places.workspace;
        if !self.workspaces.is_empty() {
            let named = self.workspaces.iter().map(|path| placed(path, places));
            return named.into_iter().any(|above| workspace.starts_with(above));
        }
        let in_home = workspace.strip_prefix(&places.home).ok();
        let hides = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let first = in_home.and_then(|below| below.components().next());
        let is_of_a_program = first.is_some_and(hides);
        let holds_home = places.home.starts_with(workspace);
        let is_the_systems = NO_WORKSPACES
            .iter()
            .any(|above| workspace.starts_with(above));
        // A home below /var/lib is one all the same.
        let is_in_memory = workspace
            .strip_prefix(IN_MEMORY)
            .is_ok_and(|below| below != Path::new(""));
        let is_the_systems = is_the_systems && in_home.is_none() && !is_in_memory;
        !holds_home && !is_of_a_program && !is_the_systems
    }
}

impl Walls {
    /// Both together: what both let be written, and what either keeps from.
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
            hidden: [self.hidden, other.hidden].concat(),
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
        .tidied()
    }

    /// Each path once.
    fn tidied(mut self) -> Self {
        for paths in [&mut self.writable, &mut self.hidden] {
            paths.sort();
            paths.dedup();
        }
        // Of two that are alike the stricter comes last.
        self.protected.sort();
        self.protected.reverse();
        self.protected.dedup_by(|later, kept| later.0 == kept.0);
        self.protected.reverse();
        self
    }
}

/// A path of the configuration: absolute, below home (`~`), or below the workspace.
fn placed(path: &PathBuf, places: &Places) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(below) => places.home.join(below),
        Err(_) => places.workspace.join(path),
    }
}

/// Whether a path of the configuration can be placed: no `..`, which a link could make lead anywhere.
pub(crate) fn is_placeable(path: &Path) -> bool {
    let climbs = |part| matches!(part, Component::ParentDir);
    let foreign_home = path
        .to_str()
        .is_some_and(|text| text.starts_with('~') && text != "~" && !text.starts_with("~/"));
    !path.as_os_str().is_empty()
        && !path.as_os_str().as_encoded_bytes().contains(&0)
        && !path.components().any(climbs)
        && !foreign_home
}
