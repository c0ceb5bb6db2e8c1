//! What a command may not do: the spec that the server makes of a profile, and what the keeper says
//! of it when the command runs. Plain values; their encoding is in `confinement_wire`.
//!
//! The keeper applies a spec as it stands or refuses it: what the kernel cannot enforce is a
//! [`super::message::SpawnStep::Confine`] that names the wall, or, where [`Enforcement::BestEffort`]
//! was said, a [`MissingWall`] in the answer. It is never dropped in silence.

use std::fmt;

/// From SIGXCPU to SIGKILL. At the hard limit of `RLIMIT_CPU` the kernel kills without a word; at a
/// soft limit below it there is a signal that says which limit it was, and that a program can end in
/// order by.
pub const CPU_GRACE_SECONDS: u64 = 1;

/// The most paths in each list of a [`Sandbox`]. Each costs the child some system calls and up to
/// one mount, of which a mount namespace holds 100,000 (`/proc/sys/fs/mount-max`).
pub const MAX_SANDBOX_PATHS: usize = 256;

/// What a command is held to. The default holds it to nothing but [`ProcessLimits::default`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Of each of its processes, by setrlimit(2).
    pub limits: ProcessLimits,
    /// What it may write, read and reach; everything that its user may, without.
    pub sandbox: Option<Sandbox>,
}

impl Confinement {
    /// Whether it asks for more than every command gets. A keeper below
    /// [`super::message::LEVEL_CONFINEMENT`] would run such a command unconfined: it is not asked.
    pub fn is_more_than_default(&self) -> bool {
        *self != Self::default()
    }
}

/// Limits of each process on its own (setrlimit(2)), soft and hard alike (but for processor time),
/// so that none can raise them again. What is `None` stays as the daemon has it. A limit above the daemon's own hard
/// limit is taken down to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// `RLIMIT_CPU`: processor seconds of one process (not of the tree); SIGXCPU at the limit, and
    /// SIGKILL a second later.
    pub cpu_seconds: Option<u64>,
    /// `RLIMIT_AS`: bytes of address space of one process. Runtimes that reserve much more than
    /// they use (Go, Java, Node, sanitizers) need tens of GiB.
    pub address_space_bytes: Option<u64>,
    /// `RLIMIT_NOFILE`: one more than the highest descriptor of one process.
    pub open_files: Option<u64>,
    /// `RLIMIT_NPROC`: processes and threads. In a sandbox those of this terminal alone, for the
    /// kernel counts by user namespace (Linux 5.14); without one all that the *user* has anywhere,
    /// so that it has to be above those. The kernel holds root to none: then it is a
    /// [`MissingWall`], also where enforcement is required.
    pub processes: Option<u64>,
    /// `RLIMIT_FSIZE`: the size in bytes to which one process may grow a file; SIGXFSZ beyond.
    pub file_bytes: Option<u64>,
    /// `RLIMIT_CORE`: bytes of a core file; 0 by default, since it would hold whatever secrets the
    /// process did.
    pub core_bytes: Option<u64>,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            cpu_seconds: None,
            address_space_bytes: None,
            open_files: None,
            processes: None,
            file_bytes: None,
            core_bytes: Some(0),
        }
    }
}

/// The walls around a command and everything it starts, for good: no process in it can take one
/// down, and exec keeps them.
///
/// **Paths** are absolute, at most [`MAX_SANDBOX_PATHS`] a list, and resolved by whoever makes the
/// spec: a symbolic link in one, `.` or `..` is refused (ELOOP, EINVAL), for what it leads to could
/// be changed by a process in another sandbox while this one is built. The last name of one that is
/// [`IfAbsent::HoldLink`] is a link.
///
/// **What every sandbox has**, whatever it says: everything is read-only but `writable`; a `/dev`
/// of its own with `null`, `zero`, `full`, `random`, `urandom`, `tty`, `shm` and new
/// pseudo-terminals, and none of the host's disks, input devices and other people's terminals;
/// no capabilities, also for root; no setuid programs; no signals, `ptrace` and abstract sockets
/// to processes outside; the state directory of the daemon hidden, and that of its socket unless
/// `daemon_socket` allows it.
///
/// **What it does not have**: a path socket outside of what is hidden can be connected to, and
/// whoever listens there may do what the sandbox may not (the user's D-Bus and `systemd`, a
/// container daemon, an ssh agent, another tmux). Their directories belong into `hidden`; all of
/// `$XDG_RUNTIME_DIR` is a good start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Directories (or files) beneath which everything may be written. One that is not there is
    /// refused (ENOENT). `/` is everything, of what the user may write: then the sandbox is there for
    /// what is protected, hidden and denied.
    pub writable: Vec<Vec<u8>>,
    /// What is read-only although it lies beneath a writable path; it, and the directories above
    /// it up to the writable one, can neither be renamed nor removed. One that is not beneath a
    /// writable path is read-only anyway and costs nothing. See [`ProtectedPath`] for those that are not
    /// there.
    pub protected: Vec<ProtectedPath>,
    /// What can be neither read nor listed: an empty read-only directory (or file) is in its
    /// place. One that is not there is skipped; it is visible should it be made later. Hidden wins over
    /// protected, and that over writable.
    pub hidden: Vec<Vec<u8>>,
    /// What stays visible, read-only, beneath a hidden path: the one socket of a runtime directory
    /// that is wanted. One that is not there is skipped.
    pub visible: Vec<Vec<u8>>,
    /// Whether it may use the network.
    pub network: Access,
    /// Whether it may connect to the daemon's own socket. Whoever may, can have any command run
    /// that policy lets the front do, outside of this sandbox.
    pub daemon_socket: Access,
    /// What happens where the kernel cannot hold a wall.
    pub enforcement: Enforcement,
    /// Whose `/tmp` and `/var/tmp` it has.
    pub temporary: Temporary,
    /// Who builds the namespaces and the mounts.
    pub builder: Builder,
}

/// A path that is not to be written although one above it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedPath {
    /// Which.
    pub path: Vec<u8>,
    /// What is done where it is not there.
    pub if_absent: IfAbsent,
}

/// A protected path that is not there could be made by the command (a `.git/hooks` with a hook).
/// A name that does not exist cannot be guarded by itself, so something has to be put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfAbsent {
    /// It is not protected. The answer does not say so.
    Leave,
    /// An empty directory (0755) is made, with those above it that are missing, and stays.
    MakeDirectory,
    /// An empty file (0644) is made, with the directories above it that are missing, and stays.
    MakeFile,
    /// It is a symbolic link, and that itself is held: it can be neither replaced nor removed. What
    /// it leads to is another path of the spec. Where it is no link any more, the start is refused
    /// (EINVAL), and where it is gone, too (ENOENT). A keeper that does not know this refuses.
    HoldLink,
}

/// Which directories for temporary files a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Temporary {
    /// The host's.
    #[default]
    Shared,
    /// Its own: empty file systems in memory over `/tmp` and `/var/tmp`, writable, which are gone
    /// with its last process. What of the host's lies there and is named `writable` is mounted back
    /// into them; nothing else is. A keeper that does not know this refuses.
    Private,
}

/// Who builds a sandbox's namespaces and mounts. Everything else is the keeper's child's own, and so
/// is the look at what was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Builder {
    /// The keeper's child.
    #[default]
    Termd,
    /// bubblewrap, the one that is installed. Only of a keeper at
    /// [`LEVEL_BUBBLEWRAP`](super::message::LEVEL_BUBBLEWRAP). It can hold no link
    /// ([`IfAbsent::HoldLink`]): a spec with one is refused.
    Bubblewrap,
}

/// Whether something may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may.
    Allowed,
    /// It may not.
    Denied,
}

/// What is done where the kernel cannot hold a wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// The command is not started.
    Required,
    /// It is started without that wall, and the answer names it.
    BestEffort,
}

/// One thing that a command is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wall {
    /// [`ProcessLimits::cpu_seconds`].
    CpuTime,
    /// [`ProcessLimits::address_space_bytes`].
    AddressSpace,
    /// [`ProcessLimits::open_files`].
    OpenFiles,
    /// [`ProcessLimits::processes`].
    Processes,
    /// [`ProcessLimits::file_bytes`].
    FileSize,
    /// [`ProcessLimits::core_bytes`].
    CoreSize,
    /// No setuid program and no file capability gives rights (`PR_SET_NO_NEW_PRIVS`).
    NoNewPrivileges,
    /// User and mount namespaces of its own: what the next four stand on, and no `ptrace` out of it.
    Namespaces,
    /// `/dev` of its own.
    Devices,
    /// Everything read-only but `writable`, as mounts: also modes, owners, times and attributes.
    ReadOnly,
    /// [`Sandbox::protected`].
    Protected,
    /// [`Sandbox::hidden`], and the daemon's own directories.
    Hidden,
    /// No capabilities, and none regained by exec.
    Capabilities,
    /// Landlock's rules of files: writes beneath `writable` alone, and no more mounts.
    Writes,
    /// Landlock's rules of TCP.
    Tcp,
    /// Landlock's scopes: no signal and no abstract socket to anybody outside.
    Scopes,
    /// The filter of system calls (seccomp): TIOCSTI, namespaces, mounts, keys, `bpf`, `io_uring`.
    SystemCalls,
    /// The same filter: sockets of no family but `AF_UNIX`.
    Network,
    /// [`Temporary::Private`].
    Temporary,
    /// [`Builder::Bubblewrap`]: not a wall of its own, but who builds those that are mounts.
    Bubblewrap,
}

/// Every wall, by its number on the wire.
pub const WALLS: [Wall; 20] = [
    Wall::CpuTime,
    Wall::AddressSpace,
    Wall::OpenFiles,
    Wall::Processes,
    Wall::FileSize,
    Wall::CoreSize,
    Wall::NoNewPrivileges,
    Wall::Namespaces,
    Wall::Devices,
    Wall::ReadOnly,
    Wall::Protected,
    Wall::Hidden,
    Wall::Capabilities,
    Wall::Writes,
    Wall::Tcp,
    Wall::Scopes,
    Wall::SystemCalls,
    Wall::Network,
    Wall::Temporary,
    Wall::Bubblewrap,
];

impl Wall {
    /// Its number, on the control socket and on a starting child's error pipe; below 64.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The wall of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        WALLS.get(usize::from(number)).copied()
    }

    /// Its name in answers and records; never changed.
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuTime => "cpu_seconds",
            Self::AddressSpace => "address_space",
            Self::OpenFiles => "open_files",
            Self::Processes => "processes",
            Self::FileSize => "file_bytes",
            Self::CoreSize => "core_bytes",
            Self::NoNewPrivileges => "no_new_privileges",
            Self::Namespaces => "namespaces",
            Self::Devices => "devices",
            Self::ReadOnly => "read_only",
            Self::Protected => "protected",
            Self::Hidden => "hidden",
            Self::Capabilities => "capabilities",
            Self::Writes => "landlock_writes",
            Self::Tcp => "landlock_tcp",
            Self::Scopes => "landlock_scopes",
            Self::SystemCalls => "seccomp",
            Self::Network => "seccomp_network",
            Self::Temporary => "private_tmp",
            Self::Bubblewrap => "bubblewrap",
        }
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A wall that the command runs without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingWall {
    /// Which.
    pub wall: Wall,
    /// Why: what the kernel said. ENOSYS where it knows no such thing.
    pub errno: i32,
}

/// What a running command is held to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Enforced {
    /// What holds, in the order of [`WALLS`].
    pub held: Vec<Wall>,
    /// What was asked for and does not.
    pub missing: Vec<MissingWall>,
}
