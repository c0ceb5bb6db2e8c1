//! `termctl policy`: the gate's decision about a command, without running it; and tests of decisions.

mod expectations;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use termd_proto::policy::{
    Effect, ExplainPolicy, ExplainedProfile, Explanation, Judgement, MAX_EXPLAINED, PolicyQuery,
};

use super::Context;
use crate::args::{PolicyArgs, PolicyCheckArgs, PolicyTestArgs, PolicyVerb};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;
use expectations::Expectations;
use termd_client::escape::escaped;
use termd_client::{BadAnswer, ClientError, Link};

/// Most paths of a list for a person. `--json` has all.
const SHOWN: usize = 6;

pub(super) async fn run(context: Context, args: PolicyArgs) -> Result<ExitCode, CliError> {
    match args.verb {
        PolicyVerb::Check(args) => check(context, args).await,
        PolicyVerb::Test(args) => test(context, args).await,
    }
}

async fn check(context: Context, args: PolicyCheckArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let query = PolicyQuery {
        line: args.line,
        argv: (!args.argv.is_empty()).then_some(args.argv),
        program: args.program,
        cwd: args.cwd.or_else(here),
        front: args.front.map(Into::into),
        client: args.client,
        uid: None,
    };
    let config = args.config.as_deref().map(OtherConfig::read).transpose()?;
    let mut explained = ask(&link, vec![query], config).await?;
    let explanation = explained
        .pop()
        .ok_or(BadAnswer::Missing("no answer to a question"))?;
    if context.json {
        output::print_json(&explanation)?;
    } else {
        output::print(explained_as_lines(&explanation).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

async fn test(context: Context, args: PolicyTestArgs) -> Result<ExitCode, CliError> {
    let expectations = Expectations::parse(&read(&args.file)?, &args.file, here().as_deref())?;
    let config = args.config.as_deref().map(OtherConfig::read).transpose()?;
    let link = context.open().await?;
    let mut explained = Vec::new();
    for queries in expectations.queries().chunks(MAX_EXPLAINED) {
        explained.extend(ask(&link, queries.to_vec(), config.clone()).await?);
    }
    let report = expectations.compare(&explained)?;
    if context.json {
        output::print_json(&report)?;
    } else {
        output::print(report.as_lines().as_bytes())?;
    }
    Ok(if report.is_passed() {
        ExitCode::OK
    } else {
        ExitCode::FAILED
    })
}

/// The working directory, as text.
fn here() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.into_os_string().into_string().ok()
}

fn read(path: &Path) -> Result<String, UsageError> {
    fs::read_to_string(path).map_err(|source| UsageError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

/// A config.toml that is not in force.
#[derive(Clone)]
struct OtherConfig {
    text: String,
    path: String,
}

impl OtherConfig {
    fn read(path: &Path) -> Result<Self, UsageError> {
        Ok(Self {
            text: read(path)?,
            path: path.display().to_string(),
        })
    }
}

async fn ask(
    link: &Link,
    queries: Vec<PolicyQuery>,
    config: Option<OtherConfig>,
) -> Result<Vec<Explanation>, ClientError> {
    let (config, config_path) = config.map(|config| (config.text, config.path)).unzip();
    link.repeat(&ExplainPolicy {
        queries,
        config,
        config_path,
    })
    .await
}

/// The verdict in the first line, its consequences in the others.
fn explained_as_lines(explanation: &Explanation) -> String {
    let mut lines = said(&explanation.judgement);
    let mut fact = |name: &str, text: String| {
        let _ = writeln!(lines, "  {name:<8} {text}");
    };
    fact("why", escaped(&explanation.why));
    if let Some((file, line)) = &explanation.rule_at {
        fact("rule", format!("{}:{line}", escaped(file)));
    }
    if let Some(profile) = &explanation.profile {
        fact("profile", escaped(&profile.names.join(" and ")));
        let limits = limits(profile);
        if !limits.is_empty() {
            fact("limits", limits);
        }
        if let Some(sandbox) = &profile.sandbox {
            let mut kinds = sandbox.kinds.join(" and ");
            for (yes, word) in [
                (!sandbox.network, "no network"),
                (sandbox.daemon_socket, "may ask termd"),
                (sandbox.best_effort, "as far as the kernel can"),
                (sandbox.private_tmp, "its own /tmp"),
                (sandbox.bubblewrap, "built by bubblewrap"),
            ] {
                if yes {
                    let _ = write!(kinds, ", {word}");
                }
            }
            fact("sandbox", escaped(&kinds));
            fact("writable", some_of(&sandbox.writable));
            fact("protects", some_of(&sandbox.protected));
            fact("hides", some_of(&sandbox.hidden));
        }
    }
    if !explanation.env_dropped.is_empty() {
        let names = explanation.env_dropped.join(" ");
        fact("drops", escaped(&names));
    }
    if !explanation.env_set.is_empty() {
        fact("sets", escaped(&explanation.env_set.join(" ")));
    }
    lines
}

/// The limits of a profile.
fn limits(profile: &ExplainedProfile) -> String {
    let seconds = |ms: u64| format!("{} s", ms.div_ceil(1_000));
    let bytes = |bytes: u64| format!("{bytes} bytes");
    let scope = profile.scope.unwrap_or_default();
    let limits = [
        ("timeout", profile.timeout_ms.map(seconds)),
        ("idle timeout", profile.idle_timeout_ms.map(seconds)),
        ("output", profile.output_bytes.map(bytes)),
        ("kept output", profile.terminal_quota.map(bytes)),
        ("processor", profile.cpu_seconds.map(|s| format!("{s} s"))),
        ("address space", profile.address_space.map(bytes)),
        ("open files", profile.open_files.map(|n| n.to_string())),
        ("processes", profile.processes.map(|n| n.to_string())),
        ("files of", profile.file_bytes.map(bytes)),
        ("memory of all", scope.memory_bytes.map(bytes)),
        (
            "processors of all",
            scope.cpu_percent.map(|n| format!("{n}%")),
        ),
        ("tasks of all", scope.tasks.map(|n| n.to_string())),
        ("I/O weight", scope.io_weight.map(|n| n.to_string())),
    ];
    let given = limits
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    given.collect::<Vec<_>>().join(", ")
}

/// The first `SHOWN` paths, and the number of the others.
fn some_of(paths: &[String]) -> String {
    let shown = paths.iter().take(SHOWN).map(|path| escaped(path));
    let mut text = shown.collect::<Vec<_>>().join(" ");
    if paths.is_empty() {
        text.push('-');
    }
    if let Some(more) = paths.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// `dangerous: REASON; it asks first`.
fn said(judgement: &Judgement) -> String {
    let effect = match judgement.effect {
        Effect::Allow => "runs",
        Effect::Confirm => "asks first",
        Effect::Deny => "is forbidden",
    };
    let reason = judgement.reason.as_deref().map(escaped);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let rule = match (judgement.approved, judgement.rule) {
        (Some(rule), _) => format!(" (approved rule {rule})"),
        (None, Some(rule)) => format!(" (rule {rule})"),
        (None, None) => String::new(),
    };
    format!("{}{reason}; {effect}{rule}\n", judgement.verdict.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use termd_proto::policy::Verdict;

    #[test]
    fn one_line_says_what_why_and_what_follows() {
        let safe = Judgement {
            verdict: Verdict::Safe,
            reason: None,
            span: None,
            effect: Effect::Allow,
            rule: None,
            approved: None,
            needs_person: false,
        };
        assert_eq!(said(&safe), "safe; runs\n");
        let denied = Judgement {
            verdict: Verdict::Dangerous,
            reason: Some("it\u{1b}x".to_owned()),
            effect: Effect::Deny,
            rule: Some(2),
            ..safe
        };
        assert_eq!(
            said(&denied),
            "dangerous: it\\x1bx; is forbidden (rule 2)\n"
        );
    }
}
