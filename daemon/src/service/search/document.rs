//! A terminal's plain text in parts, each of which can be made again by itself.
//!
//! A part is of some output, and begins with the state in which the resolver was left by the part before.
//! It ends with a whole line, so that no match lies on an edge.

use termd_proto::Offset;
use termd_vt::plain::{Anchor, Output, PlainSize, PlainText, Screen, Until, first_switch};

use crate::store::{BLOCK_BYTES, IndexedDocument};
use crate::terminal::output::transcript::{Span, Transcript, TranscriptError};

/// Text in a document: what one row of the index is for. A shorter one makes the index longer, and a longer one
/// is looked at in vain more often.
pub(super) const DOCUMENT_BYTES: usize = 16 << 10;
/// Text in a document that is not indexed.
const LONG_DOCUMENT_BYTES: usize = 64 << 10;
/// A longer line is cut. `termctl read --grep` cuts at the same length.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The most output of one document, which a search reads to verify a match in it.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// Output resolved between two looks at how much text there is, and whether it ends with a whole line: where
/// lines wrap it often does not.
const STEP_BYTES: usize = 512;
/// Output read at a time.
const READ_BYTES: u64 = 64 << 10;

/// A part of a terminal's plain text.
#[derive(Debug)]
pub(super) struct Document {
    /// Where the output begins that it is of.
    pub(super) start: Offset,
    /// Where it ends.
    pub(super) end: Offset,
    /// Whether what was unfinished at the end is in it.
    pub(super) is_ended: bool,
    /// The state of the resolver at its start.
    pub(super) state: Vec<u8>,
    pub(super) output: Output,
}

/// Cuts a terminal's output into documents.
#[derive(Debug)]
pub(super) struct DocumentReader<'a> {
    transcript: &'a Transcript,
    plain: PlainText,
    start: Offset,
    state: Vec<u8>,
    /// How much text is a document.
    document_bytes: usize,
    /// Output that was read and is not resolved yet: a document is mostly shorter than what is read.
    waiting: Span,
}

impl<'a> DocumentReader<'a> {
    /// From the beginning of what is kept.
    pub(super) fn new(transcript: &'a Transcript, size: PlainSize, start: Offset) -> Self {
        Self::at(transcript, PlainText::at(size, start.0, Screen::Primary))
    }

    /// From where a state was left; `None` where it is none of this termd.
    pub(super) fn resume(transcript: &'a Transcript, state: &[u8]) -> Option<Self> {
        Some(Self::at(transcript, PlainText::restore(state)?))
    }

    fn at(transcript: &'a Transcript, plain: PlainText) -> Self {
        let mut reader = Self {
            transcript,
            plain: plain.with_every_anchor(),
            start: Offset::ZERO,
            state: Vec::new(),
            document_bytes: DOCUMENT_BYTES,
            waiting: Span {
                start: Offset::ZERO,
                bytes: Vec::new(),
            },
        };
        reader.begin();
        reader
    }

    /// With longer documents, for a search that reads all of them: the lines around a match are those of its
    /// document.
    #[must_use]
    pub(super) fn with_long_documents(self) -> Self {
        Self {
            document_bytes: LONG_DOCUMENT_BYTES,
            ..self
        }
    }

    fn begin(&mut self) {
        self.start = Offset(self.plain.fed());
        // It is always between two sequences here.
        self.state = self.plain.dump().unwrap_or_default();
    }

    /// The state for what comes after the last document.
    pub(super) fn state(&self) -> &[u8] {
        &self.state
    }

    /// Where the first line begins that is still to come.
    pub(super) fn first_line(&self) -> Offset {
        Offset(self.plain.next())
    }

    /// The next whole document of the output before `end`; `None` where there is not enough for one.
    pub(super) async fn next(&mut self, end: Offset) -> Result<Option<Document>, TranscriptError> {
        loop {
            let at = Offset(self.plain.fed());
            if at >= end {
                return Ok(None);
            }
            if self.waiting.bytes.is_empty() {
                self.waiting = self.transcript.read_before(at, end, READ_BYTES).await?;
            }
            if self.waiting.bytes.is_empty() {
                return Ok(None);
            }
            if self.waiting.start > at {
                let document = self.finish();
                self.plain = after_gap(self.plain.size(), &self.waiting);
                self.begin();
                if document.output.text.is_empty() {
                    continue;
                }
                return Ok(Some(document));
            }
            let step = self.waiting.bytes.len().min(STEP_BYTES);
            self.plain.advance(&self.waiting.bytes[..step]);
            self.waiting.bytes.drain(..step);
            self.waiting.start = self.waiting.start + step as u64;
            if self.is_full() && self.plain.dump().is_some() {
                return Ok(Some(self.cut()));
            }
        }
    }

    /// What is left, with what is unfinished.
    pub(super) fn finish(&mut self) -> Document {
        self.plain.give(Until::Final);
        Document {
            is_ended: true,
            ..self.cut()
        }
    }

    fn is_full(&self) -> bool {
        let text = self.plain.waiting();
        let is_cut = self.plain.waits_with_whole_lines() || text >= MAX_LINE_BYTES;
        let output = self.plain.fed() - self.start.0;
        is_cut && (text >= self.document_bytes || output >= MAX_OUTPUT_BYTES)
    }

    fn cut(&mut self) -> Document {
        let document = Document {
            start: self.start,
            end: Offset(self.plain.fed()),
            is_ended: false,
            state: std::mem::take(&mut self.state),
            output: with_end(self.plain.take(), self.plain.next()),
        };
        self.begin();
        document
    }
}

/// What stands before a gap does not go on after it.
fn after_gap(size: PlainSize, span: &Span) -> PlainText {
    let screen = match first_switch(&span.bytes) {
        Some(Screen::Primary) => Screen::Alternate,
        _ => Screen::Primary,
    };
    PlainText::at(size, span.start.0, screen).with_every_anchor()
}

/// Makes the texts of one terminal's documents again, the last first.
#[derive(Debug)]
pub(super) struct DocumentTexts<'a> {
    transcript: &'a Transcript,
    /// What was read last, whole blocks: several documents are in a block.
    blocks: Span,
}

impl<'a> DocumentTexts<'a> {
    pub(super) fn new(transcript: &'a Transcript) -> Self {
        Self {
            transcript,
            blocks: Span {
                start: Offset::ZERO,
                bytes: Vec::new(),
            },
        }
    }

    /// The text of a document that is indexed, made by the resolver in the state of its start. What is
    /// not kept any more is left out.
    pub(super) async fn text_of(
        &mut self,
        document: &IndexedDocument,
        plain: PlainText,
    ) -> Result<Output, TranscriptError> {
        let mut plain = plain.with_every_anchor();
        let mut output = Output::default();
        loop {
            let at = Offset(plain.fed());
            if at >= document.end {
                break;
            }
            if let Some(bytes) = self.whole(at, document.end).await? {
                plain.advance(bytes);
                continue;
            }
            let span = (self.transcript)
                .read_before(at, document.end, MAX_OUTPUT_BYTES)
                .await?;
            if span.bytes.is_empty() {
                break;
            }
            if span.start > at {
                plain.give(Until::Final);
                append(&mut output, plain.take());
                plain = after_gap(plain.size(), &span);
            }
            plain.advance(&span.bytes);
        }
        if document.is_ended {
            plain.give(Until::Final);
        }
        append(&mut output, plain.take());
        Ok(with_end(output, plain.next()))
    }

    /// The output in a range, if it is not too long, and no gap is in its blocks.
    async fn whole(&mut self, at: Offset, end: Offset) -> Result<Option<&[u8]>, TranscriptError> {
        let has_all = |blocks: &Span| blocks.start <= at && end <= blocks.end();
        if end.since(at) > MAX_OUTPUT_BYTES {
            return Ok(None);
        }
        if !has_all(&self.blocks) {
            let start = Offset(at.0 - at.0 % BLOCK_BYTES as u64);
            self.blocks = self.transcript.read(start, end.since(start)).await?;
        }
        if !has_all(&self.blocks) {
            return Ok(None);
        }
        let within = |offset: Offset| usize::try_from(offset.since(self.blocks.start)).ok();
        let range = within(at).zip(within(end));
        Ok(range.and_then(|(from, to)| self.blocks.bytes.get(from..to)))
    }
}

/// Says where the text ends in the output: there its last line ends.
pub(super) fn with_end(mut output: Output, raw: u64) -> Output {
    let text = output.text.len();
    output.anchors.push(Anchor { text, raw });
    output
}

fn append(output: &mut Output, more: Output) {
    if !output.text.is_empty() && !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    let before = output.text.len();
    output.text.push_str(&more.text);
    output
        .anchors
        .extend(more.anchors.into_iter().map(|anchor| Anchor {
            text: anchor.text + before,
            ..anchor
        }));
}
