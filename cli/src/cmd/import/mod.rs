//! `termctl import`: a recording that was made elsewhere becomes a closed terminal.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::{Map, json};
use termd_asciicast::{CastError, CastEvent, CastReader, Header};
use termd_client::Link;
use termd_proto::import::{AddToImport, BeginImport, FinishImport, ImportEvent, ImportEventKind};
use termd_proto::terminal::TerminalInfo;
use termd_proto::{Label, TerminalId};

use super::Context;
use crate::args::ImportArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// Text in one call, in bytes as JSON writes them at the longest: a line of the socket may be 4 MiB long.
const CALL_BYTES: usize = 2 << 20;
/// The longest that JSON writes a byte.
const JSON_BYTES: usize = 6;
/// What JSON writes around the text of an event, in bytes: numbers, names and marks.
const EVENT_BYTES: usize = 64;
/// Output of one event, in bytes. Longer output is sent in parts.
const PART_BYTES: usize = 64 << 10;

pub(super) async fn run(context: Context, args: ImportArgs) -> Result<ExitCode, CliError> {
    let label = args.label.as_deref().map(str::parse::<Label>).transpose();
    let label = label.map_err(UsageError::from)?;
    let file = Source::open(&args.file)?;
    let modified_at_ms = file.modified_at_ms;
    let refuse = |error| file_fault(&args.file, error);
    let mut reader = CastReader::open(file.input).map_err(refuse)?;
    let started_at_ms = match (reader.header().started_at_ms, modified_at_ms) {
        (Some(started_at_ms), _) => Some(started_at_ms),
        // The file was written until the recording's end.
        (None, Some(modified_at_ms)) => Some(modified_at_ms - length_ms(&args.file)?),
        (None, None) => None,
    };
    let begun = begin(reader.header(), label, started_at_ms);
    let link = context.open().await?;
    let id = link.once(&begun).await?.id;
    // An import that is not finished ends with the connection: a fault on the way leaves nothing.
    let mut batch = Batch::new(&link, id.clone());
    let (mut ended_at_ms, mut exit_code) = (0, None);
    while let Some(event) = reader.next_event().map_err(refuse)? {
        match event {
            CastEvent::Happened(event) => {
                ended_at_ms = event.at_ms;
                batch.add(event).await?;
            }
            CastEvent::Exited { code, at_ms } => {
                ended_at_ms = at_ms;
                exit_code = Some(code);
            }
        }
    }
    batch.send().await?;
    let finish = FinishImport {
        id,
        ended_at_ms: Some(ended_at_ms),
        exit_code,
    };
    let info: TerminalInfo = link.once(&finish).await?;
    if context.json {
        output::print_json(&info)?;
    } else {
        output::print(format!("{}\n", info.id).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// A file, or standard input.
struct Source {
    input: BufReader<Box<dyn Read>>,
    /// When a file was written, in milliseconds since the Unix epoch. `None`: it comes by a pipe.
    modified_at_ms: Option<i64>,
}

impl Source {
    fn open(path: &Path) -> Result<Self, UsageError> {
        if path == Path::new("-") {
            return Ok(Self {
                input: BufReader::new(Box::new(io::stdin())),
                modified_at_ms: None,
            });
        }
        let unreadable = |source| UsageError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().ok().filter(Metadata::is_file);
        let modified = metadata.and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Ok(Self {
            input: BufReader::new(Box::new(file)),
            modified_at_ms: since.and_then(|since| i64::try_from(since.as_millis()).ok()),
        })
    }
}

fn file_fault(path: &Path, error: CastError) -> CliError {
    match error {
        CastError::Line { line, problem } => UsageError::Recording {
            file: path.display().to_string(),
            line,
            problem,
        },
        CastError::Io(source) => UsageError::Unreadable {
            path: path.to_owned(),
            source,
        },
    }
    .into()
}

/// How long a recording is, in milliseconds: the time of its last event.
fn length_ms(path: &Path) -> Result<i64, CliError> {
    let refuse = |error| file_fault(path, error);
    let mut reader = CastReader::open(Source::open(path)?.input).map_err(refuse)?;
    let mut length_ms = 0;
    while let Some(event) = reader.next_event().map_err(refuse)? {
        length_ms = match event {
            CastEvent::Happened(event) => event.at_ms,
            CastEvent::Exited { at_ms, .. } => at_ms,
        };
    }
    Ok(i64::try_from(length_ms).unwrap_or(i64::MAX))
}

/// What the recording says of itself.
fn begin(header: &Header, label: Option<Label>, started_at_ms: Option<i64>) -> BeginImport {
    let command = header.command.as_ref().or(header.shell.as_ref());
    let argv = command.map(|line| shlex::split(line).unwrap_or_else(|| vec![line.clone()]));
    let mut asciicast = Map::from_iter([("version".to_owned(), header.version.into())]);
    if let Some(title) = &header.title {
        asciicast.insert("title".to_owned(), title.as_str().into());
    }
    BeginImport {
        label,
        argv: argv.unwrap_or_default(),
        cols: header.cols,
        rows: header.rows,
        started_at_ms,
        meta: Some(Map::from_iter([("asciicast".to_owned(), json!(asciicast))])),
    }
}

/// Events that are sent together.
struct Batch<'a> {
    link: &'a Link,
    id: TerminalId,
    events: Vec<ImportEvent>,
    /// About how long they are as JSON, at the longest.
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn new(link: &'a Link, id: TerminalId) -> Self {
        Self {
            link,
            id,
            events: Vec::new(),
            bytes: 0,
        }
    }

    async fn add(&mut self, event: ImportEvent) -> Result<(), CliError> {
        let ImportEvent { at_ms, kind } = event;
        let ImportEventKind::Output(text) = kind else {
            return self.add_whole(ImportEvent { at_ms, kind }).await;
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (part, later) = rest.split_at(rest.floor_char_boundary(PART_BYTES));
            let kind = ImportEventKind::Output(part.to_owned());
            self.add_whole(ImportEvent { at_ms, kind }).await?;
            rest = later;
        }
        Ok(())
    }

    async fn add_whole(&mut self, event: ImportEvent) -> Result<(), CliError> {
        let text = match &event.kind {
            ImportEventKind::Output(text) | ImportEventKind::Marker(text) => text.len(),
            ImportEventKind::Size { .. } => 0,
        };
        self.bytes += text * JSON_BYTES + EVENT_BYTES;
        self.events.push(event);
        if self.bytes >= CALL_BYTES {
            self.send().await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), CliError> {
        let events = std::mem::take(&mut self.events);
        self.bytes = 0;
        let id = self.id.clone();
        Ok(self.link.once(&AddToImport { id, events }).await?)
    }
}
