//! `termctl audit`: lists, follows, exports and verifies audit records.

mod anchors;
mod csv;
mod verify;

use jiff::Zoned;
use serde_json::Value;
use termd_client::escape::{command_line, escaped, shell_line};
use termd_client::{BadAnswer, ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::audit::{AuditFilter, AuditOrder, AuditPage, AuditRecord, ListAudit};
use termd_proto::policy::Verdict;
use termd_proto::terminal::Front;

use super::Context;
use super::show::show;
use crate::args::{AuditArgs, AuditExportArgs, AuditVerb, FilterArgs, FrontArg, VerdictArg};
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::json;
use crate::output;
use crate::table::{Cell, Table};

/// Records a page: the daemon's maximum.
const PAGE: u32 = 1000;
/// How long one call waits for a new record.
const FOLLOW_MS: u64 = 30_000;

pub(super) async fn run(context: Context, args: AuditArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    match args.verb {
        Some(AuditVerb::Verify(args)) => verify::verify(context, &link, args).await,
        Some(AuditVerb::Export(args)) => export(&link, args).await,
        None if args.follow => follow(context, &link, args).await,
        None => list(context, &link, args).await,
    }
}

async fn filter_of(link: &Link, args: FilterArgs) -> Result<AuditFilter, CliError> {
    let now = Zoned::now();
    let terminal = match args.terminal {
        // The filter takes only whole ids, because labels are reused.
        Some(reference) => Some(show(link, &TerminalRef(reference)).await?.id.into()),
        None => None,
    };
    Ok(AuditFilter {
        terminal,
        action: args.action,
        client: args.client,
        front: args.front.map(|front| match front {
            FrontArg::Acp => Front::Acp,
            FrontArg::Mcp => Front::Mcp,
            FrontArg::Shell => Front::Shell,
            FrontArg::Cli => Front::Cli,
            FrontArg::Daemon => Front::Daemon,
        }),
        program: args.program,
        verdict: args.verdict.map(|verdict| match verdict {
            VerdictArg::Safe => Verdict::Safe,
            VerdictArg::Unknown => Verdict::Unknown,
            VerdictArg::Dangerous => Verdict::Dangerous,
        }),
        outcome: args.outcome,
        since_ms: args.since.map(|moment| moment.at_ms(&now)),
        until_ms: args.until.map(|moment| moment.at_ms(&now)),
    })
}

/// Reads a page. In the order of the oldest first, the call may wait for a record.
async fn page(
    link: &Link,
    filter: &AuditFilter,
    cursor: Option<&String>,
    limit: u32,
    order: AuditOrder,
    wait_ms: Option<u64>,
) -> Result<AuditPage, ClientError> {
    link.repeat(&ListAudit {
        filter: Some(filter.clone()),
        cursor: cursor.cloned(),
        limit: Some(limit.min(PAGE)),
        order: Some(order),
        wait_ms,
    })
    .await
}

/// The newest records, newest first, and the number of the last record at that time.
async fn newest(
    link: &Link,
    filter: &AuditFilter,
    limit: u32,
) -> Result<(Vec<AuditRecord>, i64), CliError> {
    let mut records: Vec<AuditRecord> = Vec::new();
    let mut cursor: Option<String> = None;
    let mut through = None;
    loop {
        let got = u32::try_from(records.len()).unwrap_or(u32::MAX);
        let left = limit.saturating_sub(got);
        if left == 0 && through.is_some() {
            break;
        }
        let page = page(
            link,
            filter,
            cursor.as_ref(),
            left.max(1),
            AuditOrder::Newest,
            None,
        )
        .await?;
        through.get_or_insert(page.through);
        records.extend(page.records);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    records.truncate(limit as usize);
    Ok((records, through.unwrap_or_default()))
}

async fn list(context: Context, link: &Link, args: AuditArgs) -> Result<ExitCode, CliError> {
    let filter = filter_of(link, args.filter).await?;
    let (records, _) = newest(link, &filter, args.limit).await?;
    if context.json {
        output::print_json(&records)?;
    } else {
        let mut table = table();
        add(&mut table, &records, context.display);
        output::print(table.render(context.display).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// Prints the newest records and each new one, until standard output is closed or a signal comes.
async fn follow(context: Context, link: &Link, args: AuditArgs) -> Result<ExitCode, CliError> {
    let filter = filter_of(link, args.filter).await?;
    let (mut records, through) = newest(link, &filter, args.limit).await?;
    records.reverse();
    let mut cursor = Some(through.to_string());
    let mut table = table();
    loop {
        if context.json {
            records.iter().try_for_each(output::print_json)?;
        } else {
            add(&mut table, &records, context.display);
            output::print(table.render(context.display).as_bytes())?;
        }
        let wait = Some(FOLLOW_MS);
        let next = page(
            link,
            &filter,
            cursor.as_ref(),
            PAGE,
            AuditOrder::Oldest,
            wait,
        )
        .await?;
        cursor = next.next_cursor.or_else(|| Some(next.through.to_string()));
        records = next.records;
    }
}

/// Prints all records of the filter up to the newest one at the start, a page at a time.
async fn export(link: &Link, args: AuditExportArgs) -> Result<ExitCode, CliError> {
    let filter = filter_of(link, args.filter).await?;
    if args.csv {
        output::print(csv::header().as_bytes())?;
    }
    let mut cursor: Option<String> = None;
    let mut end = None;
    loop {
        let page = page(
            link,
            &filter,
            cursor.as_ref(),
            PAGE,
            AuditOrder::Oldest,
            None,
        )
        .await?;
        let end = *end.get_or_insert(page.through);
        let mut text = Vec::new();
        for record in page.records.iter().take_while(|record| record.seq <= end) {
            if args.csv {
                text.extend_from_slice(csv::line(record).as_bytes());
            } else {
                text.extend(json::to_vec(record).map_err(BadAnswer::from)?);
                text.push(b'\n');
            }
        }
        output::print(&text)?;
        cursor = page.next_cursor;
        let is_done = page.records.last().is_none_or(|record| record.seq >= end);
        if cursor.is_none() || is_done {
            return Ok(ExitCode::OK);
        }
    }
}

/// Who, and what.
const LONG: [usize; 2] = [2, 6];
/// Number, terminal, who, outcome, what.
const DISPENSABLE: [usize; 5] = [0, 5, 2, 4, 6];

fn table() -> Table {
    let header = [
        "SEQ", "TIME", "WHO", "ACTION", "OUTCOME", "TERMINAL", "WHAT",
    ];
    Table::new(&header, &LONG).leaving_out(&DISPENSABLE)
}

fn add(table: &mut Table, records: &[AuditRecord], display: Display) {
    for record in records {
        let [seq, time, who, action, outcome, terminal, what] =
            cells(record, display).map(|cell| Cell::line(&cell));
        let tone = (record.outcome != "ok").then_some(Tone::Bad);
        table.row([
            seq,
            time,
            who,
            action,
            outcome.in_tone(tone),
            terminal,
            what,
        ]);
    }
}

/// The cells of a record, escaped.
fn cells(record: &AuditRecord, display: Display) -> [String; 7] {
    let actor = &record.actor;
    // The column has the outcome's word, and the reason goes with what it is about.
    let (outcome, reason) = match record.outcome.split_once(": ") {
        Some((outcome, reason)) => (outcome, format!(" ({})", escaped(reason))),
        None => (record.outcome.as_str(), String::new()),
    };
    let name = actor.client.as_deref().or(actor.session.as_deref());
    [
        record.seq.to_string(),
        display.time(record.at_ms),
        format!(
            "{}:{}({})",
            actor.front.as_str(),
            escaped(name.unwrap_or("-")),
            actor.pid
        ),
        escaped(&record.action),
        escaped(outcome),
        (record.terminal.as_ref()).map_or_else(|| "-".to_owned(), ToString::to_string),
        what(record) + &reason,
    ]
}

/// The details as `name=value`, and a command line as it would be typed.
fn what(record: &AuditRecord) -> String {
    let details = record.detail.iter().map(|(name, value)| {
        let argv: Option<Vec<String>> = match (name.as_str(), value) {
            ("argv", Value::Array(_)) => serde_json::from_value(value.clone()).ok(),
            _ => None,
        };
        match (argv, value) {
            (Some(argv), _) => command_line(&argv),
            (None, Value::String(text)) => format!("{name}={}", shell_line(text)),
            (None, other) => format!("{name}={}", shell_line(&other.to_string())),
        }
    });
    details.collect::<Vec<_>>().join(" ")
}
