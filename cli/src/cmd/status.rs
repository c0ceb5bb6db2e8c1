//! `termctl status`: whether the daemon runs, and what it holds. Never starts the daemon.

use serde_json::json;
use termd_client::escape::escaped;
use termd_client::timestamp::utc;
use termd_client::{Link, StartPolicy};
use termd_proto::daemon::{DaemonStats, GetDaemonInfo, GetDaemonStats, Orphan};

use super::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{bytes, facts_as_lines};

pub(super) async fn run(context: Context) -> Result<ExitCode, CliError> {
    let link = Link::open(StartPolicy::Never).await?;
    let info = link.repeat(&GetDaemonInfo {}).await?;
    let stats = link.repeat(&GetDaemonStats {}).await?;
    if context.json {
        output::print_json(&json!({ "daemon": info, "stats": stats }))?;
        return Ok(ExitCode::OK);
    }
    let facts = [
        ("version", escaped(&info.version)),
        (
            "running",
            format!(
                "keeper {}, server {} since {}",
                info.keeper_pid,
                info.server_pid,
                utc(info.server_started_at_ms)
            ),
        ),
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
    let faults = [
        ("config.toml", &info.config_fault),
        ("approved.toml", &info.approved_fault),
    ];
    for (file, fault) in faults {
        if let Some(fault) = fault {
            let said = format!("{file} is not in force: {}\n", escaped(fault));
            output::print(said.as_bytes())?;
        }
    }
    Ok(ExitCode::OK)
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

#[cfg(test)]
mod tests {
    use super::*;

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
