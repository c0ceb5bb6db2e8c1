//! Messages to systemd by `sd_notify(3)`: a datagram on `$NOTIFY_SOCKET`. Without systemd, none.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

/// The connection to systemd, if it started us.
#[derive(Debug)]
pub(crate) struct Notifier {
    peer: Option<(OwnedFd, SocketAddrUnix)>,
    /// How often systemd's watchdog wants a message at least.
    watchdog: Option<Duration>,
    /// When the next watchdog message is due.
    next_watchdog: Option<Instant>,
}

impl Notifier {
    /// Finds systemd by the environment. Malformed variables count as absent: a notification is never
    /// worth failing for.
    pub(crate) fn new(environment: &[(OsString, OsString)], now: Instant) -> Self {
        let value = |name: &str| -> Option<&OsStr> {
            let (_, value) = environment.iter().find(|(found, _)| found == name)?;
            Some(value)
        };
        let number = |name: &str| value(name)?.to_str()?.parse::<u64>().ok();
        let is_for_us =
            number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let mut notifier = Self {
            peer: value("NOTIFY_SOCKET").and_then(connect),
            watchdog: number("WATCHDOG_USEC")
                .filter(|&micros| is_for_us && micros > 0)
                .map(Duration::from_micros),
            next_watchdog: None,
        };
        notifier.next_watchdog = notifier.watchdog_interval().map(|interval| now + interval);
        notifier
    }

    /// How often to send `WATCHDOG=1`: a third of what systemd allows.
    fn watchdog_interval(&self) -> Option<Duration> {
        self.peer.as_ref().and(self.watchdog).map(|limit| limit / 3)
    }

    /// Sends one state, lines of `NAME=value`.
    pub(crate) fn send(&self, state: &str) {
        if let Some((socket, address)) = &self.peer {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            // The keeper cannot mend a manager that does not listen.
            let _ = rustix::net::sendto(socket, state.as_bytes(), flags, address);
        }
    }

    /// When the next watchdog message is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.next_watchdog
    }

    /// Sends the watchdog message where it is due and the daemon is well.
    pub(crate) fn feed_watchdog(&mut self, is_well: bool, now: Instant) {
        if self.next_watchdog.is_some_and(|due| now >= due) {
            if is_well {
                self.send("WATCHDOG=1");
            }
            self.next_watchdog = self.watchdog_interval().map(|interval| now + interval);
        }
    }

    /// `RELOADING=1` with the time that systemd wants beside it (Type=notify-reload).
    pub(crate) fn reloading(&self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.send(&format!(
            "RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=Reloading"
        ));
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
        let notifier = Notifier::new(&environment, Instant::now());
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
            let notifier = Notifier::new(environment, Instant::now());
            assert_eq!(notifier.watchdog_interval(), None);
            notifier.send("READY=1");
        }
    }
}
