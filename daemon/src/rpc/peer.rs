//! Who is at the other end of a connection, and whether they may be.
//!
//! Promises: the answer comes from the kernel (`SO_PEERCRED`, unix(7)), taken at connect(2).
//! Must not know: what the peer says.

use std::fs;
use std::sync::OnceLock;

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
    fn exe_is_read_from_proc() {
        let own = std::env::current_exe().unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(Peer::new(0, 0, Some(pid)).exe(), own.to_str());
        assert_eq!(Peer::new(0, 0, None).exe(), None);
        assert_eq!(Peer::new(0, 0, Some(-1)).exe(), None);
    }
}
