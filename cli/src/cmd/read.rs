//! `termctl read`: a terminal's output, from where it is asked for.

use std::io::{self, IsTerminal as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_proto::terminal::{MAX_READ_BYTES, ReadFrom};
use termd_proto::{Offset, TerminalRef};

use super::{Context, history};
use crate::args::ReadArgs;
use crate::error::CliError;
use crate::exit::ExitCode;
use crate::output::{self, Pump};
use crate::reader::{Page, Reader};
use crate::text::{NewlineFilter, Rendering};

/// Bytes a page while following: what a reader at the other end of a pipe takes in one go.
const FOLLOW_BYTES: u64 = 256 * 1024;

pub(super) async fn run(context: Context, args: ReadArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let terminal = TerminalRef(args.terminal.clone());
    let command = match args.command {
        Some(number) => Some(history::command(&link, &terminal, number).await?),
        None => None,
    };
    let since = args.since.map(Offset);
    let from = match (since.or(command.as_ref().map(|it| it.start)), args.tail) {
        (Some(offset), _) => ReadFrom::Offset(offset),
        (None, Some(lines)) => ReadFrom::TailLines(lines),
        (None, None) => ReadFrom::default(),
    };
    let mut reader = Reader::new(&link, terminal, from);
    let mut pages = Pages {
        left: args.bytes.unwrap_or(u64::MAX),
        until: command.and_then(|it| it.end).unwrap_or(Offset(u64::MAX)),
        follow: args.follow,
        done: false,
    };
    match (context.json, args.follow) {
        (true, true) => follow_json(&mut reader, &mut pages, args.raw).await,
        (true, false) => whole_json(&mut reader, &mut pages, args.raw).await,
        (false, _) => stream(&mut reader, &mut pages, args.raw).await,
    }?;
    Ok(ExitCode::OK)
}

/// Which pages are still wanted.
struct Pages {
    left: u64,
    /// Output from here on is not wanted.
    until: Offset,
    follow: bool,
    done: bool,
}

impl Pages {
    /// The next page; `None` when enough was read.
    async fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<Page>, CliError> {
        if self.done {
            return Ok(None);
        }
        let mut page = if self.follow {
            reader.follow(self.left.min(FOLLOW_BYTES)).await?
        } else {
            reader.page(self.left.min(MAX_READ_BYTES)).await?
        };
        if page.gap {
            output::note(&format!(
                "output before offset {} is no longer kept",
                page.start
            ));
        }
        if page.end > self.until {
            let wanted = self.until.0.saturating_sub(page.start.0);
            page.bytes
                .truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
            page.end = self.until;
        }
        self.left -= (page.bytes.len() as u64).min(self.left);
        self.done = page.end >= self.until
            || self.left == 0
            || page.is_last()
            || (page.at_end && !self.follow);
        Ok(Some(page))
    }
}

async fn stream(reader: &mut Reader<'_>, pages: &mut Pages, raw: bool) -> Result<(), CliError> {
    let mut rendering = match (raw, io::stdout().is_terminal()) {
        (true, _) => Rendering::Raw,
        (false, true) => Rendering::plain(),
        (false, false) => Rendering::text(),
    };
    let mut pump = Pump::start()?;
    while let Some(page) = pages.next(reader).await? {
        pump.write(rendering.feed(page.bytes)).await?;
    }
    pump.write(rendering.finish().to_vec()).await?;
    pump.finish().await
}

/// One object a page, one a line.
async fn follow_json(
    reader: &mut Reader<'_>,
    pages: &mut Pages,
    raw: bool,
) -> Result<(), CliError> {
    let mut filter = NewlineFilter::default();
    let mut carried = Vec::new();
    while let Some(page) = pages.next(reader).await? {
        let mut text = std::mem::take(&mut carried);
        if !raw {
            text.extend(filter.feed(&page.bytes));
            // A character cut by the page's end goes with the next one.
            carried = text.split_off(whole_characters(&text));
            if pages.done {
                text.append(&mut carried);
                text.extend(filter.finish());
            }
        }
        output::print_json(&object(
            &page,
            page.start,
            &text,
            raw.then_some(&page.bytes),
        ))?;
    }
    Ok(())
}

/// One object for all pages.
async fn whole_json(reader: &mut Reader<'_>, pages: &mut Pages, raw: bool) -> Result<(), CliError> {
    let mut bytes = Vec::new();
    let mut start = None;
    let mut last = None;
    while let Some(mut page) = pages.next(reader).await? {
        start.get_or_insert(page.start);
        bytes.append(&mut page.bytes);
        last = Some(page);
    }
    let (Some(start), Some(last)) = (start, last) else {
        return Ok(());
    };
    let mut filter = NewlineFilter::default();
    let mut text = filter.feed(&bytes);
    text.extend(filter.finish());
    output::print_json(&object(&last, start, &text, raw.then_some(&bytes)))
}

/// `{start, end, text | data, state, exit_status}`.
fn object(page: &Page, start: Offset, text: &[u8], exact: Option<&Vec<u8>>) -> Value {
    let (member, value) = match exact {
        Some(bytes) => ("data", STANDARD.encode(bytes)),
        None => ("text", String::from_utf8_lossy(text).into_owned()),
    };
    json!({
        "start": start,
        "end": page.end,
        member: value,
        "state": page.state,
        "exit_status": page.exit_status,
    })
}

/// How many bytes there are before a character that is not whole yet.
fn whole_characters(bytes: &[u8]) -> usize {
    // At most three bytes of a character are there without its last.
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let needed = match bytes.get(at).copied().unwrap_or_default() {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => 1,
        };
        return if needed > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        let table: [(&[u8], usize); 7] = [
            (b"", 0),
            (b"abc", 3),
            ("aé".as_bytes(), 3),
            (b"a\xc3", 1),
            (b"a\xf0\x9f\x98", 1),
            ("😀".as_bytes(), 4),
            (b"\x80\x80\x80\x80", 4),
        ];
        for (bytes, want) in table {
            assert_eq!(whole_characters(bytes), want, "{}", bytes.escape_ascii());
        }
    }
}
