//! What systemd is told: `sd_notify(3)`, a datagram on `$NOTIFY_SOCKET`. Without systemd, nothing.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

/// systemd, if it started us.
#[derive(Debug)]
pub(super) struct Notifier {
    peer: Option<(OwnedFd, SocketAddrUnix)>,
    /// How often systemd wants to hear of us at least.
    watchdog: Option<Duration>,
}

impl Notifier {
    /// Finds systemd by the environment. What is not understood counts as absent: a notification
    /// is never worth failing for.
    pub(super) fn new(environment: &[(OsString, OsString)]) -> Self {
        let value = |name: &str| -> Option<&OsStr> {
            let (_, value) = environment.iter().find(|(found, _)| found == name)?;
            Some(value)
        };
        let number = |name: &str| value(name)?.to_str()?.parse::<u64>().ok();
        let meant_for_us =
            number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        Self {
            peer: value("NOTIFY_SOCKET").and_then(connect),
            watchdog: number("WATCHDOG_USEC")
                .filter(|&micros| meant_for_us && micros > 0)
                .map(Duration::from_micros),
        }
    }

    /// How often to send `WATCHDOG=1`: a third of what systemd allows.
    pub(super) fn watchdog_interval(&self) -> Option<Duration> {
        self.peer.as_ref().and(self.watchdog).map(|limit| limit / 3)
    }

    /// Sends one state, lines of `NAME=value`.
    pub(super) fn send(&self, state: &str) {
        if let Some((socket, address)) = &self.peer {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            // A manager that does not listen is not the keeper's to mend.
            let _ = rustix::net::sendto(socket, state.as_bytes(), flags, address);
        }
    }

    /// `RELOADING=1` with the time that systemd wants beside it (Type=notify-reload).
    pub(super) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={micros}"));
    }
}

fn connect(path: &OsStr) -> Option<(OwnedFd, SocketAddrUnix)> {
    let address = match path.as_bytes() {
        [b'@', name @ ..] => SocketAddrUnix::new_abstract_name(name).ok()?,
        [b'/', ..] => SocketAddrUnix::new(path).ok()?,
        _ => return None,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None).ok()?;
    Some((socket, address))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn systemd_hears_what_is_sent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let environment = [
            ("NOTIFY_SOCKET".into(), path.into_os_string()),
            ("WATCHDOG_USEC".into(), "30000000".into()),
        ];
        let notifier = Notifier::new(&environment);
        assert_eq!(notifier.watchdog_interval(), Some(Duration::from_secs(10)));
        notifier.send("READY=1");
        notifier.reloading();
        let mut buffer = [0; 200];
        let length = manager.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"READY=1");
        let length = manager.recv(&mut buffer).unwrap();
        assert!(buffer[..length].starts_with(b"RELOADING=1\nMONOTONIC_USEC="));
    }

    #[test]
    fn without_systemd_nothing_is_sent_and_nothing_watched() {
        let elsewhere = [
            ("WATCHDOG_USEC".into(), "30000000".into()),
            ("WATCHDOG_PID".into(), "1".into()),
        ];
        for environment in [&[][..], &elsewhere] {
            let notifier = Notifier::new(environment);
            assert_eq!(notifier.watchdog_interval(), None);
            notifier.send("READY=1");
        }
    }
}
