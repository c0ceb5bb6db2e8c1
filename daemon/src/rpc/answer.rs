//! What a call is answered with, ready for the line.
//!
//! Must not know: sockets, queues.

use std::io;

use serde::Serialize;
use serde_json::json;

use super::error::RpcError;
use super::limits::MAX_RESPONSE_BYTES;

/// An answer but for what stands before it: `"result":…}` or `"error":…}`.
#[derive(Debug)]
pub(super) struct Answer {
    body: Vec<u8>,
    is_error: bool,
}

impl Answer {
    /// A method's result, or the error that it is too long.
    pub(super) fn of(result: &impl Serialize) -> Result<Self, RpcError> {
        let mut out = Bounded(br#""result":"#.to_vec());
        match serde_json::to_writer(&mut out, result) {
            Ok(()) => {
                out.0.push(b'}');
                // A long answer may wait for its peer, and growing has doubled its buffer.
                out.0.shrink_to_fit();
                Ok(Self {
                    body: out.0,
                    is_error: false,
                })
            }
            Err(error) if error.is_io() => {
                Err(RpcError::overloaded("response_bytes", MAX_RESPONSE_BYTES))
            }
            Err(error) => Err(RpcError::internal(&error)),
        }
    }

    /// The result `null`.
    pub(super) fn null() -> Self {
        Self {
            body: br#""result":null}"#.to_vec(),
            is_error: false,
        }
    }

    /// What stands before the body: the version and the peer's id, as the peer wrote it.
    pub(super) fn head(id: &str) -> String {
        [r#"{"jsonrpc":"2.0","id":"#, id, ","].concat()
    }

    pub(super) fn into_body(self) -> Vec<u8> {
        self.body
    }

    pub(super) fn is_error(&self) -> bool {
        self.is_error
    }
}

impl From<RpcError> for Answer {
    fn from(error: RpcError) -> Self {
        let RpcError {
            code,
            message,
            data,
        } = error;
        let error = json!({ "code": code, "message": message, "data": data });
        Self {
            body: format!(r#""error":{error}}}"#).into_bytes(),
            is_error: true,
        }
    }
}

/// A buffer that takes [`MAX_RESPONSE_BYTES`] bytes.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_RESPONSE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers wait for a peer that does not read: half of each would be unused memory.
    #[test]
    fn an_answer_holds_no_more_than_its_length() {
        for length in [1_000, 900_000, 1_200_000] {
            let body = Answer::of(&["x".repeat(length)]).unwrap().into_body();
            assert!(body.len() > length);
            assert!(body.capacity() < length + length / 8, "{}", body.capacity());
        }
    }
}
