//! `termctl history`: the commands that were run in terminals, newest first.

use std::io::{self, IsTerminal as _};

use jiff::Zoned;
use termd_client::Link;
use termd_proto::command::{CommandFilter, CommandInfo, ListCommands};
use termd_proto::search::SearchFilter;
use termd_proto::{Tags, TerminalRef};

use super::typed_command::as_typed;
use super::{Context, search};
use crate::args::HistoryArgs;
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{Cell, Table, age};
use crate::usage_error::UsageError;

/// Commands a page: the daemon's maximum.
const PAGE: u32 = 1000;

pub(super) async fn run(context: Context, args: HistoryArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let now = Zoned::now();
    let how = args.kind.regex || args.kind.fixed || args.kind.ignore_case;
    if how && args.search.is_none() {
        return Err(UsageError::NothingToSearch.into());
    }
    let tags = Tags::of(args.tagged.tags).map_err(UsageError::from)?;
    if let Some(pattern) = args.search {
        let filter = SearchFilter {
            terminal: args.terminal.map(TerminalRef),
            tags,
            failed: args.failed.then_some(true),
            since_ms: args.since.map(|moment| moment.at_ms(&now)),
            until_ms: args.until.map(|moment| moment.at_ms(&now)),
            ..SearchFilter::default()
        };
        let commands = search::commands(&link, (pattern, args.kind), filter, args.limit).await?;
        return print(&commands, context);
    }
    let filter = CommandFilter {
        terminal: args.terminal.map(TerminalRef),
        tags,
        failed: args.failed.then_some(true),
        since_ms: args.since.map(|moment| moment.at_ms(&now)),
        until_ms: args.until.map(|moment| moment.at_ms(&now)),
        ..CommandFilter::default()
    };
    let commands = list(&link, &filter, args.limit).await?;
    print(&commands, context)
}

fn print(commands: &[CommandInfo], context: Context) -> Result<ExitCode, CliError> {
    if context.json {
        output::print_json(&commands)?;
    } else if commands.is_empty() && io::stdout().is_terminal() {
        output::note("no command was found");
    } else {
        output::print(render(commands, context.display).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

pub(super) async fn list(
    link: &Link,
    filter: &CommandFilter,
    limit: u32,
) -> Result<Vec<CommandInfo>, CliError> {
    let mut commands: Vec<CommandInfo> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let got = u32::try_from(commands.len()).unwrap_or(u32::MAX);
        let left = limit.saturating_sub(got);
        if left == 0 {
            return Ok(commands);
        }
        let page = link
            .repeat(&ListCommands {
                filter: Some(filter.clone()),
                cursor,
                limit: Some(left.min(PAGE)),
            })
            .await?;
        commands.extend(page.commands);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(commands);
        }
    }
}

/// Directory and command.
const LONG: [usize; 2] = [5, 6];
/// Directory, duration, time, exit, number.
const DISPENSABLE: [usize; 5] = [5, 3, 2, 4, 1];

fn render(commands: &[CommandInfo], display: Display) -> String {
    let mut table = Table::new(
        &[
            "TERMINAL",
            "N",
            "TIME",
            "TOOK",
            "EXIT",
            "DIRECTORY",
            "COMMAND",
        ],
        &LONG,
    )
    .leaving_out(&DISPENSABLE);
    for command in commands {
        let took = command
            .ended_at_ms
            .map(|ended| age(ended.saturating_sub(command.started_at_ms)));
        table.row([
            Cell::text(command.terminal.as_str()),
            Cell::text(&command.number.to_string()),
            Cell::text(&display.time(command.started_at_ms)),
            Cell::text(took.as_deref().unwrap_or("-")),
            Cell::text(&exit(command)).in_tone(tone_of(command)),
            Cell::text(command.cwd.as_deref().unwrap_or("-")),
            Cell::line(&as_typed(command)),
        ]);
    }
    table.render(display)
}

/// Failed, or nothing that is worth a colour.
fn tone_of(command: &CommandInfo) -> Option<Tone> {
    let has_failed = command.signal.is_some() || command.exit_code.is_some_and(|code| code != 0);
    (has_failed && !command.imported).then_some(Tone::Bad)
}

/// `-` while the command runs, `?` if its exit code is unknown, and `imported` where only a recording says it.
fn exit(command: &CommandInfo) -> String {
    if command.imported {
        return "imported".to_owned();
    }
    match (&command.signal, command.exit_code, command.ended_at_ms) {
        (Some(signal), _, _) => signal.clone(),
        (None, Some(code), _) => code.to_string(),
        (None, None, Some(_)) => "?".to_owned(),
        (None, None, None) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::command::CommandSource;
    use termd_proto::{Offset, TerminalId};

    use super::*;

    fn command(number: u64, text: &str, ended_at_ms: Option<i64>) -> CommandInfo {
        CommandInfo {
            terminal: TerminalId::from_random(0),
            number,
            source: CommandSource::Shell,
            text: text.to_owned(),
            agent_line: None,
            cwd: None,
            started_at_ms: 0,
            ended_at_ms,
            exit_code: None,
            signal: None,
            start: Offset::ZERO,
            end: None,
            output_sha256: None,
            imported: false,
        }
    }

    #[test]
    fn a_row_says_how_it_ended_and_controls_nothing() {
        let mut failed = command(2, "ma\u{1b}[2Jke\nall", Some(65_000));
        failed.exit_code = Some(2);
        failed.cwd = Some("/s\u{202e}".to_owned());
        let mut killed = command(0, "sh", Some(1_000));
        killed.signal = Some("SIGTERM".to_owned());
        let shown = render(
            &[
                command(3, "", None),
                failed,
                command(1, "a", Some(0)),
                killed,
            ],
            Display::PLAIN,
        );
        let expected = "\
TERMINAL           N  TIME                  TOOK   EXIT     DIRECTORY   COMMAND
term_aaaaaaaaaaaa  3  1970-01-01T00:00:00Z  -      -        -
term_aaaaaaaaaaaa  2  1970-01-01T00:00:00Z  1m05s  2        /s\\u{202e}  $'ma\\x1b[2Jke\\nall'
term_aaaaaaaaaaaa  1  1970-01-01T00:00:00Z  0s     ?        -           a
term_aaaaaaaaaaaa  0  1970-01-01T00:00:00Z  1s     SIGTERM  -           sh
";
        assert_eq!(shown, expected);
    }
}
