//! `termctl export`: a terminal's recording in a form that others read, while it runs too.

mod cast;
mod recording;
mod sink;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::escape::terminal_command;
use termd_client::{BadAnswer, Form, Link, OutputReader};
use termd_proto::command::{CommandFilter, CommandInfo};
use termd_proto::terminal::{
    Encoding, ExitStatus, MAX_READ_BYTES, ReadFrom, ReadResult, ReadTerminal, TerminalInfo,
};
use termd_proto::{Offset, TerminalRef};

use self::cast::{CastWriter, Event, Header, Version};
use self::recording::Recording;
use self::sink::Sink;
use super::Context;
use super::history::list;
use super::show::show;
use crate::args::{ExportArgs, ExportFormatArg};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::json;

pub(super) async fn run(context: Context, args: ExportArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let info = show(&link, &TerminalRef(args.terminal)).await?;
    let mut sink = Sink::open(args.output)?;
    match args.format {
        ExportFormatArg::Asciicast => cast(&link, &info, Version::V3, &mut sink).await?,
        ExportFormatArg::AsciicastV2 => cast(&link, &info, Version::V2, &mut sink).await?,
        ExportFormatArg::Raw => copy(&link, &info, Form::Exact, &mut sink).await?,
        ExportFormatArg::Text => copy(&link, &info, Form::Plain, &mut sink).await?,
        ExportFormatArg::Json => {
            let mut line = json::to_vec(&commands(&link, &info).await?).map_err(BadAnswer::from)?;
            line.push(b'\n');
            sink.write(&line)?;
        }
    }
    sink.finish()?;
    Ok(ExitCode::OK)
}

/// The output so far.
async fn copy(
    link: &Link,
    info: &TerminalInfo,
    form: Form,
    sink: &mut Sink,
) -> Result<(), CliError> {
    let terminal = TerminalRef::from(&info.id);
    let mut reader = OutputReader::new(link, terminal, ReadFrom::Offset(info.start)).in_form(form);
    loop {
        let page = reader.page(MAX_READ_BYTES).await?;
        sink.write(&page.bytes)?;
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

async fn cast(
    link: &Link,
    info: &TerminalInfo,
    version: Version,
    sink: &mut Sink,
) -> Result<(), CliError> {
    let mut recording = Recording::new(info.created_at_ms, &commands(link, info).await?);
    let mut page = read(link, info, info.start).await?;
    let first = page.sizes.as_ref().and_then(|sizes| sizes.first());
    let header = Header {
        cols: first.map_or(info.cols, |size| size.cols),
        rows: first.map_or(info.rows, |size| size.rows),
        started_at_ms: info.created_at_ms,
        command: Some(terminal_command(info)),
        title: info.label.as_ref().map(ToString::to_string),
    };
    let (line, mut writer) = CastWriter::begin(version, &header);
    sink.write(line.as_bytes())?;
    loop {
        let data = page.data.as_deref().unwrap_or_default();
        let bytes = STANDARD.decode(data).map_err(BadAnswer::from)?;
        let times = page.times.unwrap_or_default();
        let sizes = page.sizes.unwrap_or_default();
        // The first was in force before.
        let sizes = sizes.get(1..).unwrap_or_default();
        for (at_ms, event) in recording.page((page.start, &bytes), &times, sizes) {
            sink.write_some(writer.event(at_ms, &event))?;
        }
        let end = page.end;
        if page.at_end {
            for (at_ms, event) in recording.finish(end) {
                sink.write_some(writer.event(at_ms, &event))?;
            }
            sink.write_some(writer.finish(recording.now_ms()))?;
            if let Some((status, at_ms)) = page.exit_status.zip(info.exited_at_ms) {
                sink.write_some(writer.event(at_ms, &exit(&status)))?;
            }
            return Ok(());
        }
        page = read(link, info, end).await?;
    }
}

fn exit(status: &ExitStatus) -> Event {
    Event::Exit(ExitCode::of_command(status).0)
}

async fn read(link: &Link, info: &TerminalInfo, from: Offset) -> Result<ReadResult, CliError> {
    let request = ReadTerminal {
        max_bytes: Some(MAX_READ_BYTES),
        encoding: Some(Encoding::Base64),
        times: Some(true),
        ..ReadTerminal::new(TerminalRef::from(&info.id), ReadFrom::Offset(from))
    };
    Ok(link.repeat(&request).await?)
}
