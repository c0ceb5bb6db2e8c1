//! `termctl search`: lines of output and commands, by what is in them, newest first.

use std::iter;

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Zoned;
use termd_client::Link;
use termd_client::escape::{escaped, printable};
use termd_proto::TerminalRef;
use termd_proto::command::CommandInfo;
use termd_proto::search::{
    CommandHit, MAX_HITS, MAX_SEARCH_MS, OutputHit, PatternKind, SearchFilter, SearchHit, SearchIn,
    SearchOutput,
};

use super::Context;
use super::history::as_typed;
use crate::args::{PatternArgs, SearchArgs, SearchInArg};
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: SearchArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let now = Zoned::now();
    let label = args.label.map(|label| {
        let parsed = label.parse();
        parsed.map_err(|_| UsageError::NoLabel(label))
    });
    let filter = SearchFilter {
        terminal: args.terminal.map(TerminalRef),
        label: label.transpose()?,
        cwd: args.cwd.map(|cwd| absolute(&cwd)),
        since_ms: args.since.map(|moment| moment.at_ms(&now)),
        until_ms: args.until.map(|moment| moment.at_ms(&now)),
        failed: args.failed.then_some(true),
    };
    let within = match args.r#in {
        _ if args.raw => SearchIn::Output,
        SearchInArg::Output => SearchIn::Output,
        SearchInArg::Commands => SearchIn::Commands,
        SearchInArg::Both => SearchIn::Both,
    };
    let request = SearchOutput {
        within: Some(within),
        raw: args.raw.then_some(true),
        filter: Some(filter),
        context: Some(args.context),
        ..of_pattern(args.pattern, args.kind)
    };
    let mut printer = Printer {
        context,
        has_context: args.context > 0,
        printed: 0,
    };
    let time = Duration::from_millis(args.timeout);
    let found = search(&link, request, args.limit, time, &mut printer).await?;
    Ok(match found {
        Found::InTime if printer.printed > 0 => ExitCode::OK,
        Found::InTime => ExitCode::FAILED,
        Found::TooLate => {
            output::note("the time ran out before all was searched (--timeout)");
            ExitCode::TIMED_OUT
        }
    })
}

/// What is searched for.
fn of_pattern(pattern: String, args: PatternArgs) -> SearchOutput {
    let kind = if args.regex {
        PatternKind::Regex
    } else if args.fixed {
        PatternKind::Fixed
    } else {
        PatternKind::Words
    };
    SearchOutput {
        pattern,
        kind: Some(kind),
        ignore_case: Some(args.ignore_case),
        ..SearchOutput::default()
    }
}

/// Commands that match, newest first.
pub(super) async fn commands(
    link: &Link,
    (pattern, kind): (String, PatternArgs),
    filter: SearchFilter,
    limit: u32,
) -> Result<Vec<CommandInfo>, CliError> {
    let request = SearchOutput {
        within: Some(SearchIn::Commands),
        filter: Some(filter),
        ..of_pattern(pattern, kind)
    };
    let mut commands = Commands(Vec::new());
    let time = Duration::from_millis(MAX_SEARCH_MS);
    search(link, request, limit, time, &mut commands).await?;
    Ok(commands.0)
}

/// Takes hits as they come.
trait Sink {
    fn take(&mut self, hit: SearchHit) -> Result<(), CliError>;
}

struct Commands(Vec<CommandInfo>);

impl Sink for Commands {
    fn take(&mut self, hit: SearchHit) -> Result<(), CliError> {
        if let SearchHit::Command(command) = hit {
            self.0.push(command.command);
        }
        Ok(())
    }
}

/// Whether all was searched, or as much as was wanted.
enum Found {
    InTime,
    TooLate,
}

async fn search(
    link: &Link,
    mut request: SearchOutput,
    limit: u32,
    time: Duration,
    sink: &mut impl Sink,
) -> Result<Found, CliError> {
    let began = Instant::now();
    let mut wanted = limit;
    while wanted > 0 {
        let left = time.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Ok(Found::TooLate);
        }
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        request.limit = Some(wanted.min(MAX_HITS));
        request.timeout_ms = Some(left_ms.clamp(1, MAX_SEARCH_MS));
        let page = link.repeat(&request).await?;
        // Lines of one offset are in one page, which may then be longer.
        for hit in page.hits.into_iter().take(wanted as usize) {
            sink.take(hit)?;
            wanted -= 1;
        }
        request.cursor = page.next_cursor;
        if request.cursor.is_none() {
            break;
        }
    }
    Ok(Found::InTime)
}

fn absolute(directory: &str) -> String {
    let path = Path::new(directory);
    let path = path.canonicalize().unwrap_or_else(|_| {
        let base: PathBuf = env::current_dir().unwrap_or_default();
        base.join(path)
    });
    path.to_string_lossy().into_owned()
}

/// Prints hits: for a person a line that says where, and below it the lines.
struct Printer {
    context: Context,
    has_context: bool,
    printed: u64,
}

impl Sink for Printer {
    fn take(&mut self, hit: SearchHit) -> Result<(), CliError> {
        let separates = self.has_context && self.printed > 0;
        self.printed += 1;
        if self.context.json {
            output::print_json(&hit)?;
            return Ok(());
        }
        let display = self.context.display;
        let text = match hit {
            SearchHit::Output(hit) => shown_output(&hit, self.has_context, display),
            SearchHit::Command(command) => shown_command(&command, display),
        };
        if separates {
            output::print(b"--\n")?;
        }
        output::print(text.as_bytes())?;
        Ok(())
    }
}

/// `TERMINAL@OFFSET (LABEL) TIME [N] EXIT COMMAND`, and below it the line, with a mark where other lines stand
/// around it.
fn shown_output(hit: &OutputHit, has_context: bool, display: Display) -> String {
    let label = hit.label.iter().map(|label| format!("({label})"));
    let time = hit.at_ms.iter().map(|at_ms| display.time(*at_ms));
    let command = hit.command.iter().map(described);
    let place = format!("{}@{}", hit.terminal, hit.offset);
    let head: Vec<String> = iter::once(place)
        .chain(label)
        .chain(time)
        .chain(command)
        .collect();
    let indented = |line: &String| format!("  {}\n", printable(line));
    let (line, found) = (&hit.line, hit.match_start..hit.match_end);
    let (before, rest) = line.split_at_checked(found.start).unwrap_or((line, ""));
    let (found, after) = rest.split_at_checked(found.len()).unwrap_or((rest, ""));
    let found = match found {
        "" => String::new(),
        found => display.in_tone(&printable(found), Some(Tone::Bad)),
    };
    let mark = if has_context { "> " } else { "  " };
    format!(
        "{}\n{}{mark}{}{found}{}\n{}",
        display.in_tone(&head.join(" "), Some(Tone::Past)),
        hit.before.iter().map(indented).collect::<String>(),
        printable(before),
        printable(after),
        hit.after.iter().map(indented).collect::<String>(),
    )
}

/// `TERMINAL (LABEL) TIME [N] EXIT COMMAND`.
fn shown_command(hit: &CommandHit, display: Display) -> String {
    let command = &hit.command;
    let label = hit.label.iter().map(|label| format!("({label})"));
    let head: Vec<String> = iter::once(command.terminal.to_string())
        .chain(label)
        .chain([display.time(command.started_at_ms)])
        .collect();
    format!(
        "{} {}\n",
        display.in_tone(&head.join(" "), Some(Tone::Past)),
        described(command)
    )
}

/// `[N] EXIT COMMAND`.
fn described(command: &CommandInfo) -> String {
    let exit = match (&command.signal, command.exit_code) {
        (Some(signal), _) => escaped(signal),
        (None, Some(code)) => code.to_string(),
        (None, None) => "-".to_owned(),
    };
    format!("[{}] {exit} {}", command.number, as_typed(command))
}
