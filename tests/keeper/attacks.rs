//! What a confined process tries: this program again, inside the walls. Each try prints its name and
//! how it went: `crossed`, or the errno.
#![allow(unsafe_code)] // Raw system calls: what libc would make of them is not what is tried.

use std::ffi::CString;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::ExitCode;

use nix::errno::Errno;
use nix::libc;

/// Tries `[["name", "argument"…]…]`, one after the other.
pub(crate) fn run(tries: &str) -> ExitCode {
    let tries: Vec<Vec<String>> = serde_json::from_str(tries).unwrap();
    for words in tries {
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let result = match attack(&words[0], &arguments) {
            Ok(()) => "crossed".to_owned(),
            Err(error) => error.raw_os_error().map_or_else(
                || format!("{error}"),
                |errno| format!("{:?}", Errno::from_raw(errno)),
            ),
        };
        println!("{} = {result}", words.join(" "));
    }
    println!("tried all");
    ExitCode::SUCCESS
}

fn attack(name: &str, arguments: &[&str]) -> io::Result<()> {
    let first = arguments.first().copied().unwrap_or_default();
    let second = arguments.get(1).copied().unwrap_or_default();
    match name {
        "create" => fs::File::create_new(first).map(drop),
        "write" => fs::OpenOptions::new().write(true).open(first).map(drop),
        "append" => fs::OpenOptions::new().append(true).open(first).map(drop),
        "truncate" => nix::unistd::truncate(first, 0).map_err(Into::into),
        "mkdir" => fs::create_dir(first),
        "unlink" => fs::remove_file(first),
        "rmdir" => fs::remove_dir(first),
        "rename" => fs::rename(first, second),
        "symlink" => std::os::unix::fs::symlink(first, second),
        "link" => fs::hard_link(first, second),
        "chmod" => fs::set_permissions(first, fs::Permissions::from_mode(0o777)),
        "chown" => std::os::unix::fs::chown(first, None, Some(nix::unistd::getgid().as_raw())),
        "touch" => {
            let file = fs::File::open(first)?;
            file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        }
        "xattr" => set_attribute(first),
        "read" => fs::read(first).map(drop),
        "readlink" => fs::read_link(first).map(drop),
        "list" => fs::read_dir(first).map(drop),
        "nonempty" => match fs::read_dir(first)?.count() {
            0 => Err(io::Error::other("empty")),
            _ => Ok(()),
        },
        "contains" if fs::read_to_string(first)?.contains(second) => Ok(()),
        "contains" => Err(io::Error::other("without it")),
        "open_tty" => {
            let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
            rustix::fs::open(first, flags, rustix::fs::Mode::empty())?;
            Ok(())
        }
        "mknod" => {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let device = rustix::fs::makedev(1, 1);
            let kind = rustix::fs::FileType::CharacterDevice;
            rustix::fs::mknodat(rustix::fs::CWD, first, kind, mode, device)?;
            Ok(())
        }
        "connect" => UnixStream::connect(first).map(drop),
        "connect_abstract" => {
            UnixStream::connect_addr(&SocketAddr::from_abstract_name(first)?).map(drop)
        }
        "bind_unix" => UnixListener::bind(first).map(drop),
        "tcp" => TcpStream::connect(first).map(drop),
        "listen" => TcpListener::bind(first).map(drop),
        "udp" => UdpSocket::bind("127.0.0.1:0")?
            .send_to(b"x", first)
            .map(drop),
        _ => attack_kernel(name, first, second),
    }
}

fn set_attribute(path: &str) -> io::Result<()> {
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(path, "user.termd", b"x", flags)?;
    Ok(())
}

fn attack_kernel(name: &str, first: &str, second: &str) -> io::Result<()> {
    let number = || first.parse::<i64>().unwrap();
    let path = CString::new(first).unwrap();
    let call = |number: libc::c_long, arguments: [i64; 4]| {
        let [a, b, c, d] = arguments;
        // SAFETY: what is passed is numbers, and pointers to what outlives the call or to nothing.
        let result = unsafe { libc::syscall(number, a, b, c, d, 0_i64) };
        if result == -1 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    };
    let at = path.as_ptr().expose_provenance().cast_signed() as i64;
    match name {
        // The character is one that a shell would not mind.
        "tiocsti" => {
            let command = 0x5412 | (u64::from(second == "upper") << 32);
            let character = b"\n".as_ptr().expose_provenance().cast_signed() as i64;
            call(libc::SYS_ioctl, [0, command.cast_signed(), character, 0])
        }
        "tioclinux" => call(libc::SYS_ioctl, [0, 0x541c, at, 0]),
        "kill" => call(libc::SYS_kill, [number(), i64::from(libc::SIGCONT), 0, 0]),
        "tgkill" => call(
            libc::SYS_tgkill,
            [number(), number(), i64::from(libc::SIGCONT), 0],
        ),
        // PTRACE_SEIZE.
        "ptrace" => call(libc::SYS_ptrace, [0x4206, number(), 0, 0]),
        "prlimit" => call(libc::SYS_prlimit64, [number(), 0, 0, 0]),
        "unshare" => call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0, 0]),
        "unshare_mounts" => call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWNS), 0, 0, 0]),
        "clone" => {
            let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
            call(libc::SYS_clone, [i64::from(flags), 0, 0, 0])
        }
        "clone3" => call(libc::SYS_clone3, [0, 0, 0, 0]),
        "mount" => call(
            libc::SYS_mount,
            [at, at, 0, i64::try_from(libc::MS_BIND).unwrap()],
        ),
        "umount" => call(libc::SYS_umount2, [at, i64::from(libc::MNT_DETACH), 0, 0]),
        "remount" => call(
            libc::SYS_mount,
            [
                0,
                at,
                0,
                i64::try_from(libc::MS_BIND | libc::MS_REMOUNT).unwrap(),
            ],
        ),
        "setns" => {
            let file = fs::File::open(first)?;
            let fd = i64::from(std::os::fd::AsRawFd::as_raw_fd(&file));
            call(libc::SYS_setns, [fd, 0, 0, 0])
        }
        "chroot" => call(libc::SYS_chroot, [at, 0, 0, 0]),
        // Without IPC_CREAT: what another has made.
        "shmget" => call(libc::SYS_shmget, [number(), 0, 0, 0]),
        "semget" => call(libc::SYS_semget, [number(), 0, 0, 0]),
        "msgget" => call(libc::SYS_msgget, [number(), 0, 0, 0]),
        "keyctl" => call(libc::SYS_keyctl, [0, -3, 0, 0]),
        "bpf" => call(libc::SYS_bpf, [0, 0, 0, 0]),
        "userfaultfd" => call(libc::SYS_userfaultfd, [1, 0, 0, 0]),
        "perf" => call(libc::SYS_perf_event_open, [0, 0, -1, -1]),
        "io_uring" => call(libc::SYS_io_uring_setup, [1, 0, 0, 0]),
        "x32" => call(0x4000_0000 | 0x27, [0; 4]),
        "setuid" => call(libc::SYS_setuid, [number(), 0, 0, 0]),
        "chown_away" => call(libc::SYS_chown, [at, 1, 1, 0]),
        "capabilities" => {
            let status = fs::read_to_string("/proc/self/status")?;
            let held = |name: &str| {
                let line = status.lines().find(|line| line.starts_with(name)).unwrap();
                !line.ends_with("\t0000000000000000")
            };
            if held("CapEff") || held("CapPrm") || held("CapInh") || held("CapAmb") {
                return Ok(());
            }
            Err(io::Error::other("none"))
        }
        "pty" => nix::pty::openpty(None, None).map(drop).map_err(Into::into),
        other => panic!("no such attack: {other}"),
    }
}
