//! What was printed around a range of output: by it is decided what is hidden in the range.

use termd_policy::secrets::output::{
    KnownSecrets, NearbySecrets, OutputPiece, escape_sequence_bytes, open_sequence,
};
use termd_policy::secrets::redact::Redactor;
use termd_proto::Offset;
use termd_vt::plain::{PlainText, Screen};

use crate::terminal::Terminal;
use crate::terminal::output::transcript::{Span, TranscriptError};

/// Output on each side of what is read in which a secret may begin or end, in bytes: as long as a private
/// key.
const CONTEXT_BYTES: u64 = 4 * 1024;

/// In which form a range of output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it was printed, byte by byte.
    Exact,
    /// As text without escape sequences.
    Resolved,
}

/// What was printed around a range of output.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) before: String,
    pub(super) after: String,
    nearby: NearbySecrets,
}

impl Surroundings {
    pub(super) async fn of(
        redactor: &Redactor,
        terminal: &Terminal,
        range: (Offset, Offset),
        form: Form,
    ) -> Result<Self, TranscriptError> {
        let (before, after) = match form {
            Form::Exact => context(terminal, range).await?,
            Form::Resolved => printed_context(terminal, range).await?,
        };
        Ok(Self {
            before,
            after,
            nearby: nearby(redactor, terminal, range).await?,
        })
    }

    /// What is shown of the range, with what is around it.
    pub(super) fn piece<'a>(&'a self, text: &'a str) -> OutputPiece<'a> {
        OutputPiece {
            before: &self.before,
            text,
            after: &self.after,
            nearby: Some(&self.nearby),
        }
    }
}

/// The secrets around the ends of a range, as they were printed and as the cursor left them.
async fn nearby(
    redactor: &Redactor,
    terminal: &Terminal,
    (start, end): (Offset, Offset),
) -> Result<NearbySecrets, TranscriptError> {
    let beyond = |offset: Offset| Offset(offset.0.saturating_add(CONTEXT_BYTES));
    let around = |offset: Offset| (offset.back(CONTEXT_BYTES), beyond(offset));
    let parts = if beyond(start) >= end.back(CONTEXT_BYTES) {
        vec![(start.back(CONTEXT_BYTES), beyond(end))]
    } else {
        vec![around(start), around(end)]
    };
    let mut texts = Vec::new();
    for (from, to) in parts {
        let span = terminal.transcript.read_range(from, to).await?;
        let size = terminal.progress().size.into();
        let mut plain = PlainText::at(size, span.start.0, Screen::Primary);
        plain.advance(&span.bytes);
        texts.extend([same_length(&span.bytes), plain.finish()]);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let known: &KnownSecrets = &terminal.record.secrets;
    Ok(redactor.nearby(known, &texts))
}

/// What was printed before and after a range of output.
pub(super) async fn context(
    terminal: &Terminal,
    (start, end): (Offset, Offset),
) -> Result<(String, String), TranscriptError> {
    let transcript = &terminal.transcript;
    let before = transcript
        .read_range(start.back(CONTEXT_BYTES), start)
        .await?;
    let after = transcript.read(end, CONTEXT_BYTES).await?;
    // What lies beyond a gap is not next to the range.
    let text = |span: &Span, borders: bool| borders.then(|| same_length(&span.bytes));
    Ok((
        text(&before, before.end() == start).unwrap_or_default(),
        text(&after, after.start == end).unwrap_or_default(),
    ))
}

/// What was printed before and after a range of which the text without escape sequences is known: nothing of a
/// sequence that an end of the range cuts.
async fn printed_context(
    terminal: &Terminal,
    range: (Offset, Offset),
) -> Result<(String, String), TranscriptError> {
    let (mut before, mut after) = context(terminal, range).await?;
    if let Some(open) = open_sequence(&before) {
        before.truncate(open);
    }
    let end = range.1;
    let last = terminal.transcript.read_range(end.back(CONTEXT_BYTES), end);
    let last = same_length(&last.await?.bytes);
    if let Some(sequence) = open_sequence(&last).and_then(|open| last.get(open..)) {
        let mut sequence = [sequence, &after].concat();
        let length = escape_sequence_bytes(&sequence).unwrap_or(sequence.len());
        after = sequence.split_off(length);
    }
    Ok((before, after))
}

/// Bytes as text of the same length. A NUL, which shows nothing either, stands for a wrong byte.
pub(super) fn same_length(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\0'));
    }
    text
}
