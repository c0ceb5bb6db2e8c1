//! A terminal's output from an offset on, page by page, across the daemon's restarts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_proto::command::ReadCommand;
use termd_proto::terminal::{
    Encoding, ExitStatus, Gap, GapCause, MAX_READ_BYTES, OutputStream, ReadFrom, ReadTerminal,
    TerminalState,
};
use termd_proto::{Offset, TerminalRef};

use crate::error::{BadAnswer, ClientError};
use crate::link::Link;

/// How long one call waits for output; the next goes on from the same offset.
const WAIT_MS: u64 = 30_000;

/// The smallest request: a whole character of UTF-8.
const MIN_READ_BYTES: u64 = 4;

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The exact bytes.
    Exact,
    /// Plain text: escape sequences resolved, redraws applied.
    Plain,
    /// Plain text with colours and attributes.
    Styled,
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The exact bytes, or plain text, in which a line ends at a gap.
    pub bytes: Vec<u8>,
    /// The offset of the first byte.
    pub start: Offset,
    /// The offset after the last byte.
    pub end: Offset,
    /// Output before this page that is not kept.
    pub gap: Option<Gap>,
    /// Whether the end was cut off, because there was more than requested.
    pub cut: bool,
    /// Whether there was no more output at that moment.
    pub at_end: bool,
    /// The terminal's state.
    pub state: TerminalState,
    /// The command's end, once it has ended.
    pub exit_status: Option<ExitStatus>,
}

impl Page {
    /// A line for a person about the gap before this page.
    pub fn gap_note(&self) -> Option<String> {
        self.gap.map(gap_note)
    }

    /// Whether no more output will come.
    pub fn is_last(&self) -> bool {
        self.at_end && self.state != TerminalState::Running
    }
}

/// A line for a person about output that is not kept.
pub fn gap_note(gap: Gap) -> String {
    let Gap { start, end, cause } = gap;
    let why = match cause {
        GapCause::TerminalQuota => " (store.terminal_quota)",
        GapCause::TotalQuota => " (store.total_quota)",
        GapCause::FreeFloor => " (the disk was below store.free_floor)",
        GapCause::Retention => " (retention)",
        GapCause::Deleted => return "the output was deleted (termctl delete)".to_owned(),
        GapCause::Lost => "",
    };
    format!("output from offset {start} to {end} is no longer kept{why}")
}

/// Reads a terminal's output onwards, page by page.
#[derive(Debug)]
pub struct OutputReader<'a> {
    link: &'a Link,
    id: TerminalRef,
    from: ReadFrom,
    form: Form,
    /// Only this command's output.
    command: Option<i64>,
    /// Only this pipe of a command on pipes.
    stream: Option<OutputStream>,
    line: LineState,
}

/// Where the text that was given ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// Before a line, or nothing was given.
    AtStart,
    /// Within a line.
    Unfinished,
}

impl<'a> OutputReader<'a> {
    /// Reads the exact bytes from here on.
    pub fn new(link: &'a Link, id: TerminalRef, from: ReadFrom) -> Self {
        let form = Form::Exact;
        Self {
            link,
            id,
            from,
            form,
            command: None,
            stream: None,
            line: LineState::AtStart,
        }
    }

    /// Reads only one command's output, from its start.
    #[must_use]
    pub fn of_command(self, number: i64) -> Self {
        Self {
            command: Some(number),
            ..self
        }
    }

    /// Reads only one pipe of a command on pipes.
    #[must_use]
    pub fn of_stream(self, stream: OutputStream) -> Self {
        Self {
            stream: Some(stream),
            ..self
        }
    }

    /// Reads in this form.
    #[must_use]
    pub fn in_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// The output that is there now, at most `max_bytes`.
    pub async fn page(&mut self, max_bytes: u64) -> Result<Page, ClientError> {
        self.read(max_bytes, None).await
    }

    /// Waits for output, a gap, or the end. A gap alone is a page: the output after it may have no
    /// text.
    pub async fn follow(&mut self, max_bytes: u64) -> Result<Page, ClientError> {
        loop {
            let page = self.read(max_bytes, Some(WAIT_MS)).await?;
            if !page.bytes.is_empty() || page.gap.is_some() || page.is_last() {
                return Ok(page);
            }
        }
    }

    /// Reads from this offset next.
    pub fn read_from(&mut self, offset: Offset) {
        self.from = ReadFrom::Offset(offset);
    }

    async fn read(&mut self, max_bytes: u64, wait_ms: Option<u64>) -> Result<Page, ClientError> {
        let max_bytes_asked = Some(max_bytes.clamp(MIN_READ_BYTES, MAX_READ_BYTES));
        let encoding = Some(match self.form {
            // Base64 keeps a character that is cut at the chunk's end.
            Form::Exact => Encoding::Base64,
            Form::Plain => Encoding::Text,
            Form::Styled => Encoding::Styled,
        });
        let result = if let Some(number) = self.command {
            let request = ReadCommand {
                id: self.id.clone(),
                number,
                since: offset_of(self.from),
                max_bytes: max_bytes_asked,
                encoding,
                times: None,
            };
            self.link.repeat(&request).await?
        } else {
            let request = ReadTerminal {
                max_bytes: max_bytes_asked,
                encoding,
                wait_ms,
                stream: self.stream,
                ..ReadTerminal::new(self.id.clone(), self.from)
            };
            self.link.repeat(&request).await?
        };
        let mut bytes = match self.form {
            Form::Exact => STANDARD
                .decode(result.data.as_deref().unwrap_or_default())
                .map_err(BadAnswer::from)?,
            Form::Plain | Form::Styled => result.text.unwrap_or_default().into_bytes(),
        };
        let gap = match self.from {
            // A command's output does not begin at offset 0.
            ReadFrom::Offset(Offset::ZERO) if self.command.is_some() => None,
            ReadFrom::Offset(asked) if result.start > asked => {
                // An older daemon does not report gaps.
                let unsaid = Gap {
                    start: asked,
                    end: result.start,
                    cause: GapCause::Lost,
                };
                Some(result.gap.unwrap_or(unsaid))
            }
            ReadFrom::Offset(_) | ReadFrom::TailBytes(_) | ReadFrom::TailLines(_) => None,
        };
        if self.form != Form::Exact {
            if gap.is_some() && self.line == LineState::Unfinished {
                // The two would read as one line, which no program has printed.
                bytes.insert(0, b'\n');
            }
            self.line = match bytes.last() {
                None => self.line,
                Some(b'\n') => LineState::AtStart,
                Some(_) => LineState::Unfinished,
            };
        }
        let wanted = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let cut = bytes.len() > wanted;
        let end = match self.form {
            Form::Exact if cut => result.start + max_bytes,
            Form::Exact | Form::Plain | Form::Styled => result.end,
        };
        bytes.truncate(match self.form {
            Form::Exact => wanted,
            Form::Plain | Form::Styled => whole_characters(&bytes, wanted),
        });
        self.from = ReadFrom::Offset(end);
        Ok(Page {
            bytes,
            start: result.start,
            end,
            gap,
            cut,
            at_end: result.at_end && !cut,
            state: result.state,
            exit_status: result.exit_status,
        })
    }
}

/// The requested offset, unless it is the start.
fn offset_of(from: ReadFrom) -> Option<Offset> {
    match from {
        ReadFrom::Offset(offset) if offset > Offset::ZERO => Some(offset),
        _ => None,
    }
}

/// The length of the longest prefix of at most `most` bytes that cuts no character.
fn whole_characters(text: &[u8], most: usize) -> usize {
    let begins = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    (0..=most.min(text.len())).rev().find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        let text = "aé😀".as_bytes();
        for (most, want) in [(0, 0), (1, 1), (2, 1), (3, 3), (6, 3), (7, 7), (9, 7)] {
            assert_eq!(whole_characters(text, most), want, "{most}");
        }
    }
}
