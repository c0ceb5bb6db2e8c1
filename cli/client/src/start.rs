//! Starting the daemon where none is running.
//!
//! `termd --detach` moves into a session of its own and exits when the daemon listens, or prints on
//! standard error why it cannot.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, Command};

use crate::error::ClientError;
use crate::escape::escaped;

/// How long a start may take: a large database may replay its log.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// Most bytes of the daemon's standard error that are kept. Its last line has the reason.
const KEPT_STDERR_BYTES: usize = 64 * 1024;

/// The daemon's binary: `TERMD_BIN`, else the one beside this program, else the first on `PATH`.
pub(crate) fn daemon_binary() -> OsString {
    if let Some(named) = env::var_os("TERMD_BIN").filter(|value| !value.is_empty()) {
        return named;
    }
    env::current_exe()
        .ok()
        .map(|own| own.with_file_name("termd"))
        .filter(|beside| beside.is_file())
        .map_or_else(|| "termd".into(), PathBuf::into_os_string)
}

/// Runs `termd --detach` and waits until it listens.
pub(crate) async fn start_daemon(binary: &OsStr) -> Result<(), ClientError> {
    let shown = escaped(&binary.to_string_lossy());
    let mut child = Command::new(binary)
        .arg("--detach")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| {
            let binary = shown.clone();
            if source.kind() == std::io::ErrorKind::NotFound {
                ClientError::NoProgram { binary }
            } else {
                ClientError::Spawn {
                    binary,
                    source: source.into(),
                }
            }
        })?;
    let mut stderr = child.stderr.take();
    let mut said = Vec::new();
    let status = tokio::select! {
        status = child.wait() => status,
        never = drain(stderr.as_mut(), &mut said) => match never {},
        () = tokio::time::sleep(START_DEADLINE) => {
            return Err(ClientError::StartTimedOut {
                binary: shown,
                limit: START_DEADLINE,
            });
        }
    };
    let outcome = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    // The child has ended, and its output is in the pipe. A process it left behind may keep the pipe
    // open, so this reads without waiting.
    tokio::select! {
        biased;
        never = drain(stderr.as_mut(), &mut said) => match never {},
        () = tokio::task::yield_now() => {}
    }
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(match last {
        Some(line) => ClientError::StartRefused {
            reason: escaped(line.trim().trim_start_matches("termd: ")),
        },
        None => ClientError::StartFailed {
            binary: shown,
            outcome,
        },
    })
}

/// Reads for as long as this is polled.
async fn drain(stderr: Option<&mut ChildStderr>, said: &mut Vec<u8>) -> std::convert::Infallible {
    if let Some(stderr) = stderr {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
            said.extend_from_slice(chunk.get(..length).unwrap_or_default());
            let excess = said.len().saturating_sub(KEPT_STDERR_BYTES);
            said.drain(..excess);
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    async fn start(script: &str) -> Result<(), ClientError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("termd");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        start_daemon(path.as_os_str()).await
    }

    #[tokio::test]
    async fn the_last_line_says_what_is_wrong() {
        start("test \"$1\" = --detach").await.unwrap();
        let refusals = [
            (
                "echo noise >&2; echo 'termd: the lock is taken' >&2; echo >&2; exit 1",
                "the lock is taken",
            ),
            ("printf 'bad \\033[31m' >&2; exit 1", "bad \\x1b[31m"),
        ];
        for (script, said) in refusals {
            assert_eq!(start(script).await.unwrap_err().to_string(), said);
        }
        let silent = start("exit 3").await.unwrap_err().to_string();
        assert!(
            silent.ends_with("--detach failed: exit status: 3"),
            "{silent}"
        );
    }

    #[tokio::test]
    async fn a_daemon_that_keeps_stderr_open_does_not_hang_the_start() {
        let begun = std::time::Instant::now();
        start("sleep 20 & exit 0").await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn a_missing_binary_is_named() {
        let error = start_daemon(OsStr::new("/nowhere/termd"))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("/nowhere/termd"), "{error}");
    }
}
