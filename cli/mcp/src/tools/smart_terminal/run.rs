//! `terminal_run`: one command on pipes, not in a terminal's shell.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::Checks;
use super::fields;
use super::parse::{self, Parsed};
use super::piped::{Command, execute};
use crate::answer::{Outcome, ToolAnswer};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

// The parameters, as they are called.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(flatten)]
    command: Command,
    parse: bool,
    parse_only: bool,
    summary: bool,
    success_exit_code: Option<i64>,
    success_file: Option<String>,
    success_file_pattern: Option<String>,
    shell: bool,
}

/// The schema of [`Command`].
pub(super) fn command_fields() -> Vec<Field> {
    vec![
        Field::string("cmd", "The program, or with shell the line")
            .required()
            .at_least(1),
        Field::list("args", json!({ "type": "string" }), "").default(json!([])),
        Field::string("cwd", "").at_least(1),
        fields::timeout("Most milliseconds; then it is ended"),
        Field::integer("maxOutputBytes", "Of each stream")
            .between(1_024, 1_048_576)
            .default(102_400),
        fields::confirmed(),
    ]
}

/// The results of both tools.
pub(super) fn result_fields() -> Vec<Field> {
    vec![
        Field::boolean("ok", "It succeeded, and all of its output is here"),
        Field::string("cmd", ""),
        Field::list("args", json!({ "type": "string" }), ""),
        Field::string("cwd", ""),
        Field::integer("exitCode", "").or_null(),
        Field::string("signal", ""),
        fields::end_cause(),
        Field::boolean("timedOut", ""),
        Field::integer("durationMs", ""),
        Field::object("stdout", "raw, parsed, summary"),
        Field::object("stderr", "raw"),
        Field::boolean("maxOutputExceeded", "See omitted"),
        Field::list(
            "omitted",
            json!({ "type": "object" }),
            "Output left out: stream, from, to; terminal_read of sessionId with since=from reads it",
        ),
        Field::string(
            "sessionId",
            "The record of the run, where something was left out",
        ),
    ]
}

pub(super) fn tool() -> Tool {
    let mut input = command_fields();
    input.extend([
        Field::boolean("parse", "Parse structured output").default(true),
        Field::boolean("parseOnly", "Omit raw when parsed").default(false),
        Field::boolean(
            "summary",
            "Counts in place of output, where it is understood",
        )
        .default(false),
        Field::integer("successExitCode", "null=any")
            .or_null()
            .default(0),
        Field::string("successFile", "It has to be there afterwards").at_least(1),
        Field::string("successFilePattern", "Regex that it has to match").at_least(1),
        Field::boolean("shell", "Run via system shell").default(false),
    ]);
    let mut output = result_fields();
    output.extend([
        Field::boolean("exitCodeIgnored", ""),
        Field::object("checks", "How the checks went"),
    ]);
    Tool {
        name: "terminal_run",
        title: "Run a program",
        description: "Run a binary directly and return its stdout, stderr and exitCode; no terminal, \
                      nothing to read from. shell=true for built-ins, pipes, redirects. Output of git \
                      status, log, branch, diff --stat, ls-files, remote -v, rev-parse and which is \
                      parsed. It is ended at the timeout, with all that it started.",
        effect: Effect::Runs,
        input: Schema::input(input),
        output: Some(fields::output_or_question(output)),
        run: run(run_command),
        error: fields::error,
    }
}

async fn run_command(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let command = arguments.command;
    let checks = Checks::new(
        arguments.success_exit_code,
        arguments.success_file,
        arguments.success_file_pattern.as_deref(),
    )?;
    let argv = if arguments.shell {
        // As the original's runtime does it: the arguments are more of the line, and not quoted.
        let words: Vec<&str> = [&command.cmd]
            .into_iter()
            .chain(&command.args)
            .map(String::as_str)
            .collect();
        ("/bin/sh".to_owned(), vec!["-c".to_owned(), words.join(" ")])
    } else {
        (command.cmd.clone(), command.args.clone())
    };
    let finished = execute(&call, &command, argv).await?;
    let (succeeded, said) = checks.judge(finished.exit_code, Path::new(&finished.cwd));
    let mut facts = finished.describe(&command, succeeded);
    facts.extend(said);
    let parsed = if arguments.shell || finished.exit_code != Some(0) || finished.is_cut() {
        None
    } else {
        parse::output(&command.cmd, &command.args, &finished.stdout.text)
    };
    let stdout = stdout(
        &finished.stdout.text,
        parsed,
        arguments.parse,
        arguments.parse_only,
        arguments.summary,
    );
    facts.insert("stdout".to_owned(), stdout);
    Ok(ToolAnswer::Facts(facts.into()))
}

/// The standard output's fields.
fn stdout(
    raw: &str,
    parsed: Option<Parsed>,
    parse: bool,
    parse_only: bool,
    summary: bool,
) -> Value {
    match parsed {
        Some(parsed) if summary => {
            json!({ "raw": "", "parsed": null, "summary": parsed.summary })
        }
        Some(parsed) if parse && parse_only => json!({ "raw": "", "parsed": parsed.whole }),
        Some(parsed) if parse => json!({ "raw": raw, "parsed": parsed.whole }),
        _ => json!({ "raw": raw, "parsed": null }),
    }
}
