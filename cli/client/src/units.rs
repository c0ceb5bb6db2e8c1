//! What systemd says of the units that start the daemon.
//!
//! A socket of systemd's takes connections before there is a daemon. Where none comes, only systemd
//! and the journal know why.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use crate::escape::escaped;

const SERVICE: &str = "termd.service";
const SOCKET: &str = "termd.socket";
/// How long systemctl and journalctl may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How long a line may take on its way into the journal.
const JOURNAL_PATIENCE: Duration = Duration::from_secs(1);
/// The pause between two looks for it.
const JOURNAL_PAUSE: Duration = Duration::from_millis(50);
/// Most characters of the log's line that are shown.
const MAX_SHOWN: usize = 500;
/// The command that shows the log.
const LOG: &str = "`journalctl --user -u termd`";
const PROPERTIES: &str = "--property=Id,Listen,ActiveState,Result,ExecMainStatus,StatusText,\
     InactiveExitTimestamp,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic";

/// The socket's unit and the service's, as they are.
#[derive(Debug)]
pub(crate) struct Units {
    socket: Unit,
    service: Unit,
    /// The last line that a service that has failed or is starting wrote since its start.
    said: Option<String>,
}

/// A unit's properties.
#[derive(Debug, Default)]
struct Unit(HashMap<String, String>);

impl Unit {
    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Microseconds of the monotonic clock; 0 where it has not happened.
    fn moment(&self, name: &str) -> u64 {
        self.get(name).parse().unwrap_or(0)
    }
}

impl Units {
    /// Asks systemd. `None` where this is no socket of its `termd.socket`.
    pub(crate) async fn listening_at(path: &Path) -> Option<Self> {
        let mut systemctl = Command::new("systemctl");
        systemctl.args(["--user", "--timestamp=us+utc", "show"]);
        systemctl.args([PROPERTIES, SOCKET, SERVICE]);
        let mut units = units(&output(&mut systemctl).await?);
        let socket = units.remove(SOCKET)?;
        let listens = format!("{} (Stream)", path.to_str()?);
        if socket.get("Listen") != listens {
            return None;
        }
        let service = units.remove(SERVICE).unwrap_or_default();
        let said = match service.get("ActiveState") {
            "failed" | "activating" => last_line(service.get("InactiveExitTimestamp")).await,
            _ => None,
        };
        Some(Self {
            socket,
            service,
            said,
        })
    }

    /// Why nothing listens, where the socket has failed.
    pub(crate) fn socket_failure(&self) -> Option<String> {
        if self.socket.get("ActiveState") != "failed" {
            return None;
        }
        let result = escaped(self.socket.get("Result"));
        let cause = self.start_failed().map(|cause| format!(": {cause}"));
        let cause = cause.unwrap_or_default();
        Some(format!(
            "{SOCKET} has failed ({result}{cause}). When its cause is mended: `systemctl --user reset-failed \
             {SOCKET} {SERVICE}; systemctl --user start {SOCKET}`"
        ))
    }

    /// Why there is no daemon, where its last start has failed.
    pub(crate) fn start_failure(&self) -> Option<String> {
        let cause = self.start_failed()?;
        Some(format!("termd cannot start: {cause} ({LOG} is its log)"))
    }

    /// How the last start has failed. A daemon that ended later is started again by the next connection.
    fn start_failed(&self) -> Option<String> {
        let service = &self.service;
        let started = service.moment("InactiveExitTimestampMonotonic");
        let has_served = service.moment("ActiveEnterTimestampMonotonic") > started;
        if service.get("ActiveState") != "failed" || has_served {
            return None;
        }
        let status = escaped(service.get("ExecMainStatus"));
        let ending = match service.get("Result") {
            "exit-code" => format!("it exited with {status}"),
            "signal" | "core-dump" => format!("it was killed by signal {status}"),
            "timeout" => "it did not serve in time".to_owned(),
            "protocol" => "it ended before it served".to_owned(),
            result => format!("systemd says {}", escaped(result)),
        };
        Some(match &self.said {
            Some(said) => format!("{ending}: {said}"),
            None => ending,
        })
    }

    /// Why no answer came for this long, where the daemon is still starting.
    pub(crate) fn unfinished_start(&self, waited: Duration) -> Option<String> {
        if self.service.get("ActiveState") != "activating" {
            return None;
        }
        let status = escaped(self.service.get("StatusText"));
        let said = self.said.clone().unwrap_or_default();
        let mut parts = vec![status, said];
        parts.retain(|part| !part.is_empty());
        parts.insert(0, String::new());
        let said = parts.join(": ");
        let seconds = waited.as_secs();
        Some(format!(
            "{SERVICE} is starting, and has not answered within {seconds} s{said} (`systemctl --user status \
             termd` and {LOG} may say more)"
        ))
    }
}

/// Each unit's properties, by its name.
fn units(shown: &str) -> HashMap<String, Unit> {
    let blocks = shown.split("\n\n");
    let properties = |block: &str| {
        let lines = block.lines().filter_map(|line| line.split_once('='));
        Unit(
            lines
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    };
    let units = blocks.map(properties);
    units
        .map(|unit| (unit.get("Id").to_owned(), unit))
        .collect()
}

/// The last line of the log since this moment, as far as this user may read the journal.
async fn last_line(since: &str) -> Option<String> {
    if since.is_empty() {
        return None;
    }
    let mut journalctl = Command::new("journalctl");
    // By the name that the unit gives its processes: of one that has ended at once the journal may not
    // know the unit. systemd's own lines about the unit have another name.
    journalctl.args([
        "--user",
        "--quiet",
        "--no-pager",
        "--output=cat",
        "--lines=1",
    ]);
    journalctl
        .arg("--identifier=termd")
        .arg(format!("--since={since}"));
    let begun = Instant::now();
    loop {
        let line = output(&mut journalctl).await?;
        let line = line.trim().trim_start_matches("termd: ");
        let shown: String = line.chars().take(MAX_SHOWN).collect();
        if !shown.is_empty() {
            return Some(escaped(&shown));
        }
        if begun.elapsed() > JOURNAL_PATIENCE {
            return None;
        }
        sleep(JOURNAL_PAUSE).await;
    }
}

/// What a program prints, if it can be run and succeeds in time.
async fn output(command: &mut Command) -> Option<String> {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.kill_on_drop(true);
    let output = timeout(LIMIT, command.output()).await.ok()?.ok()?;
    let text = || String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(socket: &str, service: &str, said: Option<&str>) -> Units {
        let shown = format!("Id={SOCKET}\n{socket}\n\nId={SERVICE}\n{service}\n");
        let mut units = units(&shown);
        Units {
            socket: units.remove(SOCKET).unwrap(),
            service: units.remove(SERVICE).unwrap(),
            said: said.map(str::to_owned),
        }
    }

    const FAILED: &str = "ActiveState=failed\nResult=exit-code\nExecMainStatus=69\n\
        InactiveExitTimestampMonotonic=20\nActiveEnterTimestampMonotonic=10";

    #[test]
    fn a_failed_start_is_told_from_a_daemon_that_ended() {
        let listening = "ActiveState=active\nResult=success";
        let units = shown(listening, FAILED, Some("no termd"));
        assert_eq!(units.socket_failure(), None);
        let said = units.start_failure().unwrap();
        assert!(
            said.starts_with("termd cannot start: it exited with 69: no termd ("),
            "{said}"
        );
        for (service, said) in [
            (
                "ActiveState=failed\nResult=signal\nInactiveExitTimestampMonotonic=20\nActiveEnterTimestampMonotonic=30",
                None,
            ),
            ("ActiveState=activating\nResult=success", None),
            ("ActiveState=inactive\nResult=success", None),
            (
                "ActiveState=failed\nResult=timeout",
                Some("did not serve in time"),
            ),
            (
                "ActiveState=failed\nResult=signal\nExecMainStatus=9",
                Some("by signal 9"),
            ),
            (
                "ActiveState=failed\nResult=resources",
                Some("systemd says resources"),
            ),
        ] {
            let failure = shown(listening, service, None).start_failure();
            assert_eq!(failure.is_some(), said.is_some(), "{service}: {failure:?}");
            assert!(
                failure
                    .unwrap_or_default()
                    .contains(said.unwrap_or_default()),
                "{service}"
            );
        }
    }

    #[test]
    fn a_failed_socket_comes_with_its_remedy() {
        let socket = "ActiveState=failed\nResult=trigger-limit-hit";
        let said = shown(socket, FAILED, Some("no termd"))
            .socket_failure()
            .unwrap();
        let start = "termd.socket has failed (trigger-limit-hit: it exited with 69: no termd). ";
        assert!(said.starts_with(start), "{said}");
        assert!(
            said.contains("reset-failed termd.socket termd.service;"),
            "{said}"
        );
    }

    #[test]
    fn a_start_that_goes_on_is_no_failure_and_is_named() {
        let service = "ActiveState=activating\nStatusText=The server exited with 1";
        let units = shown("ActiveState=active", service, None);
        assert_eq!(units.start_failure(), None);
        let said = units.unfinished_start(Duration::from_secs(3)).unwrap();
        assert!(
            said.contains("within 3 s: The server exited with 1 ("),
            "{said}"
        );
        let serves = shown("ActiveState=active", "ActiveState=active", None);
        assert_eq!(serves.unfinished_start(Duration::from_secs(3)), None);
    }
}
