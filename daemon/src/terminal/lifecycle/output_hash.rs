//! The hash of all that a command has printed, for its record. Read from the transcript once the command
//! has ended, so that output is handled no slower for it.

use sha2::{Digest, Sha256};
use termd_proto::Offset;

use crate::terminal::output::transcript::Transcript;

/// Output that is hashed at once, in bytes: other tasks wait for a fraction of a millisecond.
const PAGE_BYTES: u64 = 256 << 10;

/// SHA-256 in hexadecimal of the output before `end`; `None` where some of it is not kept or cannot be
/// read.
pub(super) async fn output_hash(transcript: &Transcript, end: Offset) -> Option<String> {
    let mut hash = Sha256::new();
    let mut at = Offset::ZERO;
    while at < end {
        let read = transcript.read_before(at, end, PAGE_BYTES).await;
        let span = read
            .inspect_err(|error| tracing::warn!(%error, "cannot read output to hash it"))
            .ok()?;
        if span.start != at || span.bytes.is_empty() {
            return None;
        }
        hash.update(&span.bytes);
        at = span.end();
        tokio::task::consume_budget().await;
    }
    Some(format!("{:x}", hash.finalize()))
}
