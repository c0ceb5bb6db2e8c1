//! `termctl export`: a terminal's recording in a form that others read, while it runs too.

pub(super) mod cast;
mod page;
pub(super) mod playback;
mod recording;

use termd_client::escape::terminal_command;
use termd_client::{BadAnswer, Form, Link, OutputReader};
use termd_proto::TerminalRef;
use termd_proto::command::{CommandFilter, CommandInfo};
use termd_proto::terminal::{MAX_READ_BYTES, ReadFrom, TerminalInfo};

use self::cast::{CastWriter, Event, Header, Version};
use self::playback::Playback;
use super::history::list;
use super::show::show;
use super::{Context, gaps};
use crate::args::{ExportArgs, ExportFormatArg};
use crate::direction_marks::without_direction_marks;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::json;
use crate::output;
use crate::output_file::OutputFile;
use crate::signals::Signals;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: ExportArgs) -> Result<ExitCode, CliError> {
    if context.json {
        return Err(UsageError::ExportAsJson.into());
    }
    let link = context.open().await?;
    let info = show(&link, &TerminalRef(args.terminal)).await?;
    gaps::note_beginning(&info);
    // Before there is something to tidy up. Elsewhere a signal ends a write that blocks, too.
    let signals = match &args.output {
        Some(path) if OutputFile::has_part(path) => Some(Signals::catch()?),
        _ => None,
    };
    let sink = OutputFile::open(args.output)?;
    let written = write(&link, &info, args.format, sink);
    let Some(mut signals) = signals else {
        return written.await.map(|()| ExitCode::OK);
    };
    tokio::select! {
        written = written => written.map(|()| ExitCode::OK),
        // What was written so far goes with its sink.
        number = signals.next() => Ok(ExitCode::of_signal(number)),
    }
}

async fn write(
    link: &Link,
    info: &TerminalInfo,
    format: ExportFormatArg,
    mut sink: OutputFile,
) -> Result<(), CliError> {
    match format {
        ExportFormatArg::Asciicast => cast(link, info, Version::V3, &mut sink).await?,
        ExportFormatArg::AsciicastV2 => cast(link, info, Version::V2, &mut sink).await?,
        ExportFormatArg::Raw => copy(link, info, Form::Exact, &mut sink).await?,
        ExportFormatArg::Text => copy(link, info, Form::Plain, &mut sink).await?,
        ExportFormatArg::Html => page::write(link, info, &mut sink).await?,
        ExportFormatArg::Json => {
            let mut line = json::to_vec(&commands(link, info).await?).map_err(BadAnswer::from)?;
            line.push(b'\n');
            sink.write(&line)?;
        }
    }
    sink.finish()
}

/// The output so far.
async fn copy(
    link: &Link,
    info: &TerminalInfo,
    form: Form,
    sink: &mut OutputFile,
) -> Result<(), CliError> {
    let terminal = TerminalRef::from(&info.id);
    let is_for_person = form != Form::Exact && sink.is_terminal();
    let mut reader = OutputReader::new(link, terminal, ReadFrom::Offset(info.start)).in_form(form);
    loop {
        let page = reader.page(MAX_READ_BYTES).await?;
        if let Some(note) = page.gap_note() {
            output::note(&note);
        }
        if is_for_person {
            sink.write(&without_direction_marks(&page.bytes))?;
        } else {
            sink.write(&page.bytes)?;
        }
        if page.at_end {
            return Ok(());
        }
    }
}

/// What was run in the terminal, oldest first.
async fn commands(link: &Link, info: &TerminalInfo) -> Result<Vec<CommandInfo>, CliError> {
    let filter = CommandFilter {
        terminal: Some(TerminalRef::from(&info.id)),
        ..CommandFilter::default()
    };
    let mut commands = list(link, &filter, u32::MAX).await?;
    commands.reverse();
    Ok(commands)
}

/// The title of the recording that it was imported from, or its label.
fn title(info: &TerminalInfo) -> Option<String> {
    let imported = info.meta.as_ref().and_then(|meta| meta.get("asciicast"));
    let title = imported.and_then(|recording| recording.get("title")?.as_str());
    (title.map(str::to_owned)).or_else(|| info.label.as_ref().map(ToString::to_string))
}

async fn cast(
    link: &Link,
    info: &TerminalInfo,
    version: Version,
    sink: &mut OutputFile,
) -> Result<(), CliError> {
    let commands = commands(link, info).await?;
    let playback = Playback::open(link, info, &commands, info.start).await?;
    let (cols, rows) = playback.size();
    let header = Header {
        cols,
        rows,
        started_at_ms: info.created_at_ms,
        command: Some(terminal_command(info)),
        title: title(info),
        stdio: info.stdio,
    };
    let (line, mut writer) = CastWriter::begin(version, &header);
    sink.write(line.as_bytes())?;
    let last_ms = playback
        .run(|at_ms, event| {
            if matches!(event, Event::Exit(_)) {
                sink.write_some(writer.finish(at_ms))?;
            }
            sink.write_some(writer.event(at_ms, &event))
        })
        .await?;
    sink.write_some(writer.finish(last_ms))
}
