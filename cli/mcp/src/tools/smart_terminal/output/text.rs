//! A part of a terminal's output by lines: the first lines, the last, or both ends.
//!
//! Output that a limit or retention leaves out is named by its offsets.

use serde_json::json;
use termd_client::ClientError;
use termd_proto::terminal::{Encoding, ReadResult};
use termd_proto::{Offset, TerminalId};

use crate::backend::Backend;
use crate::settings::MAX_OUTPUT_BYTES;
use crate::tool::{Bounds, Call, Facts, Omitted, Pages, PromptCut, add};
use crate::tools::smart_terminal::params::{MaxLines, MaxOutputBytes};

/// Most output of one answer.
const MAX_BYTES: u64 = MAX_OUTPUT_BYTES;

/// Everything that one call can give.
pub(crate) const WIDEST: Bounds = Bounds {
    lines: MAX_BYTES,
    bytes: MAX_BYTES,
};

/// The bounds that a call's parameters say.
pub(crate) fn bounds(call: &Call, lines: MaxLines, bytes: Option<MaxOutputBytes>) -> Bounds {
    let bytes = bytes.map_or(call.shared.settings.max_output_bytes, |bytes| bytes.0);
    Bounds {
        lines: lines.0,
        bytes,
    }
}

/// A part of a terminal's output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) id: &'a TerminalId,
    pub(crate) from: Offset,
    pub(crate) until: Offset,
}

/// Output, and the ranges that were left out.
#[derive(Debug, Default)]
pub(crate) struct Text {
    /// Plain text, without the newline that ends it.
    pub(crate) text: String,
    /// Where the next read goes on.
    pub(crate) next: Offset,
    pub(crate) omitted: Omitted,
}

impl Text {
    /// Adds the output to a result.
    pub(crate) fn describe(&self, facts: &mut Facts) {
        facts.insert("output".to_owned(), self.text.clone().into());
        facts.insert("position".to_owned(), json!(self.next));
        add(
            facts,
            json!({
                "truncated": (!self.omitted.is_empty()).then_some(true),
                "omitted": self.omitted.to_json(),
            }),
        );
    }

    fn leave_out(&mut self, from: Offset, to: Offset) {
        self.omitted.add(from, to);
    }

    fn finish(mut self) -> Self {
        if self.text.ends_with('\n') {
            self.text.pop();
        }
        self
    }
}

impl Part<'_> {
    /// The first lines. The next read goes on behind them.
    pub(crate) async fn first(&self, max_lines: u64) -> Result<Text, ClientError> {
        let read = self
            .page(self.from, self.until, max_lines, MAX_BYTES)
            .await?;
        let mut text = Text {
            text: read.text.unwrap_or_default(),
            next: read.end.max(self.from),
            omitted: Omitted::default(),
        };
        text.leave_out(self.from, read.start.min(self.until));
        text.leave_out(read.end, self.until);
        Ok(text.finish())
    }

    /// The last lines.
    pub(crate) async fn last(&self, max_lines: u64) -> Result<Text, ClientError> {
        let mut text = Text {
            next: self.until,
            ..Text::default()
        };
        let (begin, tail) = self.tail(self.from, max_lines, MAX_BYTES).await?;
        text.leave_out(self.from, begin);
        text.text = tail;
        Ok(text.finish())
    }

    /// All lines within the bounds, or both ends and between them what looks like an error.
    pub(crate) async fn both_ends(&self, bounds: Bounds) -> Result<Text, ClientError> {
        Ok(self.excerpt(bounds).await?.finish())
    }

    /// The same until the next prompt. The next read goes on behind that.
    pub(crate) async fn until_prompt(
        &self,
        cut: &PromptCut,
        bounds: Bounds,
    ) -> Result<Text, ClientError> {
        let mut text = self.excerpt(bounds).await?;
        if cut.lines().is_empty() || !text.omitted.is_empty() {
            cut.cut(&mut text.text);
        } else {
            text.text = cut.text_of_lines(&self.pages()).await?;
        }
        if text.next >= cut.until {
            text.next = cut.seen;
        }
        Ok(text.finish())
    }

    async fn excerpt(&self, bounds: Bounds) -> Result<Text, ClientError> {
        let excerpt = self
            .pages()
            .excerpt((self.from, self.until), bounds)
            .await?;
        Ok(Text {
            text: excerpt.text,
            next: excerpt.next,
            omitted: excerpt.omitted,
        })
    }

    /// The last lines, from `from` on at the earliest, and the offset of the first of them.
    async fn tail(
        &self,
        from: Offset,
        max_lines: u64,
        max_bytes: u64,
    ) -> Result<(Offset, String), ClientError> {
        let reach = Offset(self.until.0.saturating_sub(max_bytes)).max(from);
        let all = self.page(reach, self.until, u64::MAX, max_bytes).await?;
        let text = all.text.unwrap_or_default();
        let lines = text.lines().count() as u64;
        let begins_within_line = reach > from && lines > 1;
        let surplus = lines
            .saturating_sub(max_lines)
            .max(u64::from(begins_within_line));
        if surplus == 0 {
            return Ok((all.start.max(from), text));
        }
        let before = self.page(reach, self.until, surplus, max_bytes).await?;
        let last = self
            .page(before.end, self.until, u64::MAX, max_bytes)
            .await?;
        Ok((before.end, last.text.unwrap_or_default()))
    }

    /// The terminal's output, to read pages of.
    pub(crate) fn pages(&self) -> Pages<'_> {
        Pages {
            backend: self.backend,
            id: self.id,
            encoding: Encoding::Text,
            stream: None,
        }
    }

    async fn page(
        &self,
        from: Offset,
        until: Offset,
        max_lines: u64,
        max_bytes: u64,
    ) -> Result<ReadResult, ClientError> {
        let max_lines = (max_lines < u64::MAX).then_some(max_lines.max(1));
        self.pages().read((from, until), max_bytes, max_lines).await
    }
}
