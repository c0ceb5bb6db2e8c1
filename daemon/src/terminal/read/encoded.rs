//! Bytes of output as a read answers them: base64, or the text as it came.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::terminal::Encoding;

use super::text::{Completeness, LineEnds, StartsAt, render};

/// The answer's `text` or `data`.
pub(crate) struct Encoded {
    pub(crate) text: Option<String>,
    pub(crate) data: Option<String>,
    /// How many of the bytes are in the answer. An unfinished character is not.
    pub(crate) taken: usize,
}

impl Encoded {
    pub(crate) fn new(bytes: &[u8], encoding: Encoding, completeness: Completeness) -> Self {
        match encoding {
            Encoding::Base64 => Self {
                text: None,
                data: Some(BASE64.encode(bytes)),
                taken: bytes.len(),
            },
            Encoding::Raw | Encoding::Text | Encoding::Styled => {
                let (start, ends) = (StartsAt::Character, LineEnds::Keep);
                let rendered = render(bytes, start, completeness, ends, usize::MAX);
                Self {
                    text: Some(rendered.text),
                    data: None,
                    taken: rendered.end,
                }
            }
        }
    }
}
