//! `termctl audit`: who did what, and whether the record of it is whole.

use serde_json::Value;
use termd_proto::TerminalRef;
use termd_proto::audit::{AuditClient as _, AuditFilter, AuditRecord};

use super::Context;
use super::show::show;
use crate::args::{AuditArgs, AuditVerb};
use crate::client::Link;
use crate::error::CliError;
use crate::escape::{command_line, escaped};
use crate::exit::ExitCode;
use crate::output;
use crate::table::{Table, now_ms, utc};

/// Records a page: the most the daemon gives.
const PAGE: u32 = 1000;

pub(super) async fn run(context: Context, args: AuditArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    match args.verb {
        Some(AuditVerb::Verify) => verify(context, &link).await,
        None => list(context, &link, args).await,
    }
}

async fn verify(context: Context, link: &Link) -> Result<ExitCode, CliError> {
    let verdict = link.repeat(|rpc| async move { rpc.verify().await }).await?;
    let code = match verdict.first_bad {
        None => ExitCode::OK,
        Some(_) => ExitCode::FAILED,
    };
    if context.json {
        output::print_json(&verdict)?;
        return Ok(code);
    }
    let line = match &verdict.first_bad {
        None => format!(
            "{} records, none changed or missing; the last one's hash is {}\n",
            verdict.checked,
            verdict
                .head
                .as_deref()
                .map_or_else(|| "-".to_owned(), escaped)
        ),
        Some(bad) => format!("record {} is bad: {}\n", bad.seq, escaped(&bad.reason)),
    };
    output::print(line.as_bytes())?;
    Ok(code)
}

async fn list(context: Context, link: &Link, args: AuditArgs) -> Result<ExitCode, CliError> {
    let now = now_ms();
    let terminal = match args.terminal {
        // The filter takes whole ids alone: labels come and go.
        Some(reference) => Some(show(link, &TerminalRef(reference)).await?.id.into()),
        None => None,
    };
    let filter = AuditFilter {
        terminal,
        action: args.action,
        client: args.client,
        since_ms: args.since.map(|moment| moment.at_ms(now)),
        until_ms: args.until.map(|moment| moment.at_ms(now)),
    };
    let mut records: Vec<AuditRecord> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let got = u32::try_from(records.len()).unwrap_or(u32::MAX);
        let left = args.limit.saturating_sub(got);
        if left == 0 {
            break;
        }
        let (filter, asked) = (&filter, &cursor);
        let page = link
            .repeat(|rpc| {
                let (filter, cursor) = (filter.clone(), asked.clone());
                async move { rpc.list(Some(filter), cursor, Some(left.min(PAGE))).await }
            })
            .await?;
        records.extend(page.records);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if context.json {
        output::print_json(&records)?;
    } else {
        output::print(render(&records).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

fn render(records: &[AuditRecord]) -> String {
    let mut table = Table::new(&[
        "SEQ", "TIME", "WHO", "ACTION", "OUTCOME", "TERMINAL", "WHAT",
    ]);
    for record in records {
        let actor = &record.actor;
        let name = actor.client.as_deref().or(actor.session.as_deref());
        table.row([
            &record.seq.to_string(),
            &utc(record.at_ms),
            &format!(
                "{}:{}({})",
                actor.front.as_str(),
                name.unwrap_or("-"),
                actor.pid
            ),
            &record.action,
            &record.outcome,
            record.terminal.as_ref().map_or("-", |id| id.as_str()),
            &what(record),
        ]);
    }
    table.render()
}

/// The details as `name=value`, a command line as it would be typed.
fn what(record: &AuditRecord) -> String {
    let details = record.detail.iter().map(|(name, value)| {
        let argv: Option<Vec<String>> = match (name.as_str(), value) {
            ("argv", Value::Array(_)) => serde_json::from_value(value.clone()).ok(),
            _ => None,
        };
        match (argv, value) {
            (Some(argv), _) => command_line(&argv),
            (None, Value::String(text)) => format!("{name}={text}"),
            (None, other) => format!("{name}={other}"),
        }
    });
    details.collect::<Vec<_>>().join(" ")
}
