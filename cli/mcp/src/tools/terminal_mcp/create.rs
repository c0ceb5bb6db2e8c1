//! `session_create`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::Label;
use termd_proto::terminal::{CreateTerminal, MAX_DIMENSION, MIN_COLS, TerminalInfo};

use super::params::{Confirmed, MAX_NAME_CHARS};
use super::results::{self, success};
use crate::settings::{MAX_IDLE_SECONDS, Settings, idle_timeout};
use crate::tool::{
    Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError, add, environment,
    to_milliseconds,
};

/// terminal-mcp's default of lines that scrolled off the top.
const DEFAULT_SCROLLBACK: u32 = 1_000;
/// Most lines of scrollback that the daemon keeps.
const MAX_SCROLLBACK: u32 = 100_000;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Such as bash, python3, ssh user@host
    #[schemars(length(min = 1))]
    command: String,
    /// A name that works as session_id
    #[schemars(with = "Option<String>", length(min = 1, max = MAX_NAME_CHARS))]
    label: Option<Label>,
    #[schemars(range(min = 1, max = MAX_DIMENSION))]
    rows: u16,
    #[schemars(range(min = MIN_COLS, max = MAX_DIMENSION))]
    cols: u16,
    /// Seconds unused until it is closed; 0: never
    #[schemars(range(min = 0, max = MAX_IDLE_SECONDS))]
    idle_timeout: u64,
    #[serde(rename = "enable_snapshot")]
    #[schemars(extend("default" = true))]
    _enable_snapshot: bool,
    #[schemars(range(min = 0, max = MAX_SCROLLBACK), extend("default" = DEFAULT_SCROLLBACK))]
    scrollback_lines: u32,
    /// Absolute
    #[schemars(length(min = 1))]
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    close_on_disconnect: bool,
    confirmed: Confirmed,
}

pub(super) fn tool(settings: &Settings) -> Tool {
    let idle = settings.idle_timeout.map_or(0, |timeout| timeout.as_secs());
    Tool {
        name: "session_create",
        title: "Open a terminal",
        description: "Start a terminal that stays open over many calls: a shell, ssh, a REPL, a full-screen program. \
                      It outlives this connection. For one command use session_exec.",
        effect: Effect::Runs,
        output: results::output(vec![
            Field::string("session_id", ""),
            Field::string("label", ""),
            Field::integer("pid", ""),
            Field::number("created_at", "Seconds since the epoch"),
            Field::boolean("snapshot_available", ""),
            Field::integer("rows", ""),
            Field::integer("cols", ""),
            Field::string("cwd", ""),
        ]),
        handler: Handler::new(create)
            .default("rows", settings.rows)
            .default("cols", settings.cols)
            .default("idle_timeout", idle),
    }
}

async fn create(call: Call, arguments: Arguments) -> Outcome {
    if arguments.command.trim().is_empty() {
        return Err(ToolError::validation("'command' is required"));
    }
    let env = arguments.env.unwrap_or_default();
    let base_env = environment();
    // Where the daemon looks too: the call's variables are set over this process's.
    let path = env.get("PATH").or_else(|| base_env.get("PATH"));
    let path = path.map_or("", String::as_str);
    let (command, args) = program_of(&arguments.command, path.as_ref());
    let request = CreateTerminal {
        command: Some(command),
        args,
        label: arguments.label,
        rows: Some(arguments.rows),
        cols: Some(arguments.cols),
        idle_timeout_ms: idle_timeout(arguments.idle_timeout).map(to_milliseconds),
        scrollback_lines: Some(arguments.scrollback_lines),
        cwd: arguments.cwd,
        env,
        base_env: Some(base_env),
        close_on_disconnect: arguments.close_on_disconnect,
        confirmed: arguments.confirmed.0,
        output_byte_limit: Some(call.shared.settings.buffer_bytes),
        ..CreateTerminal::default()
    };
    let holds = request.close_on_disconnect;
    let info = call.backend().pool().once(&request).await?;
    call.backend().remember(&info);
    if holds {
        call.backend().pool().keep_holding(&info.id)?;
    }
    let mut facts = success();
    add(
        &mut facts,
        json!({
            "session_id": info.id,
            "label": name_of(&info),
            "pid": info.pid,
            "created_at": seconds(info.created_at_ms),
            "snapshot_available": true,
            "rows": info.rows,
            "cols": info.cols,
            "cwd": info.cwd,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

/// Splits a line of plain words, the first of which is a program on the path, into program and
/// arguments, so that a shell with options is the terminal's own program. Any other line stays as it
/// is, for the user's shell.
pub(in crate::tools) fn program_of(line: &str, path: &OsStr) -> (String, Vec<String>) {
    let plain = |c: char| c.is_alphanumeric() || " _-./:,@%+=".contains(c);
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let is_there = |directory: PathBuf| directory.join(first).is_file();
    if line.chars().all(plain)
        && !first.contains('=')
        && std::env::split_paths(path).any(is_there)
        && !Path::new(line).exists()
    {
        let args = words.map(str::to_owned).collect();
        return (first.to_owned(), args);
    }
    (line.to_owned(), Vec::new())
}

/// A terminal's name: its label, else its program's name, as terminal-mcp has it.
pub(in crate::tools) fn name_of(info: &TerminalInfo) -> String {
    if let Some(label) = &info.label {
        return label.as_str().to_owned();
    }
    let command = command_of(info);
    let word = command.split_whitespace().next().unwrap_or_default();
    let program = Path::new(word).file_name();
    program.unwrap_or_default().to_string_lossy().into_owned()
}

/// The line that a terminal runs; a line that the daemon gave to a shell is itself.
pub(in crate::tools) fn command_of(info: &TerminalInfo) -> String {
    if let Some(line) = &info.agent_line {
        return line.clone();
    }
    match info.argv.as_slice() {
        [_shell, flag, line] if flag == "-c" => line.clone(),
        argv => argv.join(" "),
    }
}

/// A point in time in seconds, as terminal-mcp gives it.
#[allow(clippy::cast_precision_loss)]
pub(super) fn seconds(milliseconds: i64) -> f64 {
    // Exact for some 280,000 years.
    milliseconds as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_are_a_program_and_its_arguments() {
        let path = OsStr::new("/nowhere:/bin");
        for (line, args) in [
            ("sh -i", Some(&["-i"][..])),
            ("sh  -l  -i", Some(&["-l", "-i"])),
            ("/bin/sh -e", Some(&["-e"])),
            ("sh", Some(&[])),
            ("sh -c 'echo 1'", None),
            ("A=1 sh", None),
            ("sh | cat", None),
            ("sh $X", None),
            ("no-such-program-here x", None),
        ] {
            let (command, given) = program_of(line, path);
            match args {
                Some(args) => {
                    assert_eq!(Some(command.as_str()), line.split(' ').next(), "{line}");
                    assert_eq!(given, args, "{line}");
                }
                None => assert_eq!((command.as_str(), given.len()), (line, 0)),
            }
        }
    }
}
