//! `termctl list`: the terminals.

use termd_client::escape::command_line;
use termd_client::timestamp::now_ms;
use termd_proto::terminal::{ListScope, ListTerminals, TerminalInfo};

use super::Context;
use crate::args::ListArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{Table, age};

/// Terminals a page: the daemon's maximum.
const PAGE: u32 = 1000;

pub(super) async fn run(context: Context, args: ListArgs) -> Result<ExitCode, CliError> {
    let scope = match (args.all, args.running) {
        (true, _) => ListScope::All,
        (false, true) => ListScope::Running,
        (false, false) => ListScope::Open,
    };
    let link = context.open().await?;
    let mut terminals: Vec<TerminalInfo> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = link
            .repeat(&ListTerminals {
                scope: Some(scope),
                cursor,
                limit: Some(PAGE),
            })
            .await?;
        terminals.extend(page.terminals);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if context.json {
        output::print_json(&terminals)?;
    } else {
        output::print(render(&terminals, now_ms()).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

fn render(terminals: &[TerminalInfo], now_ms: i64) -> String {
    let mut table = Table::new(&["ID", "LABEL", "STATE", "EXIT", "AGE", "SIZE", "COMMAND"]);
    for terminal in terminals {
        let exit = match &terminal.exit_status {
            Some(status) => match (&status.signal, status.exit_code) {
                (Some(signal), _) => signal.clone(),
                (None, Some(code)) => code.to_string(),
                (None, None) => "?".to_owned(),
            },
            None => "-".to_owned(),
        };
        table.row([
            terminal.id.as_str(),
            terminal.label.as_ref().map_or("-", |label| label.as_str()),
            terminal.state.as_str(),
            &exit,
            &age(now_ms.saturating_sub(terminal.created_at_ms)),
            &format!("{}x{}", terminal.cols, terminal.rows),
            &command_line(&terminal.argv),
        ]);
    }
    table.render()
}
