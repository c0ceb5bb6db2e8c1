//! Bytes of output as a read answers them: exact, or the text as it came.

use termd_proto::terminal::Encoding;

use super::text::{Completeness, LineEnds, StartsAt, render};

/// What an answer says of some bytes.
pub(crate) struct Encoded {
    pub(crate) text: Option<String>,
    /// The bytes themselves, where they are to be exact.
    pub(crate) exact: Option<Vec<u8>>,
    /// How many of the bytes are in the answer. An unfinished character is not.
    pub(crate) taken: usize,
}

impl Encoded {
    pub(crate) fn new(bytes: Vec<u8>, encoding: Encoding, completeness: Completeness) -> Self {
        match encoding {
            Encoding::Base64 | Encoding::Pipe => Self {
                text: None,
                taken: bytes.len(),
                exact: Some(bytes),
            },
            Encoding::Raw | Encoding::Text | Encoding::Styled => {
                let (start, ends) = (StartsAt::Character, LineEnds::Keep);
                let rendered = render(&bytes, start, completeness, ends, usize::MAX);
                Self {
                    text: Some(rendered.text),
                    exact: None,
                    taken: rendered.end,
                }
            }
        }
    }
}
