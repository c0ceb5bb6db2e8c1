//! `terminal_run_paged`: a page of a read-only command's output.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parse;
use super::piped::{Command, execute};
use super::run::result_fields;
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer};
use crate::tools::smart_terminal::params::MAX_INTEGER;
use crate::tools::smart_terminal::results::{self, bad};

/// The error for any other command, in smart-terminal-mcp's words.
const ONLY: &str = "terminal_run_paged only supports read-only commands: git (branch, diff, log, \
                    ls-files, remote, rev-parse, status), tasklist, where, which.";
/// git's commands that only read, unless an option says otherwise.
const GIT: [&str; 7] = [
    "branch",
    "diff",
    "log",
    "ls-files",
    "remote",
    "rev-parse",
    "status",
];
/// Options of these commands that write or run something (git-branch(1), git-diff(1)).
const WRITING: [&str; 20] = [
    "-d",
    "-D",
    "-m",
    "-M",
    "-c",
    "-C",
    "-f",
    "-u",
    "--delete",
    "--move",
    "--copy",
    "--force",
    "--set-upstream-to",
    "--unset-upstream",
    "--edit-description",
    "--output",
    "--ext-diff",
    "--textconv",
    "--create-reflog",
    "--track",
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(flatten)]
    command: Command,
    /// From 0
    #[schemars(range(min = 0, max = MAX_INTEGER), extend("default" = 0))]
    page: u64,
    /// Lines
    #[schemars(range(min = 1, max = 1_000), extend("default" = 100))]
    page_size: u64,
    #[serde(default)]
    summary: bool,
}

pub(crate) fn tool() -> Tool {
    let mut output = result_fields();
    output.push(Field::object(
        "pageInfo",
        "page, pageSize, totalLines, hasNext",
    ));
    Tool {
        name: "terminal_run_paged",
        title: "Run and read a page",
        description: "Run a read-only command (git branch, diff, log, ls-files, remote, rev-parse, \
                      status; which) and return one page of its output.",
        effect: Effect::Runs,
        output: results::output_or_question(output),
        handler: Handler::new(paged),
    }
}

async fn paged(call: Call, arguments: Arguments) -> Outcome {
    let command = arguments.command;
    if !is_read_only(&command.cmd, &command.args) {
        return Err(bad(ONLY));
    }
    let argv = (command.cmd.clone(), command.args.clone());
    let finished = execute(&call, &command, argv, None, None).await?;
    let succeeded = finished.exit_code == Some(0);
    let mut facts = finished.describe(&command.cmd, &command.args, succeeded);
    let whole = &finished.stdout.text;
    let summary = (arguments.summary && succeeded && !finished.is_cut())
        .then(|| parse::output(&command.cmd, &command.args, whole))
        .flatten();
    let (lines, total) = page(whole, arguments.page, arguments.page_size);
    let stdout = match summary {
        Some(parsed) => json!({ "raw": "", "parsed": null, "summary": parsed.summary }),
        None => json!({ "raw": lines, "parsed": null }),
    };
    let behind = arguments
        .page
        .saturating_add(1)
        .saturating_mul(arguments.page_size);
    facts.insert("stdout".to_owned(), stdout);
    facts.insert(
        "pageInfo".to_owned(),
        json!({
            "page": arguments.page,
            "pageSize": arguments.page_size,
            "totalLines": total,
            "hasNext": behind < total,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

/// A page of a text's lines, and how many lines there are.
fn page(text: &str, page: u64, size: u64) -> (String, u64) {
    let lines: Vec<&str> = text.lines().collect();
    let skip = usize::try_from(page.saturating_mul(size)).unwrap_or(usize::MAX);
    let take = usize::try_from(size).unwrap_or(usize::MAX);
    let shown: Vec<&str> = lines.iter().copied().skip(skip).take(take).collect();
    (shown.join("\n"), lines.len() as u64)
}

fn is_read_only(cmd: &str, args: &[String]) -> bool {
    let mut args = args.iter().map(String::as_str);
    match cmd {
        "which" | "where" | "tasklist" => true,
        "git" => match args.next() {
            Some(verb) if GIT.contains(&verb) => {
                let words: Vec<&str> = args.collect();
                let plain = words.iter().all(|word| !writes(word));
                let names = words.iter().filter(|word| !word.starts_with('-')).count();
                plain
                    && match verb {
                        // A name alone creates a branch.
                        "branch" => {
                            names == 0 || words.contains(&"--list") || words.contains(&"-l")
                        }
                        "remote" => words
                            .iter()
                            .find(|word| !word.starts_with('-'))
                            .is_none_or(|word| ["show", "get-url"].contains(word)),
                        _ => true,
                    }
            }
            _ => false,
        },
        _ => false,
    }
}

fn writes(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    // git takes long options by any prefix that is the only one.
    let shortened =
        |option: &&str| option.starts_with("--") && name.len() > 3 && option.starts_with(name);
    WRITING.contains(&name) || WRITING.iter().any(shortened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_is_run() {
        let table = [
            ("git status", true),
            ("git log --oneline -5", true),
            ("git diff --stat HEAD~1", true),
            ("git branch", true),
            ("git branch -a --list feat*", true),
            ("git remote -v", true),
            ("git remote show origin", true),
            ("which bash", true),
            ("git", false),
            ("git push", false),
            ("git branch new", false),
            ("git branch -D old", false),
            ("git branch --del old", false),
            ("git diff --output=x", false),
            ("git diff --ext-diff", false),
            ("git -c core.pager=x log", false),
            ("git remote add x y", false),
            ("ls", false),
            ("/usr/bin/git status", false),
        ];
        for (line, want) in table {
            let mut words = line.split(' ').map(str::to_owned);
            let cmd = words.next().unwrap();
            let args: Vec<_> = words.collect();
            assert_eq!(is_read_only(&cmd, &args), want, "{line}");
        }
    }

    #[test]
    fn pages_are_lines_in_order() {
        let text = "a\nb\nc\nd\ne\n";
        let table = [
            (0, 2, "a\nb"),
            (1, 2, "c\nd"),
            (2, 2, "e"),
            (3, 2, ""),
            (0, 9, "a\nb\nc\nd\ne"),
        ];
        for (number, size, want) in table {
            assert_eq!(page(text, number, size), (want.to_owned(), 5), "{number}");
        }
        assert_eq!(page("", u64::MAX, 1_000), (String::new(), 0));
    }
}
