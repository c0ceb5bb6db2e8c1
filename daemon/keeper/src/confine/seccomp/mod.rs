//! The filter of system calls, for what Landlock and mounts do not reach.
//!
//! It allows all calls but the listed ones, because a developer's tools make nearly all of them. It
//! refuses:
//! - TIOCSTI, which types into the tty that another program reads next;
//! - new namespaces, in which a process would have all capabilities towards a kernel that is attacked
//!   there the most;
//! - the session's keys, which are no files;
//! - `bpf`, `userfaultfd` and `io_uring`, the kernel's weakest parts. No filter sees `io_uring`'s
//!   operations;
//! - limits of other processes;
//! - without network, every socket but `AF_UNIX`.
//!
//! `ptrace` and `process_vm_writev` stay allowed for debuggers: in a user namespace or a Landlock
//! domain a process can trace only processes inside. A filter sees only a pid and cannot tell. Where
//! there is neither, the filter refuses them.

mod bpf;

use std::sync::OnceLock;

use nix::libc::{self, sock_filter};
use rustix::io::Errno;

use self::bpf::{If, Program, Verdict};
use crate::confine::kernel;
use crate::protocol::confinement::Access;

/// `AUDIT_ARCH_*` (linux/audit.h) of this build; there are filters for these two.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// The numbers of x32, from here on, are the same calls again (`__X32_SYSCALL_BIT`).
const X32: u32 = 0x4000_0000;

/// `open_tree_attr(2)`, Linux 6.15, not in the libc crate yet; the same on all architectures.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// Every namespace that clone(2) can make. A time namespace needs clone3 or unshare.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// `ioctl(2)` commands, and `unsigned int` to the kernel.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

/// Refused with EPERM, whatever the arguments.
const REFUSED: [libc::c_long; 27] = [
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    // It opens a file by its inode, past every directory.
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
];

/// Calls that act on another process as a debugger does.
const TRACING: [libc::c_long; 5] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

/// The processes that a process may trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracing {
    /// Those in its own namespace or Landlock domain, which confines tracing.
    Within,
    /// None.
    Denied,
}

/// A filter, ready to be installed.
#[derive(Debug)]
pub(crate) struct Filter(Vec<sock_filter>);

impl Filter {
    /// `None` on an architecture without filters.
    fn new(network: Access, tracing: Tracing) -> Option<Self> {
        let refused = Verdict::Fail(libc::EPERM);
        let mut program = Program::for_architecture(ARCHITECTURE?);
        if cfg!(target_arch = "x86_64") {
            program = program.from(X32, Verdict::Fail(libc::ENOSYS));
        }
        for call in REFUSED {
            program = program.call(call, refused);
        }
        if tracing == Tracing::Denied {
            for call in TRACING {
                program = program.call(call, refused);
            }
        }
        let namespaces = [If::HasAnyOf(NAMESPACES.cast_unsigned())];
        // clone3's flags are in memory, which no filter can read. libc falls back to clone.
        program = program
            .call(libc::SYS_clone3, Verdict::Fail(libc::ENOSYS))
            .call_if(libc::SYS_clone, 0, &namespaces, refused)
            .call_if(
                libc::SYS_ioctl,
                1,
                &[If::Is(TIOCSTI), If::Is(TIOCLINUX)],
                refused,
            )
            // Limits of other processes: a limit of one processor second would end the daemon.
            .call_if(libc::SYS_prlimit64, 0, &[If::IsNot(0)], refused);
        if network == Access::Denied {
            let local = libc::AF_UNIX.cast_unsigned();
            let denied = Verdict::Fail(libc::EACCES);
            program = program.call_if(libc::SYS_socket, 0, &[If::IsNot(local)], denied);
        }
        program.finish().map(Self)
    }
}

/// The filters of a sandbox.
#[derive(Debug)]
pub(crate) struct Filters {
    within: Filter,
    denied: Filter,
}

impl Filters {
    /// Compiled once in a process. `None` on an architecture without filters.
    pub(crate) fn get(network: Access) -> Option<&'static Self> {
        static ALLOWED: OnceLock<Option<Filters>> = OnceLock::new();
        static DENIED: OnceLock<Option<Filters>> = OnceLock::new();
        let compiled = match network {
            Access::Allowed => &ALLOWED,
            Access::Denied => &DENIED,
        };
        let compile = || {
            Some(Self {
                within: Filter::new(network, Tracing::Within)?,
                denied: Filter::new(network, Tracing::Denied)?,
            })
        };
        compiled.get_or_init(compile).as_ref()
    }

    /// Installs the filter in this process, for good.
    pub(crate) fn install(&self, tracing: Tracing) -> Result<(), Errno> {
        kernel::install_filter(match tracing {
            Tracing::Within => &self.within.0,
            Tracing::Denied => &self.denied.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::bpf::testing::{run, walk};
    use super::*;

    const UPPER: u64 = 0xffff_ffff_0000_0000;

    fn verdict(filter: &Filter, call: libc::c_long, arguments: [u64; 6]) -> Verdict {
        let number = u32::try_from(call).unwrap();
        let value = run(&filter.0, ARCHITECTURE.unwrap(), number, arguments);
        match value & libc::SECCOMP_RET_ACTION_FULL {
            libc::SECCOMP_RET_ALLOW => Verdict::Allow,
            libc::SECCOMP_RET_ERRNO => Verdict::Fail(i32::try_from(value & 0xffff).unwrap()),
            _ => Verdict::Kill,
        }
    }

    #[test]
    fn calls_and_their_arguments() {
        let filter = Filter::new(Access::Denied, Tracing::Within).unwrap();
        let refused = Verdict::Fail(libc::EPERM);
        let first = |value: i32| [u64::from(value.cast_unsigned()), 0, 0, 0, 0, 0];
        let command = |value: u64| [0, value, 0, 0, 0, 0];
        let cases = [
            (libc::SYS_read, first(0), Verdict::Allow),
            (libc::SYS_execve, first(0), Verdict::Allow),
            (libc::SYS_ptrace, first(0), Verdict::Allow),
            (libc::SYS_ioctl, command(0x5413), Verdict::Allow),
            (libc::SYS_ioctl, command(0x5412), refused),
            (libc::SYS_ioctl, command(0x5412 | UPPER), refused),
            (libc::SYS_ioctl, command(0x5412 | 1 << 32), refused),
            (libc::SYS_ioctl, command(0x541c | 1 << 63), refused),
            (libc::SYS_clone, first(libc::SIGCHLD), Verdict::Allow),
            (
                libc::SYS_clone,
                first(libc::CLONE_NEWUSER | libc::SIGCHLD),
                refused,
            ),
            (libc::SYS_clone, first(libc::CLONE_NEWNET), refused),
            (libc::SYS_clone3, first(0), Verdict::Fail(libc::ENOSYS)),
            (libc::SYS_unshare, first(0), refused),
            (libc::SYS_prlimit64, first(0), Verdict::Allow),
            (libc::SYS_prlimit64, first(1), refused),
            (libc::SYS_socket, first(libc::AF_UNIX), Verdict::Allow),
            (
                libc::SYS_socket,
                first(libc::AF_INET),
                Verdict::Fail(libc::EACCES),
            ),
            (
                libc::SYS_socket,
                first(libc::AF_NETLINK),
                Verdict::Fail(libc::EACCES),
            ),
            (libc::SYS_socket, [1 | UPPER, 0, 0, 0, 0, 0], Verdict::Allow),
            (
                libc::SYS_socket,
                [2 | UPPER, 0, 0, 0, 0, 0],
                Verdict::Fail(libc::EACCES),
            ),
        ];
        for (call, arguments, expected) in cases {
            assert_eq!(
                verdict(&filter, call, arguments),
                expected,
                "{call} {arguments:x?}"
            );
        }
        for call in REFUSED {
            assert_eq!(verdict(&filter, call, [0; 6]), refused, "{call}");
        }
        let open = Filter::new(Access::Allowed, Tracing::Denied).unwrap();
        assert_eq!(
            verdict(&open, libc::SYS_socket, first(libc::AF_INET)),
            Verdict::Allow
        );
        for call in TRACING {
            assert_eq!(verdict(&open, call, [0; 6]), refused, "{call}");
        }
    }

    #[test]
    fn everything_else_passes_and_is_found_soon() {
        for (network, tracing) in [
            (Access::Denied, Tracing::Within),
            (Access::Denied, Tracing::Denied),
            (Access::Allowed, Tracing::Within),
        ] {
            let filter = Filter::new(network, tracing).unwrap();
            let mut named = REFUSED.to_vec();
            named.extend([libc::SYS_clone3, libc::SYS_socket]);
            if tracing == Tracing::Denied {
                named.extend(TRACING);
            }
            for number in 0..1_000 {
                let (value, steps) = walk(&filter.0, ARCHITECTURE.unwrap(), number, [0; 6]);
                let allowed = value == libc::SECCOMP_RET_ALLOW;
                let is_named = named.contains(&i64::from(number));
                let may_pass = number == u32::try_from(libc::SYS_socket).unwrap()
                    && network == Access::Allowed;
                assert_eq!(allowed, !is_named || may_pass, "{number}");
                assert!(steps <= 20, "{number} takes {steps} instructions");
            }
            let length = filter.0.len();
            assert!(length <= 64, "{length} instructions");
        }
    }

    #[test]
    fn another_architectures_calls_are_none_of_these() {
        let filter = Filter::new(Access::Allowed, Tracing::Within).unwrap();
        // i386, on whose numbers everything above would mean something else.
        let killed = run(&filter.0, 0x4000_0003, 0, [0; 6]);
        assert_eq!(killed, libc::SECCOMP_RET_KILL_PROCESS);
        if cfg!(target_arch = "x86_64") {
            for number in [X32, X32 | 0x65, u32::MAX] {
                let value = run(&filter.0, ARCHITECTURE.unwrap(), number, [0; 6]);
                assert_eq!(
                    value,
                    libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()
                );
            }
        }
    }
}
