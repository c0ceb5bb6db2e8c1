//! `termctl read`: a terminal's output, from any offset, or the lines of it that match.

mod line_filter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use termd_client::refusal::wrong_param;
use termd_client::{BadAnswer, Form, OutputReader, Page};
use termd_proto::terminal::{Gap, MAX_READ_BYTES, OutputStream, ReadFrom};
use termd_proto::{Offset, TerminalRef};

use self::line_filter::{Line, LineFilter, Wanted};
use super::Context;
use crate::args::{LinesArgs, ReadArgs};
use crate::direction_marks::for_stdout;
use crate::display::{Display, Tone};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::json;
use crate::output::{self, Pump};
use crate::usage_error::UsageError;

/// Bytes a page while following: as much as a pipe's reader takes at once.
const FOLLOW_BYTES: u64 = 256 * 1024;

/// Lines around each match of `--errors`: what a compiler says of it.
const CONTEXT_OF_ERRORS: usize = 3;

/// The text may end within a coloured line.
const STYLE_OFF: &[u8] = b"\x1b[m";

pub(super) async fn run(context: Context, args: ReadArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let terminal = TerminalRef(args.terminal.clone());
    let from = match (args.since, args.tail) {
        (Some(offset), _) => ReadFrom::Offset(Offset(offset)),
        (None, Some(lines)) => ReadFrom::TailLines(lines),
        (None, None) => ReadFrom::Offset(Offset::ZERO),
    };
    let filter = line_filter(&args.lines)?;
    let shown = match &filter {
        Some(_) => Shown::Plain,
        None => shown(&args, context),
    };
    let mut reader = OutputReader::new(&link, terminal, from).in_form(shown.form());
    if let Some(number) = args.command {
        reader = reader.of_command(number);
    }
    if let Some(stream) = stream(&args) {
        reader = reader.of_stream(stream);
    }
    let mut pages = Pages {
        left: args.bytes.unwrap_or(u64::MAX),
        follow: args.follow,
        done: false,
    };
    let done = match (filter, context.json, args.follow) {
        (Some(filter), _, _) => print_lines(&mut reader, &mut pages, filter, context).await,
        (None, true, true) => follow_json(&mut reader, &mut pages, shown).await,
        (None, true, false) => whole_json(&mut reader, &mut pages, shown).await,
        (None, false, _) => copy(&mut reader, &mut pages, shown).await,
    };
    done.map_err(|error| of_one_output(error, &args))
}

fn line_filter(args: &LinesArgs) -> Result<Option<LineFilter>, UsageError> {
    let context = args.context.unwrap_or_default();
    Ok(match &args.grep {
        Some(pattern) => {
            let wanted = Wanted::pattern(pattern, args.ignore_case)?;
            Some(LineFilter::new(wanted, context))
        }
        None if args.errors => {
            let context = args.context.unwrap_or(CONTEXT_OF_ERRORS);
            Some(LineFilter::new(Wanted::Errors, context))
        }
        None if args.context.is_some() => return Err(UsageError::ContextOfNothing),
        None => None,
    })
}

/// The same, where there are no two outputs to choose from.
fn of_one_output(error: CliError, args: &ReadArgs) -> CliError {
    let wrong = error
        .refusal()
        .and_then(|refusal| wrong_param(refusal, "stream"));
    match (wrong, stream(args)) {
        (Some(_), Some(stream)) => UsageError::OneOutput {
            terminal: args.terminal.clone(),
            option: match stream {
                OutputStream::Stdout => "--stdout",
                OutputStream::Stderr => "--stderr",
            },
        }
        .into(),
        _ => error,
    }
}

fn stream(args: &ReadArgs) -> Option<OutputStream> {
    match (args.stream.stdout, args.stream.stderr) {
        (true, _) => Some(OutputStream::Stdout),
        (false, true) => Some(OutputStream::Stderr),
        (false, false) => None,
    }
}

/// The form in which output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Exact,
    /// Plain text by the daemon, with escape sequences and redraws applied.
    Plain,
    /// Plain text with its colours, and nothing else that acts on a tty.
    Styled,
}

impl Shown {
    fn form(self) -> Form {
        match self {
            Self::Exact => Form::Exact,
            Self::Plain => Form::Plain,
            Self::Styled => Form::Styled,
        }
    }
}

fn shown(args: &ReadArgs, context: Context) -> Shown {
    if args.raw {
        Shown::Exact
    } else if context.json || args.plain || !context.display.has_color {
        Shown::Plain
    } else {
        Shown::Styled
    }
}

/// The pages that are left to read.
struct Pages {
    left: u64,
    follow: bool,
    done: bool,
}

impl Pages {
    /// The next page; `None` after the last one.
    async fn next(&mut self, reader: &mut OutputReader<'_>) -> Result<Option<Page>, CliError> {
        if self.done {
            return Ok(None);
        }
        let page = if self.follow {
            reader.follow(self.left.min(FOLLOW_BYTES)).await?
        } else {
            reader.page(self.left.min(MAX_READ_BYTES)).await?
        };
        if let Some(note) = page.gap_note() {
            output::note(&note);
        }
        self.left -= (page.bytes.len() as u64).min(self.left);
        self.done = self.left == 0 || page.cut || page.is_last() || (page.at_end && !self.follow);
        Ok(Some(page))
    }
}

async fn copy(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    shown: Shown,
) -> Result<ExitCode, CliError> {
    let mut pump = Pump::start()?;
    while let Some(page) = pages.next(reader).await? {
        let bytes = page.bytes;
        pump.write(match shown {
            Shown::Exact => bytes,
            Shown::Plain | Shown::Styled => for_stdout(&bytes).into_owned(),
        })
        .await?;
    }
    if shown == Shown::Styled {
        pump.write(STYLE_OFF.to_vec()).await?;
    }
    pump.finish().await?;
    Ok(ExitCode::OK)
}

/// Prints the lines that match, and those around them, as grep(1) does; in JSON an object a line.
async fn print_lines(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    mut filter: LineFilter,
    context: Context,
) -> Result<ExitCode, CliError> {
    let mut pump = Pump::start()?;
    let mut last = None;
    loop {
        let page = pages.next(reader).await?;
        let lines = match &page {
            Some(page) => filter.push(&String::from_utf8_lossy(&page.bytes)),
            None => filter.finish(),
        };
        let mut text = Vec::new();
        for line in lines {
            if context.json {
                text.append(&mut json::to_vec(&line).map_err(BadAnswer::from)?);
                text.push(b'\n');
                continue;
            }
            let is_next = last.is_none_or(|last| last + 1 == line.number);
            if !is_next && filter.has_context() {
                text.extend_from_slice(b"--\n");
            }
            last = Some(line.number);
            text.extend_from_slice(numbered(&line, context.display).as_bytes());
        }
        if !context.json {
            text = for_stdout(&text).into_owned();
        }
        pump.write(text).await?;
        if page.is_none() {
            break;
        }
    }
    pump.finish().await?;
    Ok(if filter.has_matched() {
        ExitCode::OK
    } else {
        ExitCode::FAILED
    })
}

/// `N:line`, or `N-line` around a match, which is lit.
fn numbered(line: &Line, display: Display) -> String {
    let (before, rest) = line.text.split_at(line.found.start);
    let (found, after) = rest.split_at(line.found.len());
    let found = match found {
        "" => String::new(),
        found => display.in_tone(found, Some(Tone::Bad)),
    };
    let mark = if line.matches { ':' } else { '-' };
    format!("{}{mark}{before}{found}{after}\n", line.number)
}

/// Prints an object for each page, one a line.
async fn follow_json(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    shown: Shown,
) -> Result<ExitCode, CliError> {
    while let Some(page) = pages.next(reader).await? {
        let gaps: Vec<Gap> = page.gap.into_iter().collect();
        output::print_json(&object(&page, page.start, &page.bytes, &gaps, shown))?;
    }
    Ok(ExitCode::OK)
}

/// Prints one object for all pages.
async fn whole_json(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    shown: Shown,
) -> Result<ExitCode, CliError> {
    let mut bytes = Vec::new();
    let mut start = None;
    let mut last = None;
    let mut gaps = Vec::new();
    while let Some(mut page) = pages.next(reader).await? {
        start.get_or_insert(page.start);
        gaps.extend(page.gap);
        bytes.append(&mut page.bytes);
        last = Some(page);
    }
    let (Some(start), Some(last)) = (start, last) else {
        return Ok(ExitCode::OK);
    };
    output::print_json(&object(&last, start, &bytes, &gaps, shown))?;
    Ok(ExitCode::OK)
}

/// `{start, end, text | data, state, exit_status, gaps?}`.
fn object(page: &Page, start: Offset, bytes: &[u8], gaps: &[Gap], shown: Shown) -> Value {
    let (member, value) = match shown.form() {
        Form::Exact => ("data", STANDARD.encode(bytes)),
        Form::Plain | Form::Styled => ("text", String::from_utf8_lossy(bytes).into_owned()),
    };
    let mut object = serde_json::json!({
        "start": start,
        "end": page.end,
        member: value,
        "state": page.state,
        "exit_status": page.exit_status,
    });
    if !gaps.is_empty() {
        object["gaps"] = serde_json::json!(gaps);
    }
    object
}
