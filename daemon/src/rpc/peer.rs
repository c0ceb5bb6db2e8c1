//! Who is at the other end of a connection, and whether they may be.
//!
//! Promises: the answer comes from the kernel (`SO_PEERCRED`, unix(7)), taken at connect(2).
//! Must not know: what the peer says.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::net::unix::UCred;

/// The process that connected. It may have exec'd, passed its socket on, or be gone: the uid is a
/// fact to decide by; pid and exe are for the record.
#[derive(Debug)]
pub struct Peer {
    /// Effective user id at connect(2).
    pub uid: u32,
    /// Effective group id at connect(2).
    pub gid: u32,
    /// Process id at connect(2); none where it is not visible from our pid namespace.
    pub pid: Option<i32>,
    exe: OnceLock<Option<String>>,
}

impl Peer {
    /// A peer by its credentials.
    pub fn new(uid: u32, gid: u32, pid: Option<i32>) -> Self {
        Self {
            uid,
            gid,
            pid,
            exe: OnceLock::new(),
        }
    }

    /// The peer's program, read from `/proc/PID/exe` the first time it is asked for and kept.
    /// None where it is gone or may not be read. Bytes that are not UTF-8 become U+FFFD; control
    /// characters stay in: escape before printing.
    pub fn exe(&self) -> Option<&str> {
        self.exe
            .get_or_init(|| {
                let target = fs::read_link(format!("/proc/{}/exe", self.pid?)).ok()?;
                Some(target.to_string_lossy().into_owned())
            })
            .as_deref()
    }
}

impl From<UCred> for Peer {
    fn from(credentials: UCred) -> Self {
        Self::new(credentials.uid(), credentials.gid(), credentials.pid())
    }
}

/// The process that connected, for as long as its pid has to mean it.
#[derive(Debug)]
pub(super) enum PeerProcess {
    Open(OwnedFd),
    /// It had ended before it was opened.
    Ended,
    /// The kernel has no `SO_PEERPIDFD`, which came with Linux 6.5.
    Unknown,
}

impl PeerProcess {
    pub(super) fn of(stream: &impl AsFd) -> Self {
        match getsockopt(stream, sockopt::PeerPidfd) {
            Ok(pidfd) => Self::Open(pidfd),
            Err(Errno::ENOPROTOOPT | Errno::EOPNOTSUPP) => Self::Unknown,
            Err(_) => Self::Ended,
        }
    }

    /// Whether it has ended, so that its pid may be another process's by now.
    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Open(pidfd) => {
                let mut pidfd = [PollFd::new(pidfd, PollFlags::IN)];
                poll(&mut pidfd, Some(&Timespec::default())) != Ok(0)
            }
            Self::Ended => true,
            Self::Unknown => false,
        }
    }
}

/// Whether a peer is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The socket's owner.
    Admitted,
    /// Anybody else, root included: whatever the socket's mode says, terminals are one user's.
    Refused,
}

/// Decides by uid alone.
pub(super) fn admit(peer_uid: u32, owner_uid: u32) -> Admission {
    if peer_uid == owner_uid {
        Admission::Admitted
    } else {
        Admission::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_is_admitted() {
        for (peer, owner, admission) in [
            (1000, 1000, Admission::Admitted),
            (0, 0, Admission::Admitted),
            (0, 1000, Admission::Refused),
            (1001, 1000, Admission::Refused),
            (u32::MAX, 1000, Admission::Refused),
        ] {
            assert_eq!(admit(peer, owner), admission, "{peer} at {owner}'s");
        }
    }

    #[test]
    fn a_peer_that_has_ended_is_found_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let own = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        assert!(!PeerProcess::of(&accepted).has_ended());
        drop(own);
        assert!(PeerProcess::Ended.has_ended());
        assert!(!PeerProcess::Unknown.has_ended());
    }

    #[test]
    fn exe_is_read_from_proc() {
        let own = std::env::current_exe().unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(Peer::new(0, 0, Some(pid)).exe(), own.to_str());
        assert_eq!(Peer::new(0, 0, None).exe(), None);
        assert_eq!(Peer::new(0, 0, Some(-1)).exe(), None);
    }
}
