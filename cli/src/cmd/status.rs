//! `termctl status`: whether the daemon runs, and what it holds. Never starts the daemon.

use std::time::Duration;

use serde_json::{Map, json};
use termd_client::escape::escaped;
use termd_client::{ClientError, Link, StartPolicy};
use termd_proto::Tags;
use termd_proto::attention::AttentionState;
use termd_proto::daemon::{
    DaemonInfo, DaemonStats, DiskShortage, DiskShortageKind, GetDaemonInfo, GetDaemonStats, Orphan,
};
use termd_proto::terminal::ListScope;
use tokio::time::timeout;

use super::Context;
use super::approvals::asked_from_no_terminal;
use super::list::list;
use crate::args::StatusArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{bytes, facts_as_lines};

/// How long `--line` waits for a daemon that hangs.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) async fn run(context: Context, args: &StatusArgs) -> Result<ExitCode, CliError> {
    if args.line {
        return print_line(context).await;
    }
    let link = Link::open(StartPolicy::Never).await?;
    let info = link.repeat(&GetDaemonInfo {}).await?;
    let stats = link.repeat(&GetDaemonStats {}).await?;
    if context.json {
        output::print_json(&json!({ "daemon": info, "stats": stats }))?;
        return Ok(ExitCode::OK);
    }
    if let Some(shortage) = info.disk {
        output::print(facts_as_lines(&[("disk", disk(&shortage))]).as_bytes())?;
    }
    let facts = [
        ("version", escaped(&info.version)),
        (
            "running",
            format!(
                "keeper {}, server {} since {}",
                info.keeper_pid,
                info.server_pid,
                context.display.time(info.server_started_at_ms)
            ),
        ),
        ("run by", run_by(&info)),
        ("socket", escaped(&info.socket)),
        (
            "database",
            format!(
                "{} ({})",
                escaped(&info.database),
                bytes(stats.database_bytes)
            ),
        ),
        (
            "terminals",
            format!(
                "{} running, {} exited",
                stats.terminals_running, stats.terminals_exited
            ),
        ),
        ("clients", stats.connections.to_string()),
        ("memory", bytes(stats.server_rss_bytes)),
        (
            "output",
            format!(
                "{} in spools, {} not stored yet",
                bytes(stats.spool_bytes),
                bytes(stats.unstored_bytes)
            ),
        ),
    ];
    output::print(facts_as_lines(&facts).as_bytes())?;
    if let Some(orphans) = orphans(&stats) {
        output::print(facts_as_lines(&[("orphans", orphans)]).as_bytes())?;
    }
    for line in not_in_force(&info) {
        output::print(format!("{line}\n").as_bytes())?;
    }
    if let Some(fault) = &info.reload_fault {
        let at = (info.reload_failed_at_ms).map(|at| format!(" ({})", context.display.time(at)));
        let said = format!(
            "the last reload{} changed nothing, for the new termd cannot serve: {}\n",
            at.unwrap_or_default(),
            escaped(fault)
        );
        output::print(said.as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// Prints how many want what. A prompt or a status bar is not held up.
async fn print_line(context: Context) -> Result<ExitCode, CliError> {
    let waiting = async { waiting(&Link::open(StartPolicy::Never).await?).await };
    let waiting = timeout(PATIENCE, waiting).await;
    let counts = counts(&waiting.unwrap_or(Err(ClientError::NoAnswer.into()))?);
    if context.json {
        let counts = counts.map(|(state, count)| (state.as_str().to_owned(), json!(count)));
        output::print_json(&Map::from_iter(counts))?;
    } else {
        output::print(format!("{}\n", line(&counts)).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// What each terminal wants, and each question that was asked from none.
async fn waiting(link: &Link) -> Result<Vec<AttentionState>, CliError> {
    let terminals = list(link, ListScope::Open, &Tags::default()).await?;
    let attention = terminals.into_iter().filter_map(|it| it.attention);
    let states = attention.map(|it| it.state);
    Ok(states.chain(asked_from_no_terminal(link).await?).collect())
}

type Counts = [(AttentionState, usize); 7];

fn counts(states: &[AttentionState]) -> Counts {
    AttentionState::ALL.map(|state| (state, states.iter().filter(|it| **it == state).count()))
}

/// How many want what, the most urgent first: `approval 1  input 2  running 3`. Empty where nothing waits or
/// runs.
fn line(counts: &Counts) -> String {
    let shown = counts
        .iter()
        .filter(|(state, count)| *state != AttentionState::Idle && *count > 0)
        .map(|(state, count)| format!("{} {count}", state.as_str()));
    shown.collect::<Vec<String>>().join("  ")
}

/// Who has started the daemon.
fn run_by(info: &DaemonInfo) -> String {
    let who = match &info.unit {
        Some(unit) => {
            let unit = escaped(unit);
            format!("systemd ({unit})")
        }
        None => "itself, without systemd".to_owned(),
    };
    format!("{who}; `termctl daemon` reloads, stops and restarts it")
}

/// What the disk lacks, and what is refused for it.
fn disk(shortage: &DiskShortage) -> String {
    let free = bytes(shortage.free);
    let floor = shortage
        .floor
        .map(|floor| format!(", floor {}", bytes(floor)));
    let floor = floor.unwrap_or_default();
    match shortage.kind {
        DiskShortageKind::BelowFloor => format!(
            "below its floor ({free} free{floor}): nothing new is run, and output is kept in part"
        ),
        DiskShortageKind::OutputWaits => format!(
            "full ({free} free{floor}): nothing new is run, and programs that print much wait"
        ),
        DiskShortageKind::Full => format!(
            "full ({free} free{floor}): nothing is run or typed; reading, ending and Ctrl-C work"
        ),
    }
}

/// How many of the orphans are named.
const MAX_NAMED: usize = 8;

/// The processes that no terminal is known for, if there are any.
pub(super) fn orphans(stats: &DaemonStats) -> Option<String> {
    if stats.orphan_count == 0 {
        return None;
    }
    let named = stats.orphans.iter().take(MAX_NAMED);
    let named = named.map(|Orphan { pid, name }| format!("{pid} {}", escaped(name)));
    let named: Vec<String> = named.collect();
    let rest = stats.orphan_count.saturating_sub(named.len() as u64);
    let more = if rest > 0 {
        format!(" and {rest} more")
    } else {
        String::new()
    };
    let named = named.join(", ");
    Some(format!(
        "{named}{more} (of no terminal that is known; they end with termd)"
    ))
}

/// A line for each file of the configuration that is not in force, and why.
pub(super) fn not_in_force(info: &DaemonInfo) -> Vec<String> {
    let faults = [
        ("config.toml", &info.config_fault),
        ("approved.toml", &info.approved_fault),
    ];
    let lines = faults.into_iter().filter_map(|(file, fault)| {
        let fault = fault.as_ref()?;
        Some(format!("{file} is not in force: {}", escaped(fault)))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_said_in_units_with_what_is_refused() {
        for (kind, floor, text) in [
            (
                DiskShortageKind::BelowFloor,
                Some(64 << 20),
                "below its floor (41.2 MiB free, floor 64.0 MiB): nothing new is run",
            ),
            (
                DiskShortageKind::OutputWaits,
                None,
                "full (41.2 MiB free): nothing new is run",
            ),
            (
                DiskShortageKind::Full,
                None,
                "full (41.2 MiB free): nothing is run or typed",
            ),
        ] {
            let free = 43_278_336;
            let said = disk(&DiskShortage { kind, free, floor });
            assert!(said.starts_with(text), "{said}");
        }
    }

    #[test]
    fn orphans_are_named_and_counted() {
        let orphan = |pid| Orphan {
            pid,
            name: "sl\u{1b}eep".to_owned(),
        };
        let mut stats = DaemonStats {
            terminals_running: 0,
            terminals_exited: 0,
            connections: 0,
            spool_bytes: 0,
            unstored_bytes: 0,
            server_rss_bytes: 0,
            database_bytes: 0,
            orphan_count: 0,
            orphans: Vec::new(),
        };
        assert_eq!(orphans(&stats), None);
        stats.orphan_count = 12;
        stats.orphans = (1..=12).map(orphan).collect();
        let text = orphans(&stats).unwrap();
        assert!(text.starts_with("1 sl\\x1beep, 2 "), "{text}");
        assert!(text.contains("8 sl\\x1beep and 4 more ("), "{text}");
    }
}
