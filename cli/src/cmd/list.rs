//! `termctl list`: the terminals.

use termd_client::Link;
use termd_client::escape::terminal_command;
use termd_client::timestamp::now_ms;
use termd_proto::attention::AttentionState;
use termd_proto::terminal::{ListScope, ListTerminals, TerminalInfo, TerminalState};
use termd_proto::{Tags, TerminalRef};

use super::Context;
use super::approvals::asked_from_no_terminal;
use crate::args::ListArgs;
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{Cell, Table, age};
use crate::usage_error::UsageError;

/// Terminals a page: the daemon's maximum.
const PAGE: u32 = 1000;

pub(super) async fn run(context: Context, args: ListArgs) -> Result<ExitCode, CliError> {
    let scope = match (args.scope.all, args.scope.running) {
        (true, _) => ListScope::All,
        (false, true) => ListScope::Running,
        (false, false) => ListScope::Open,
    };
    let tags = Tags::of(args.tagged.tags).map_err(UsageError::from)?;
    let link = context.open().await?;
    let mut terminals = list(&link, scope, &tags).await?;
    if args.scope.waiting {
        keep_waiting(&mut terminals);
    }
    if args.quiet {
        let ids: Vec<&str> = terminals.iter().map(|each| each.id.as_str()).collect();
        if context.json {
            output::print_json(&ids)?;
        } else {
            let lines: String = ids.iter().flat_map(|id| [id, "\n"]).collect();
            output::print(lines.as_bytes())?;
        }
    } else if let Some(template) = &args.format {
        let lines = terminals.iter().map(|each| template.line(each) + "\n");
        output::print(lines.collect::<String>().as_bytes())?;
    } else if context.json {
        output::print_json(&terminals)?;
    } else {
        output::print(render(&terminals, now_ms(), context.display).as_bytes())?;
        if args.scope.waiting {
            note_questions(&link).await?;
        }
    }
    Ok(ExitCode::OK)
}

/// Says that questions wait which no terminal shows.
async fn note_questions(link: &Link) -> Result<(), CliError> {
    match asked_from_no_terminal(link).await?.len() {
        0 => {}
        1 => output::note("1 question waits that was asked from no terminal: `termctl approvals`"),
        count => output::note(&format!(
            "{count} questions wait that were asked from no terminal: `termctl approvals`"
        )),
    }
    Ok(())
}

/// The terminals that have one of these tags, or all where there is none: all pages of the list.
pub(super) async fn list(
    link: &Link,
    scope: ListScope,
    tags: &Tags,
) -> Result<Vec<TerminalInfo>, CliError> {
    let mut terminals: Vec<TerminalInfo> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = link
            .repeat(&ListTerminals {
                scope: Some(scope),
                tags: tags.clone(),
                cursor,
                limit: Some(PAGE),
            })
            .await?;
        terminals.extend(page.terminals);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(terminals);
        }
    }
}

/// The terminals that `--tag` names. None is an error: a tag was mistyped, or there is nothing to do.
pub(super) async fn tagged(
    link: &Link,
    scope: ListScope,
    tags: &Tags,
) -> Result<Vec<TerminalRef>, CliError> {
    let found = list(link, scope, tags).await?;
    if found.is_empty() {
        let tags = tags.clone();
        return Err(CliError::NoneTagged { scope, tags });
    }
    Ok(found.iter().map(|it| TerminalRef::from(&it.id)).collect())
}

/// Leaves those that wait for a person, the most urgent first, and of each kind that which waits longest.
fn keep_waiting(terminals: &mut Vec<TerminalInfo>) {
    let urgency = |terminal: &TerminalInfo| {
        let attention = terminal.attention.as_ref();
        attention.map(|attention| (attention.state, attention.since_ms))
    };
    terminals.retain(|it| urgency(it).is_some_and(|(state, _)| state.is_waiting()));
    terminals.sort_by_key(urgency);
}

/// Label and command.
const LONG: [usize; 2] = [1, 7];
/// Label, tags and command.
const LONG_WITH_TAGS: [usize; 3] = [1, 7, 8];
/// Size, age, exit and state, which goes last since WAITS says more; tags before it. Labels stay: people type them.
const DISPENSABLE: [usize; 4] = [6, 5, 4, 2];
const DISPENSABLE_WITH_TAGS: [usize; 5] = [6, 5, 4, 7, 2];

fn render(terminals: &[TerminalInfo], now_ms: i64, display: Display) -> String {
    let has_tags = terminals.iter().any(|each| !each.tags.is_empty());
    let mut header = vec!["ID", "LABEL", "STATE", "WAITS", "EXIT", "AGE", "SIZE"];
    let (long, dispensable): (&[usize], &[usize]) = if has_tags {
        header.push("TAGS");
        (&LONG_WITH_TAGS, &DISPENSABLE_WITH_TAGS)
    } else {
        (&LONG, &DISPENSABLE)
    };
    header.push("COMMAND");
    let mut table = Table::new(&header, long).leaving_out(dispensable);
    for terminal in terminals {
        let tone = tone_of(terminal);
        let exit = match &terminal.exit_status {
            Some(status) => match (&status.signal, status.exit_code) {
                (Some(signal), _) => signal.clone(),
                (None, Some(code)) => code.to_string(),
                (None, None) => "?".to_owned(),
            },
            None => "-".to_owned(),
        };
        let mut row = vec![
            Cell::text(terminal.id.as_str()),
            Cell::text(terminal.label.as_ref().map_or("-", |label| label.as_str())),
            Cell::text(state(terminal)).in_tone(Some(tone)),
            waits(terminal, now_ms),
            Cell::text(&exit).in_tone((tone == Tone::Bad).then_some(tone)),
            Cell::text(&age(now_ms.saturating_sub(terminal.created_at_ms))),
            Cell::text(&format!("{}x{}", terminal.cols, terminal.rows)),
        ];
        if has_tags {
            row.push(tags(terminal));
        }
        row.push(Cell::line(&terminal_command(terminal)));
        table.row(row);
    }
    table.render(display)
}

fn tags(terminal: &TerminalInfo) -> Cell {
    if terminal.tags.is_empty() {
        Cell::text("-")
    } else {
        Cell::text(&terminal.tags.to_string())
    }
}

/// What it waits for a person for, and how long it has.
fn waits(terminal: &TerminalInfo, now_ms: i64) -> Cell {
    let attention = terminal.attention.as_ref();
    let Some(attention) = attention.filter(|attention| attention.state.is_waiting()) else {
        return Cell::text("-");
    };
    let since = age(now_ms.saturating_sub(attention.since_ms));
    let tone = match attention.state {
        AttentionState::Done => Tone::Good,
        _ => Tone::Bad,
    };
    Cell::text(&format!("{} {since}", attention.state.as_str())).in_tone(Some(tone))
}

fn state(terminal: &TerminalInfo) -> &'static str {
    match terminal.imported_at_ms {
        Some(_) => "imported",
        None => terminal.state.as_str(),
    }
}

/// Running, failed, or over.
fn tone_of(terminal: &TerminalInfo) -> Tone {
    let exit = terminal.exit_status.as_ref();
    if terminal.state == TerminalState::Running {
        Tone::Good
    } else if exit.is_some_and(|status| status.exit_code != Some(0)) {
        Tone::Bad
    } else {
        Tone::Past
    }
}
