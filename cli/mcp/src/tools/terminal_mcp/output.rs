//! A terminal's output in one answer, from an offset to an offset.
//!
//! Output that a limit or retention leaves out is named by its offsets. `next` says where the next
//! read goes on.

use serde_json::json;
use termd_client::ClientError;
use termd_proto::terminal::{Encoding, ReadResult};
use termd_proto::{Offset, TerminalId};

use super::params::MaxOutputBytes;
use crate::backend::Backend;
use crate::settings::{MAX_OUTPUT_BYTES, Settings, Truncation};
use crate::tool::{Bounds, Facts, Omitted, Pages, PromptCut, add};

/// Ends output whose end was left out; terminal-mcp's words.
const MORE_MARKER: &str = "\n... [output truncated]";
/// Begins output whose beginning was left out; terminal-mcp's words.
const LESS_MARKER: &str = "[output truncated] ...\n";

/// The form of output in an answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::tools) struct Manner {
    pub(in crate::tools) truncation: Truncation,
    /// The most bytes.
    pub(in crate::tools) limit: u64,
    /// Plain text, or with the escape sequences.
    pub(in crate::tools) encoding: Encoding,
}

impl Manner {
    /// The form that a call's parameters say.
    pub(in crate::tools) fn new(settings: &Settings, truncation: Truncation, strip: bool) -> Self {
        Self {
            truncation,
            limit: match truncation {
                Truncation::None => MAX_OUTPUT_BYTES,
                _ => settings.max_output_bytes,
            },
            encoding: if strip { Encoding::Text } else { Encoding::Raw },
        }
    }

    /// At most this number of bytes, if the call gives a limit.
    pub(in crate::tools) fn within(self, bytes: Option<MaxOutputBytes>) -> Self {
        Self {
            limit: bytes.map_or(self.limit, |bytes| bytes.0),
            ..self
        }
    }

    /// The end alone, at most this number of bytes.
    pub(in crate::tools) fn tail_of(self, bytes: u64) -> Self {
        Self {
            truncation: Truncation::TailOnly,
            limit: self.limit.min(bytes),
            ..self
        }
    }

    /// Whether a page is full already, so that there is nothing to wait for.
    pub(in crate::tools) fn is_full(&self, from: Offset, end: Offset) -> bool {
        matches!(self.truncation, Truncation::Tail | Truncation::None)
            && end.since(from) >= self.limit
    }
}

/// Output, and the ranges that were left out.
#[derive(Debug)]
pub(in crate::tools) struct Output {
    /// The text, with a marker where something was left out.
    pub(in crate::tools) text: String,
    /// Where the next read goes on.
    pub(in crate::tools) next: Offset,
    /// Bytes of output gone through.
    bytes: u64,
    omitted: Omitted,
    truncated: bool,
}

impl Output {
    /// Adds the output to a result.
    pub(in crate::tools) fn describe(&self, facts: &mut Facts) {
        add(
            facts,
            json!({
                "output": self.text,
                "bytes_read": self.bytes,
                "truncated": self.truncated,
                "offset": self.next,
                "omitted": self.omitted.to_json(),
            }),
        );
    }

    /// Names earlier output that the client neither has read nor gets.
    pub(in crate::tools) fn leave_out(&mut self, from: Offset, to: Offset) {
        self.omitted.add(from, to);
    }
}

/// Reads from `from` until the next prompt. The next read goes on behind that.
pub(super) async fn read_until_prompt(
    backend: &Backend,
    id: &TerminalId,
    from: Offset,
    cut: &PromptCut,
    manner: Manner,
) -> Result<Output, ClientError> {
    let mut output = read(backend, id, (from, cut.until), manner).await?;
    if cut.lines().is_empty() || output.truncated {
        cut.cut(&mut output.text);
    } else {
        let encoding = manner.encoding;
        output.text = cut
            .text_of_lines(&Pages {
                backend,
                id,
                encoding,
                stream: None,
            })
            .await?;
    }
    if output.next >= cut.until {
        output.next = cut.seen;
    }
    Ok(output)
}

/// Reads from `from` until `until`.
pub(in crate::tools) async fn read(
    backend: &Backend,
    id: &TerminalId,
    (from, until): (Offset, Offset),
    manner: Manner,
) -> Result<Output, ClientError> {
    let pages = Pages {
        backend,
        id,
        encoding: manner.encoding,
        stream: None,
    };
    let reader = Reader { pages, manner };
    if until.since(from) > manner.limit {
        match manner.truncation {
            Truncation::HeadTail => return reader.excerpt(from, until).await,
            Truncation::TailOnly => return reader.last(from, until).await,
            Truncation::Tail | Truncation::None => {}
        }
    }
    reader.first(from, until).await
}

struct Reader<'a> {
    pages: Pages<'a>,
    manner: Manner,
}

impl Reader<'_> {
    async fn first(&self, from: Offset, until: Offset) -> Result<Output, ClientError> {
        let read = self.page(from, until, self.manner.limit).await?;
        let mut text = read.text.unwrap_or_default();
        let truncated = !read.at_end;
        if truncated && self.manner.truncation != Truncation::None {
            text.push_str(MORE_MARKER);
        }
        let mut output = Output {
            text,
            next: read.end.max(from),
            bytes: read.end.since(read.start),
            omitted: Omitted::default(),
            truncated,
        };
        output.leave_out(from, read.start.min(until));
        if truncated {
            output.leave_out(read.end, until);
        }
        Ok(output)
    }

    async fn last(&self, from: Offset, until: Offset) -> Result<Output, ClientError> {
        let begin = Offset(until.0.saturating_sub(self.manner.limit)).max(from);
        let read = self.page(begin, until, self.manner.limit).await?;
        let mut output = Output {
            text: format!("{LESS_MARKER}{}", read.text.unwrap_or_default()),
            next: read.end,
            bytes: read.end.since(read.start),
            omitted: Omitted::default(),
            truncated: true,
        };
        output.leave_out(from, read.start);
        Ok(output)
    }

    /// Both ends, and what looks like an error in the middle.
    async fn excerpt(&self, from: Offset, until: Offset) -> Result<Output, ClientError> {
        let bounds = Bounds {
            bytes: self.manner.limit,
            lines: self.manner.limit,
        };
        let excerpt = self.pages.excerpt((from, until), bounds).await?;
        Ok(Output {
            bytes: excerpt.text.len() as u64,
            text: excerpt.text,
            next: excerpt.next,
            truncated: !excerpt.omitted.is_empty(),
            omitted: excerpt.omitted,
        })
    }

    async fn page(
        &self,
        from: Offset,
        until: Offset,
        limit: u64,
    ) -> Result<ReadResult, ClientError> {
        self.pages.read((from, until), limit, None).await
    }
}
