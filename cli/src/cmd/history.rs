//! `termctl history`: the commands that were run in terminals, newest first.

use termd_client::Link;
use termd_client::timestamp::utc;
use termd_proto::TerminalRef;
use termd_proto::command::{CommandFilter, CommandInfo, ListCommands};

use super::Context;
use crate::args::HistoryArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{Table, age};

/// Commands a page: the daemon's maximum.
const PAGE: u32 = 1000;

pub(super) async fn run(context: Context, args: HistoryArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let filter = CommandFilter {
        terminal: args.terminal.map(TerminalRef),
        query: args.search,
        failed: args.failed.then_some(true),
        ..CommandFilter::default()
    };
    let commands = list(&link, &filter, args.limit).await?;
    if context.json {
        output::print_json(&commands)?;
    } else {
        output::print(render(&commands).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

async fn list(
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

fn render(commands: &[CommandInfo]) -> String {
    let mut table = Table::new(&[
        "TERMINAL",
        "N",
        "TIME",
        "TOOK",
        "EXIT",
        "DIRECTORY",
        "COMMAND",
    ]);
    for command in commands {
        let took = command
            .ended_at_ms
            .map(|ended| age(ended.saturating_sub(command.started_at_ms)));
        table.row([
            command.terminal.as_str(),
            &command.number.to_string(),
            &utc(command.started_at_ms),
            took.as_deref().unwrap_or("-"),
            &exit(command),
            command.cwd.as_deref().unwrap_or("-"),
            &command.text,
        ]);
    }
    table.render()
}

/// `-` while the command runs, `?` if its exit code is unknown.
fn exit(command: &CommandInfo) -> String {
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
            cwd: None,
            started_at_ms: 0,
            ended_at_ms,
            exit_code: None,
            signal: None,
            start: Offset::ZERO,
            end: None,
        }
    }

    #[test]
    fn a_row_says_how_it_ended_and_controls_nothing() {
        let mut failed = command(2, "ma\u{1b}[2Jke\nall", Some(65_000));
        failed.exit_code = Some(2);
        failed.cwd = Some("/s\u{202e}".to_owned());
        let mut killed = command(0, "sh", Some(1_000));
        killed.signal = Some("SIGTERM".to_owned());
        let shown = render(&[
            command(3, "", None),
            failed,
            command(1, "a", Some(0)),
            killed,
        ]);
        let expected = "\
TERMINAL           N  TIME                  TOOK   EXIT     DIRECTORY   COMMAND
term_aaaaaaaaaaaa  3  1970-01-01T00:00:00Z  -      -        -
term_aaaaaaaaaaaa  2  1970-01-01T00:00:00Z  1m05s  2        /s\\u{202e}  ma\\x1b[2Jke\\nall
term_aaaaaaaaaaaa  1  1970-01-01T00:00:00Z  0s     ?        -           a
term_aaaaaaaaaaaa  0  1970-01-01T00:00:00Z  1s     SIGTERM  -           sh
";
        assert_eq!(shown, expected);
    }
}
