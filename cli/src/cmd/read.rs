//! `termctl read`: a terminal's output, from any offset.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_client::refusal::wrong_param;
use termd_client::{Form, OutputReader, Page};
use termd_proto::terminal::{Gap, MAX_READ_BYTES, OutputStream, ReadFrom};
use termd_proto::{Offset, TerminalRef};

use super::Context;
use crate::args::ReadArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output::{self, Pump};
use crate::usage_error::UsageError;

/// Bytes a page while following: as much as a pipe's reader takes at once.
const FOLLOW_BYTES: u64 = 256 * 1024;

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
    let shown = shown(&args, context);
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
    match (context.json, args.follow) {
        (true, true) => follow_json(&mut reader, &mut pages, shown).await,
        (true, false) => whole_json(&mut reader, &mut pages, shown).await,
        (false, _) => copy(&mut reader, &mut pages, shown).await,
    }
    .map_err(|error| of_one_output(error, &args))?;
    Ok(ExitCode::OK)
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
) -> Result<(), CliError> {
    let mut pump = Pump::start()?;
    while let Some(page) = pages.next(reader).await? {
        pump.write(page.bytes).await?;
    }
    if shown == Shown::Styled {
        pump.write(STYLE_OFF.to_vec()).await?;
    }
    pump.finish().await
}

/// Prints an object for each page, one a line.
async fn follow_json(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    shown: Shown,
) -> Result<(), CliError> {
    while let Some(page) = pages.next(reader).await? {
        let gaps: Vec<Gap> = page.gap.into_iter().collect();
        output::print_json(&object(&page, page.start, &page.bytes, &gaps, shown))?;
    }
    Ok(())
}

/// Prints one object for all pages.
async fn whole_json(
    reader: &mut OutputReader<'_>,
    pages: &mut Pages,
    shown: Shown,
) -> Result<(), CliError> {
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
        return Ok(());
    };
    output::print_json(&object(&last, start, &bytes, &gaps, shown))
}

/// `{start, end, text | data, state, exit_status, gaps?}`.
fn object(page: &Page, start: Offset, bytes: &[u8], gaps: &[Gap], shown: Shown) -> Value {
    let (member, value) = match shown.form() {
        Form::Exact => ("data", STANDARD.encode(bytes)),
        Form::Plain | Form::Styled => ("text", String::from_utf8_lossy(bytes).into_owned()),
    };
    let mut object = json!({
        "start": start,
        "end": page.end,
        member: value,
        "state": page.state,
        "exit_status": page.exit_status,
    });
    if !gaps.is_empty() {
        object["gaps"] = json!(gaps);
    }
    object
}
