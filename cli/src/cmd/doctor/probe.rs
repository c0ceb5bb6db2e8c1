//! What is run to try a client's shell. Each program has a deadline, and is killed after it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use termd_acp::wire::message::Members;
use termd_client::Link;
use termd_client::timestamp::now_ms;
use termd_proto::command::{CommandFilter, ListCommands};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::cmd::own_terminal::TERMINAL_VARIABLE;

/// The longest run of a program. Some clients need seconds to say their version.
const MAX_RUN: Duration = Duration::from_secs(20);
/// Commands that are looked through for one that has just run.
const RECENT: u32 = 50;

/// Runs `echo ok` by a shell, and looks for it in the history.
pub(super) async fn shell(shell: &Path, link: Option<&Link>) -> Result<String, String> {
    let mark = format!("termctl-doctor-{}-{}", std::process::id(), now_ms());
    let script = format!("echo ok # {mark}");
    let mut command = Command::new(shell);
    // In one of termd's terminals its shell would execute the real one.
    command.args(["-c", &script]).env_remove(TERMINAL_VARIABLE);
    let output = output(command).await?;
    let shown = shell.display();
    if output.trim_end() != "ok" {
        return Err(format!("{shown} -c 'echo ok' printed {output:?}"));
    }
    let link = link.ok_or_else(|| {
        format!("{shown} runs commands, and not in termd, for the daemon does not run")
    })?;
    let recent = ListCommands {
        filter: Some(CommandFilter {
            query: Some(mark.clone()),
            ..CommandFilter::default()
        }),
        cursor: None,
        limit: Some(RECENT),
    };
    let page = link
        .repeat(&recent)
        .await
        .map_err(|error| error.to_string())?;
    let found = page
        .commands
        .iter()
        .find(|command| command.text.contains(&mark));
    match found {
        Some(command) => Ok(format!("{shown} ran `echo ok` in {}", command.terminal)),
        None => Err(format!(
            "{shown} runs commands, and not in termd: `termctl history` does not know of them"
        )),
    }
}

/// The path of the shell that an exec-server names in its answer to `initialize`.
pub(super) async fn exec_server(program: &Path) -> Result<String, String> {
    let mut server = Command::new(program);
    server
        .arg("codex-exec-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let shown = program.display();
    let failed = |error: std::io::Error| format!("{shown} codex-exec-server: {error}");
    let mut server = server.spawn().map_err(failed)?;
    let (Some(mut stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(format!("{shown} has no pipes"));
    };
    let request = json!({ "id": 1, "method": "initialize", "params": { "clientName": "termctl-doctor", "resumeSessionId": Value::Null } });
    let mut lines = BufReader::new(stdout).lines();
    let talk = async {
        stdin.write_all(format!("{request}\n").as_bytes()).await?;
        loop {
            match lines.next_line().await? {
                None => return Ok(None),
                Some(line) if shell_of(&line).is_some() => return Ok(shell_of(&line)),
                Some(_) => {}
            }
        }
    };
    let path = match timeout(MAX_RUN, talk).await {
        Err(_) => return Err(format!("{shown} codex-exec-server does not answer")),
        Ok(talked) => talked.map_err(failed)?,
    };
    // Its end of file: it ends in good order.
    drop(stdin);
    let _ = timeout(MAX_RUN, server.wait()).await;
    path.ok_or_else(|| {
        format!("`{shown} codex-exec-server` ended without an answer: is there a codex on PATH?")
    })
}

fn shell_of(line: &str) -> Option<String> {
    let info = Members::of(line)?
        .object("result")?
        .object("environmentInfo")?;
    info.object("shell")?.string("path")
}

/// The first line that a program says to `--version`.
pub(super) async fn version(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let output = output(command).await.ok()?;
    let line = output.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Standard output of a program that succeeds.
async fn output(mut command: Command) -> Result<String, String> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(MAX_RUN, command.output()).await {
        Err(_) => return Err(format!("{program} does not end")),
        Ok(output) => output.map_err(|error| format!("{program}: {error}"))?,
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default();
        return Err(format!("{program}: {}: {said}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
