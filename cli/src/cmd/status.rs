//! `termctl status`: whether the daemon runs, and what it holds. Never starts the daemon.

use serde_json::json;
use termd_client::escape::escaped;
use termd_client::timestamp::utc;
use termd_client::{Link, StartPolicy};
use termd_proto::daemon::{GetDaemonInfo, GetDaemonStats};

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
