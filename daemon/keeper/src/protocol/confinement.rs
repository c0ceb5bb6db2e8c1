//! What a command is held to: the spec that the server makes of a profile, and the keeper's answer.
//! Plain values; their encoding is in [`wire`](super::wire).
//!
//! The keeper drops no restriction in silence. One that the kernel cannot enforce is a
//! [`super::message::SpawnStep::Confine`] that names it, or by [`Enforcement::BestEffort`] a
//! [`MissingRestriction`] in the answer.

use std::fmt;

/// The time from SIGXCPU to SIGKILL. At the hard limit of `RLIMIT_CPU` the kernel sends SIGKILL. The
/// soft limit below it sends a signal that names the limit, at which a program can end in order.
pub const CPU_GRACE_SECONDS: u64 = 1;

/// The most paths in each list of a [`Sandbox`]. Each costs the child some system calls and at most
/// one of the 100,000 mounts that a namespace can have (`/proc/sys/fs/mount-max`).
pub const MAX_SANDBOX_PATHS: usize = 1_024;

/// `S_ISVTX` in the mode of a directory or file that is made so that it can be protected. No mkdir(1)
/// or editor sets it, so that what somebody makes anew in such a place is told from it by the server,
/// which removes what was made. For the owner it changes nothing.
pub const PLACEHOLDER_MARK: u32 = 0o1000;

/// What a command is held to. The default is [`ProcessLimits::default`] and no sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Limits of each of its processes.
    pub limits: ProcessLimits,
    /// What it may write, read and reach. Without a sandbox it may what its user may.
    pub sandbox: Option<Sandbox>,
}

impl Confinement {
    /// Whether it restricts more than the default. A keeper below
    /// [`super::message::LEVEL_CONFINEMENT`] would run such a command unconfined.
    pub fn is_more_than_default(&self) -> bool {
        *self != Self::default()
    }
}

/// Limits of each process on its own (setrlimit(2)). Soft and hard limit are the same, except for
/// processor time, so that no process can raise one. `None` leaves the daemon's limit. A limit above
/// the daemon's hard limit is lowered to it.
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
    /// [`MissingRestriction`], also where enforcement is required.
    pub processes: Option<u64>,
    /// `RLIMIT_FSIZE`: the size in bytes to which one process may grow a file; SIGXFSZ beyond.
    pub file_bytes: Option<u64>,
    /// `RLIMIT_CORE`: bytes of a core file. 0 by default: a core file has the process's secrets in it.
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

/// The restrictions of a command and of everything it starts. No process inside can lift one, and exec
/// keeps them.
///
/// **Paths** are absolute and resolved, at most [`MAX_SANDBOX_PATHS`] in a list. One with a symbolic
/// link, `.` or `..` in it is refused (ELOOP, EINVAL): a process in another sandbox could change where
/// it leads while this one is built. Only the last name of an [`IfAbsent::PinLink`] is a link.
///
/// **Every sandbox has**: everything is read-only but `writable`; a `/dev`
/// of its own with `null`, `zero`, `full`, `random`, `urandom`, `tty`, `shm` and new
/// pseudo-terminals, and none of the host's disks, input devices and other people's terminals;
/// no capabilities, also for root; no setuid programs; no signals, `ptrace` and abstract sockets
/// to processes outside; the state directory of the daemon hidden, and that of its socket unless
/// `daemon_socket` allows it.
///
/// **No sandbox prevents** connecting to a path socket that is not hidden, and the program that listens
/// there may do what the sandbox may not (the user's D-Bus and `systemd`, a container daemon, an ssh
/// agent, another tmux). Their directories belong in `hidden`; `$XDG_RUNTIME_DIR` is a good start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// Directories (or files) beneath which everything may be written. An absent one is refused
    /// (ENOENT). `/` is everything that the user may write; the sandbox then only protects, hides and
    /// denies.
    pub writable: Vec<Vec<u8>>,
    /// What each of `writable` was when it was judged, in the same order; empty: unknown. The start is
    /// refused where a path leads to something else by now (ESTALE). Needs a keeper at
    /// [`LEVEL_WRITABLE_IDS`](super::message::LEVEL_WRITABLE_IDS).
    pub writable_ids: Vec<FileId>,
    /// What is read-only although it lies beneath a writable path; it, and the directories above
    /// it up to the writable one, can neither be renamed nor removed. One that is not beneath a
    /// writable path is read-only anyway and costs nothing. A writable path beneath it stays
    /// writable. See [`IfAbsent`] for absent ones.
    pub protected: Vec<ProtectedPath>,
    /// What can be neither read nor listed: an empty read-only directory (or file) is in its
    /// place. An absent one is skipped, and visible if it is made later. Hidden wins over protected.
    pub hidden: Vec<Vec<u8>>,
    /// What stays visible, read-only, beneath a hidden path, such as one socket of a runtime
    /// directory. An absent one is skipped.
    pub visible: Vec<Vec<u8>>,
    /// Whether it may use the network.
    pub network: Access,
    /// Whether it may connect to the daemon's own socket, by which it can run any command outside of
    /// this sandbox that policy allows.
    pub daemon_socket: Access,
    /// What happens where a restriction cannot be applied.
    pub enforcement: Enforcement,
    /// Whether `/tmp` and `/var/tmp` are its own.
    pub temporary: Temporary,
    /// Whether it has PID and IPC namespaces of its own.
    pub processes: Processes,
    /// The builder of namespaces and mounts.
    pub builder: Builder,
}

/// A file system object, whatever path leads to it (`st_dev` and `st_ino` of stat(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    /// The number of its file system.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// A path that is read-only although one above it is writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedPath {
    /// The path.
    pub path: Vec<u8>,
    /// What is done where it is absent.
    pub if_absent: IfAbsent,
}

/// What is done about an absent protected path, which the command could make (a `.git/hooks` with a
/// hook). A name that does not exist cannot be protected, so something has to be put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfAbsent {
    /// It is not protected. The answer does not say so.
    Leave,
    /// An empty directory (0755) is made, with those above it that are missing, and stays.
    MakeDirectory,
    /// An empty file (0644) is made, with the directories above it that are missing, and stays.
    MakeFile,
    /// The path is a symbolic link that can then be neither replaced nor removed. Its target is
    /// another path of the spec. The start is refused where it is no link any more (EINVAL), or is
    /// absent (ENOENT). A keeper that does not know this refuses the start.
    PinLink,
    /// The path is a directory that can then be neither renamed nor removed. What is in it stays writable.
    /// Where it is absent, it is made like a [`MakeDirectory`](Self::MakeDirectory). A keeper that does not
    /// know this refuses the start.
    PinDirectory,
}

impl IfAbsent {
    /// Whether only the name is held, and nothing beneath the path.
    #[must_use]
    pub fn is_pin(self) -> bool {
        matches!(self, Self::PinLink | Self::PinDirectory)
    }
}

/// Which directories for temporary files a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Temporary {
    /// The host's.
    #[default]
    Shared,
    /// Its own: empty, writable file systems in memory, which are gone with its last process. Only the
    /// host's `writable` paths there are mounted back into them. A keeper that does not know this
    /// refuses the start.
    Private,
}

/// Whose processes a sandbox sees, and whose System V and POSIX message queues, semaphores and shared
/// memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Processes {
    /// The host's.
    #[default]
    Shared,
    /// Its own (`pid_namespaces(7)`, `ipc_namespaces(7)`). All of its processes end with the namespace.
    /// Needs a keeper at [`LEVEL_PRIVATE_PROCESSES`](super::message::LEVEL_PRIVATE_PROCESSES). With
    /// [`Builder::Bubblewrap`] only the IPC namespace is its own.
    Private,
}

/// The builder of a sandbox's namespaces and mounts. The keeper's child verifies them, and applies
/// everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Builder {
    /// The keeper's child.
    #[default]
    Termd,
    /// The installed bubblewrap. Needs a keeper at
    /// [`LEVEL_BUBBLEWRAP`](super::message::LEVEL_BUBBLEWRAP). It cannot pin a link
    /// ([`IfAbsent::PinLink`]): a spec with one is refused.
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

/// What is done where a restriction cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// The command is not started.
    Required,
    /// It is started without that restriction, and the answer names it.
    BestEffort,
}

/// One thing that a command is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restriction {
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
    /// User and mount namespaces of its own. The next four need them, and `ptrace` does not lead out.
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
    /// [`Builder::Bubblewrap`]: the builder of those that are mounts.
    Bubblewrap,
    /// [`Processes::Private`]: a PID namespace with a `/proc` of its own.
    PidNamespace,
    /// [`Processes::Private`]: an IPC namespace.
    IpcNamespace,
}

/// Every restriction, by its number on the wire.
pub const RESTRICTIONS: [Restriction; 22] = [
    Restriction::CpuTime,
    Restriction::AddressSpace,
    Restriction::OpenFiles,
    Restriction::Processes,
    Restriction::FileSize,
    Restriction::CoreSize,
    Restriction::NoNewPrivileges,
    Restriction::Namespaces,
    Restriction::Devices,
    Restriction::ReadOnly,
    Restriction::Protected,
    Restriction::Hidden,
    Restriction::Capabilities,
    Restriction::Writes,
    Restriction::Tcp,
    Restriction::Scopes,
    Restriction::SystemCalls,
    Restriction::Network,
    Restriction::Temporary,
    Restriction::Bubblewrap,
    Restriction::PidNamespace,
    Restriction::IpcNamespace,
];

impl Restriction {
    /// Its number, on the control socket and on a starting child's error pipe; below 64.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The restriction of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        RESTRICTIONS.get(usize::from(number)).copied()
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
            Self::PidNamespace => "pid_namespace",
            Self::IpcNamespace => "ipc_namespace",
        }
    }
}

impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A restriction that the command runs without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingRestriction {
    /// The restriction.
    pub restriction: Restriction,
    /// The kernel's errno. ENOSYS where the kernel does not support it.
    pub errno: i32,
}

/// What a running command is held to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Enforced {
    /// The restrictions in force, in the order of [`RESTRICTIONS`].
    pub active: Vec<Restriction>,
    /// The requested ones that are not.
    pub missing: Vec<MissingRestriction>,
}

impl Enforced {
    /// Moves a restriction from the active to the missing ones. No effect where it is not active.
    pub fn mark_missing(&mut self, restriction: Restriction, errno: i32) {
        let before = self.active.len();
        self.active.retain(|active| *active != restriction);
        if self.active.len() < before {
            self.missing.push(MissingRestriction { restriction, errno });
        }
    }
}
