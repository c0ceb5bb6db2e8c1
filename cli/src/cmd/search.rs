//! `termctl search`: lines of output and commands, by what is in them, newest first.

use std::env;
use std::io::{self, IsTerminal as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Zoned;
use termd_client::Link;
use termd_client::escape::{escaped, printable};
use termd_proto::command::CommandInfo;
use termd_proto::search::{
    CommandHit, MAX_HITS, MAX_SEARCH_MS, OutputHit, PatternKind, SearchFilter, SearchHit, SearchIn,
    SearchOutput,
};
use termd_proto::terminal::TerminalInfo;
use termd_proto::{Tags, TerminalRef};
use unicode_width::UnicodeWidthStr as _;

use super::show::show;
use super::typed_command::as_typed;
use super::{Context, gaps};
use crate::args::{PatternArgs, SearchArgs, SearchInArg};
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::Cell;
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
        tags: Tags::of(args.tagged.tags).map_err(UsageError::from)?,
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
    let in_terminals = named(&link, &filter).await?;
    let is_for_tty = !context.json && io::stdout().is_terminal();
    let request = SearchOutput {
        within: Some(within),
        raw: args.raw.then_some(true),
        filter: Some(filter),
        context: Some(args.context),
        ..of_pattern(args.pattern.join(" "), args.kind)
    };
    let mut printer = Printer {
        context,
        has_context: args.context > 0,
        printed: 0,
    };
    let time = Duration::from_millis(args.timeout);
    let found = search(&link, request, args.limit, time, &mut printer).await?;
    if within != SearchIn::Commands {
        in_terminals.iter().for_each(gaps::note_all);
    }
    Ok(match found {
        Found::All if printer.printed > 0 => ExitCode::OK,
        Found::All => {
            if is_for_tty {
                output::note("nothing was found");
            }
            ExitCode::FAILED
        }
        Found::AsManyAsWanted => {
            let limit = args.limit;
            output::note(&format!("stopped at --limit {limit}; there may be more"));
            ExitCode::OK
        }
        Found::TooLate => {
            output::note("the time ran out before all was searched (--timeout)");
            ExitCode::TIMED_OUT
        }
    })
}

/// The terminals that the search names, with what is not kept of them.
async fn named(link: &Link, filter: &SearchFilter) -> Result<Vec<TerminalInfo>, CliError> {
    let found = match (&filter.terminal, &filter.label) {
        (Some(terminal), _) => vec![show(link, terminal).await?],
        (None, Some(label)) => gaps::labelled(link, label).await?,
        (None, None) => return Ok(Vec::new()),
    };
    let mut named = Vec::new();
    for info in found {
        // A list does not tell the gaps of those that have ended.
        named.push(show(link, &TerminalRef::from(&info.id)).await?);
    }
    Ok(named)
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

/// Why a search is over.
enum Found {
    /// All was searched.
    All,
    /// There are no fewer hits than were wanted.
    AsManyAsWanted,
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
        for hit in page.hits {
            if wanted == 0 {
                return Ok(Found::AsManyAsWanted);
            }
            sink.take(hit)?;
            wanted -= 1;
        }
        request.cursor = page.next_cursor;
        if request.cursor.is_none() {
            return Ok(Found::All);
        }
    }
    Ok(Found::AsManyAsWanted)
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
    let head = cut(&head.join(" "), display, 0);
    format!(
        "{}\n{}{mark}{}{found}{}\n{}",
        display.in_tone(&head, Some(Tone::Past)),
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
    let head = cut(&(head.join(" ") + " "), display, 0);
    let command = cut(&described(command), display, head.width());
    format!("{}{command}\n", display.in_tone(&head, Some(Tone::Past)))
}

/// On a tty, as much of a text as fits into a row of which this number of columns is taken.
fn cut(text: &str, display: Display, taken: usize) -> String {
    match display.width.map(|width| width.saturating_sub(taken)) {
        Some(0) => String::new(),
        left => Cell::line(text).cut(left.unwrap_or(usize::MAX)),
    }
}

/// `[N] EXIT COMMAND`; `[N] imported COMMAND` where only a recording says it.
fn described(command: &CommandInfo) -> String {
    let exit = match (&command.signal, command.exit_code) {
        _ if command.imported => "imported".to_owned(),
        (Some(signal), _) => escaped(signal),
        (None, Some(code)) => code.to_string(),
        (None, None) => "-".to_owned(),
    };
    format!("[{}] {exit} {}", command.number, as_typed(command))
}

#[cfg(test)]
mod tests {
    use termd_proto::Offset;
    use termd_proto::command::CommandSource;

    use super::*;

    #[test]
    fn on_a_tty_what_is_said_of_a_hit_is_one_row() {
        let command = CommandInfo {
            terminal: "term_aaaaaaaaaaaa".parse().unwrap(),
            number: 3,
            source: CommandSource::Shell,
            text: format!("echo {}", "漢".repeat(200)),
            agent_line: None,
            cwd: None,
            started_at_ms: 0,
            ended_at_ms: None,
            exit_code: Some(0),
            signal: None,
            start: Offset(5),
            end: None,
            output_sha256: None,
            imported: false,
        };
        let output = OutputHit {
            terminal: command.terminal.clone(),
            label: None,
            offset: Offset(7),
            at_ms: Some(0),
            line: "x".repeat(200),
            match_start: 0,
            match_end: 1,
            before: Vec::new(),
            after: Vec::new(),
            command: Some(command.clone()),
        };
        let label = Some("work".parse().unwrap());
        let command = CommandHit { label, command };
        for width in [40, 80, 200] {
            let tty = Display {
                width: Some(width),
                has_color: true,
                ..Display::PLAIN
            };
            let plain = |text: &str| text.replace("\x1b[2m", "").replace("\x1b[m", "");
            let shown = plain(&shown_output(&output, false, tty));
            assert!(shown.lines().next().unwrap().width() <= width, "{shown}");
            assert!(shown.contains(&"x".repeat(10)), "{shown}");
            let shown = plain(&shown_command(&command, tty));
            assert!(shown.trim_end().width() <= width, "{shown}");
        }
        let piped = shown_command(&command, Display::PLAIN);
        assert!(piped.contains(&"漢".repeat(200)), "{piped}");
    }
}
