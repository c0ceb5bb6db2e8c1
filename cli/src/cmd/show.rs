//! `termctl show`: everything that the daemon knows of one terminal.

use termd_client::escape::{command_line, escaped, terminal_command};
use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::daemon::GetDaemonStats;
use termd_proto::terminal::{
    CloseCause, Confinement, EndCause, Gap, ScopeLimits, ShowTerminal, TerminalInfo,
};

use super::Context;
use super::status::orphans;
use crate::args::ShowArgs;
use crate::display::Display;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::facts_as_lines;

pub(super) async fn run(context: Context, args: ShowArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let info = show(&link, &TerminalRef(args.terminal)).await?;
    if context.json {
        output::print_json(&info)?;
    } else {
        output::print(render(&info, context.display).as_bytes())?;
        let stats = link.repeat(&GetDaemonStats {}).await?;
        if let Some(orphans) = orphans(&stats) {
            output::print(facts_as_lines(&[("orphans", orphans)]).as_bytes())?;
        }
    }
    Ok(ExitCode::OK)
}

/// Reads a terminal's description.
pub(super) async fn show(link: &Link, id: &TerminalRef) -> Result<TerminalInfo, ClientError> {
    link.repeat(&ShowTerminal { id: id.clone() }).await
}

/// One fact a line.
fn render(info: &TerminalInfo, display: Display) -> String {
    let or_dash = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), escaped);
    let exit = info
        .exit_status
        .as_ref()
        .map(|status| match (&status.signal, status.exit_code) {
            (Some(signal), _) => format!("ended by {signal}"),
            (None, Some(code)) => format!("exited with {code}"),
            (None, None) => "ended".to_owned(),
        });
    let owner = &info.owner;
    let mut who = format!(
        "{} (uid {}, pid {})",
        owner.front.as_str(),
        owner.uid,
        owner.pid
    );
    for part in [&owner.client, &owner.session, &owner.exe]
        .into_iter()
        .flatten()
    {
        who.push(' ');
        who.push_str(&escaped(part));
    }
    let tags = (!info.tags.is_empty()).then(|| info.tags.to_string());
    let facts = [
        ("id", info.id.to_string()),
        (
            "label",
            or_dash(info.label.as_ref().map(termd_proto::Label::as_str)),
        ),
        ("tags", or_dash(tags.as_deref())),
        ("state", info.state.as_str().to_owned()),
        ("exit", or_dash(exit.as_deref())),
        ("ended by", or_dash(info.end_cause.map(end_cause))),
        ("closed by", or_dash(info.close_cause.map(close_cause))),
        // Quoting has already escaped control characters.
        ("command", dash_if_empty(terminal_command(info))),
        ("directory", dash_if_empty(escaped(&info.cwd))),
        (
            "pid",
            or_dash((info.pid > 0).then(|| info.pid.to_string()).as_deref()),
        ),
        ("size", format!("{}x{}", info.cols, info.rows)),
        ("owner", who),
        ("created", display.time(info.created_at_ms)),
        ("last activity", display.time(info.last_activity_ms)),
        (
            "idle timeout",
            or_dash(info.idle_timeout_ms.map(duration).as_deref()),
        ),
        (
            "exited",
            or_dash(info.exited_at_ms.map(|at| display.time(at)).as_deref()),
        ),
        ("output", format!("bytes {} to {}", info.start, info.end)),
    ];
    let mut lines = facts_as_lines(&facts);
    if let Some(at_ms) = info.imported_at_ms {
        lines.push_str(&facts_as_lines(&[("imported", display.time(at_ms))]));
    }
    if info.agent_line.is_some() {
        lines.push_str(&facts_as_lines(&[("argv", command_line(&info.argv))]));
    }
    for Gap { start, end, cause } in info.not_kept() {
        let what = format!("bytes {start} to {end} ({})", cause.as_str());
        lines.push_str(&facts_as_lines(&[("not kept", what)]));
    }
    if let Some(confinement) = &info.confinement {
        lines.push_str(&facts_as_lines(&confinement_facts(confinement)));
    }
    lines
}

/// A fact, or a dash where there is none: a recording does not say everything.
fn dash_if_empty(fact: String) -> String {
    if fact.is_empty() {
        return "-".to_owned();
    }
    fact
}

/// The facts of a terminal's confinement.
fn confinement_facts(confinement: &Confinement) -> [(&'static str, String); 8] {
    let or_dash = |text: String| dash_if_empty(escaped(&text));
    let missing = confinement.missing.iter();
    let missing = missing.map(|missing| format!("{} ({})", missing.wall, missing.reason));
    let quota = confinement.output_bytes;
    [
        ("profile", or_dash(confinement.profiles.join(" and "))),
        (
            "timeout",
            or_dash(confinement.timeout_ms.map(duration).unwrap_or_default()),
        ),
        (
            "quota",
            or_dash(
                quota
                    .map(|bytes| format!("{bytes} bytes"))
                    .unwrap_or_default(),
            ),
        ),
        (
            "scope",
            or_dash(confinement.scope.map(scope).unwrap_or_default()),
        ),
        (
            "kept",
            or_dash(
                (confinement.terminal_quota)
                    .map(|bytes| format!("{bytes} bytes"))
                    .unwrap_or_default(),
            ),
        ),
        ("sandbox", or_dash(confinement.sandbox.join(" and "))),
        ("held", or_dash(confinement.held.join(" "))),
        ("not held", or_dash(missing.collect::<Vec<_>>().join(", "))),
    ]
}

/// The limits of a command and its children together.
fn scope(limits: ScopeLimits) -> String {
    let words = [
        limits
            .memory_bytes
            .map(|bytes| format!("{bytes} bytes of memory")),
        limits
            .cpu_percent
            .map(|percent| format!("{percent}% of a processor")),
        limits.tasks.map(|tasks| format!("{tasks} tasks")),
        limits
            .io_weight
            .map(|weight| format!("I/O weight {weight}")),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The limit that ended the command.
fn end_cause(cause: EndCause) -> &'static str {
    match cause {
        EndCause::Timeout => "the timeout of its profile",
        EndCause::OutputBytes => "the output quota of its profile",
        EndCause::OutOfMemory => "too little memory: the kernel killed it",
        EndCause::CpuTime => "the processor time of its profile",
        EndCause::FileBytes => "the file size of its profile",
        EndCause::IdleTimeout => "its idle timeout",
    }
}

/// The reason why the daemon closed the terminal.
pub(super) fn close_cause(cause: CloseCause) -> &'static str {
    match cause {
        CloseCause::Idle => "its idle timeout",
        CloseCause::Disconnect => "the end of its connection",
        CloseCause::CallEnd => "the end of its call",
        CloseCause::AgentEnd => "the end of its agent",
    }
}

/// A duration as options read it, exact: `1h30m`, `1s500ms`.
fn duration(ms: u64) -> String {
    let parts = [
        (ms / 86_400_000, "d"),
        (ms / 3_600_000 % 24, "h"),
        (ms / 60_000 % 60, "m"),
        (ms / 1_000 % 60, "s"),
        (ms % 1_000, "ms"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let words = parts.flat_map(|(count, unit)| [count.to_string(), unit.to_owned()]);
    let text: String = words.collect();
    if text.is_empty() {
        "0s".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_shown_as_it_is_read() {
        for (ms, want) in [
            (0, "0s"),
            (1_500, "1s500ms"),
            (5_400_000, "1h30m"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(duration(ms), want);
            let read = termd_proto::duration::parse(want).unwrap();
            assert_eq!(read.as_millis(), u128::from(ms));
        }
    }
}
