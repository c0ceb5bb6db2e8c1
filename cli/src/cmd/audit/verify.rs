//! `termctl audit verify`: checks the chain, and compares it with its heads in the journal.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use jiff::Zoned;
use serde_json::json;
use termd_client::escape::escaped;
use termd_client::timestamp::utc;
use termd_client::{Link, socket_path};
use termd_proto::audit::{
    ANCHOR_MESSAGE_ID, AuditVerdict, MAX_HASHES, ReadAuditHashes, VerifyAudit,
};
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::super::Context;
use super::anchors::{Anchor, Entry, Report, entry};
use crate::args::AuditVerifyArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// Paths of journalctl(1). Not from `PATH`, which the forger of a chain may have set.
const JOURNALCTL: [&str; 3] = [
    "/usr/bin/journalctl",
    "/bin/journalctl",
    "/run/current-system/sw/bin/journalctl",
];
/// The fields of an entry that are read.
const FIELDS: &str =
    "MESSAGE_ID,TERMD_AUDIT_SEQ,TERMD_AUDIT_HASH,TERMD_DATABASE,_UID,_EXE,_TRANSPORT";
/// The longest line of the journal. An anchor has some hundred bytes and a path.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// The source of heads.
enum Source {
    Journal,
    File(PathBuf),
}

pub(super) async fn verify(
    context: Context,
    link: &Link,
    args: AuditVerifyArgs,
) -> Result<ExitCode, CliError> {
    let verdict = link.repeat(&VerifyAudit {}).await?;
    let source = match (args.journal, args.anchors) {
        (_, Some(file)) => Some(Source::File(file)),
        (true, None) => Some(Source::Journal),
        (false, None) => None,
    };
    let since = args
        .since
        .map_or(i64::MIN, |moment| moment.at_ms(&Zoned::now()));
    let report = match source {
        Some(source) => Some(compare(link, source, since).await?),
        None => None,
    };
    let code = exit_code(&verdict, report.as_ref());
    if context.json {
        let mut answer = json!(verdict);
        if let (Some(report), Some(fields)) = (&report, answer.as_object_mut()) {
            fields.insert("journal".to_owned(), json!(report));
        }
        output::print_json(&answer)?;
    } else {
        let mut text = chain_line(&verdict);
        if let Some(report) = &report {
            text.push_str(&journal_lines(report, &verdict));
        }
        output::print(text.as_bytes())?;
    }
    Ok(code)
}

fn exit_code(verdict: &AuditVerdict, report: Option<&Report>) -> ExitCode {
    let has_bad = verdict.first_bad.is_some()
        || verdict.database_fault.is_some()
        || report.is_some_and(|report| report.bad_count > 0);
    if has_bad {
        ExitCode::FAILED
    } else if report.is_some_and(|report| report.compared == 0) {
        ExitCode::NO_ANCHORS
    } else {
        ExitCode::OK
    }
}

fn chain_line(verdict: &AuditVerdict) -> String {
    let chain = if verdict.first_bad.is_none() {
        format!(
            "{} records, none changed or missing; the last one's hash is {}\n",
            verdict.checked,
            (verdict.head.as_deref()).map_or_else(|| "-".to_owned(), escaped)
        )
    } else {
        bad_lines(verdict)
    };
    match &verdict.database_fault {
        None => chain,
        Some(fault) => format!("{chain}the database is not whole: {}\n", escaped(fault)),
    }
}

fn bad_lines(verdict: &AuditVerdict) -> String {
    // A daemon of before names one.
    let only = verdict.bad.is_empty().then_some(verdict.first_bad.as_ref());
    let bad = verdict.bad.iter().chain(only.flatten());
    let named = verdict.bad.len() as u64;
    let more = verdict.bad_count.saturating_sub(named);
    let more = (more > 0).then(|| format!("and {more} more\n"));
    bad.map(|bad| format!("record {} is bad: {}\n", bad.seq, escaped(&bad.reason)))
        .chain(more)
        .collect()
}

fn journal_lines(report: &Report, verdict: &AuditVerdict) -> String {
    let mut lines: Vec<String> = Vec::new();
    for bad in &report.bad {
        let when = utc(bad.at_ms);
        lines.push(format!(
            "record {} of {when}: {}",
            bad.seq,
            escaped(&bad.reason)
        ));
    }
    let unnamed = report.bad_count - report.bad.len() as u64;
    if unnamed > 0 {
        lines.push(format!("and {unnamed} more"));
    }
    match (report.newest, report.newest_at_ms) {
        (Some(newest), Some(at_ms)) => {
            let state = if report.bad_count == 0 {
                "all agree"
            } else {
                "not all agree"
            };
            lines.push(format!(
                "{} heads in the journal, {state}; the newest is record {newest}, of {}",
                report.compared,
                utc(at_ms)
            ));
        }
        _ => lines.push(
            "the journal has no head of this database: nothing shows whether its end is missing"
                .to_owned(),
        ),
    }
    if report.foreign > 0 {
        lines.push(format!(
            "{} entries that look like heads are by other programs or users, and were left out",
            report.foreign
        ));
    }
    if report.elsewhere > 0 {
        lines.push(format!("{} heads are of other databases", report.elsewhere));
    }
    if verdict.checked == 0 && report.dropped > 0 {
        lines.push("retention has dropped the records that the journal was told of".to_owned());
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

async fn compare(link: &Link, source: Source, since_ms: i64) -> Result<Report, CliError> {
    let mut report = Report::default();
    match source {
        Source::File(path) => {
            let file = File::open(&path).await;
            let file = file.map_err(|error| CliError::Io("cannot read the anchors", error))?;
            compare_lines(link, file, since_ms, &mut report).await?;
        }
        Source::Journal => {
            let Some(mut journalctl) = journalctl()? else {
                output::note("there is no journalctl here, and so no journal to read");
                return Ok(report);
            };
            if let Some(lines) = journalctl.stdout.take() {
                compare_lines(link, lines, since_ms, &mut report).await?;
            }
            let ended = journalctl.wait().await;
            let ended = ended.map_err(|error| CliError::Io("cannot wait for journalctl", error))?;
            // journalctl also fails if no entry matches; then there was nothing to compare.
            if !ended.success() && report.compared > 0 {
                output::note("journalctl failed half-way: some heads may not have been compared");
            }
        }
    }
    Ok(report)
}

/// Starts journalctl(1) over every journal that this user may read, for the heads of this user's
/// chains.
fn journalctl() -> Result<Option<Child>, CliError> {
    let Some(program) = JOURNALCTL.into_iter().find(|path| Path::new(path).exists()) else {
        return Ok(None);
    };
    let child = Command::new(program)
        .args(["--no-pager", "--quiet", "--output=json"])
        .arg(format!("--output-fields={FIELDS}"))
        .arg(format!("MESSAGE_ID={ANCHOR_MESSAGE_ID}"))
        .arg(format!("_UID={}", socket_path::own_uid()))
        // The environment must not choose what journalctl reads.
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| CliError::Io("cannot start journalctl", error))?;
    Ok(Some(child))
}

/// Compares a page of heads at a time, so that a year of heads takes little memory.
async fn compare_lines(
    link: &Link,
    lines: impl AsyncRead + Unpin,
    since_ms: i64,
    report: &mut Report,
) -> Result<(), CliError> {
    let mut lines = BufReader::new(lines);
    let mut page: Vec<Anchor> = Vec::new();
    let mut line = Vec::new();
    let cannot = |error| CliError::Io("cannot read the journal", error);
    loop {
        line.clear();
        let got = (&mut lines)
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .await;
        if got.map_err(cannot)? == 0 {
            return compare_page(link, &mut page, report).await;
        }
        match entry(&String::from_utf8_lossy(&line), socket_path::own_uid()) {
            Entry::Anchor(anchor) if anchor.at_ms >= since_ms => page.push(anchor),
            Entry::Foreign => report.foreign += 1,
            Entry::Anchor(_) | Entry::Other => {}
        }
        if page.len() == MAX_HASHES {
            compare_page(link, &mut page, report).await?;
        }
    }
}

async fn compare_page(
    link: &Link,
    page: &mut Vec<Anchor>,
    report: &mut Report,
) -> Result<(), CliError> {
    if page.is_empty() {
        return Ok(());
    }
    let records: Vec<i64> = page.iter().map(|anchor| anchor.seq).collect();
    let chain = link
        .repeat(&ReadAuditHashes {
            records: records.clone(),
        })
        .await?;
    report.compare(page, &chain);
    page.clear();
    Ok(())
}
