//! The beginning of a message that is too long to be forwarded: whose answer is missing.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::message::RequestId;

/// What the beginning of a message shows.
#[derive(Debug, PartialEq, Eq)]
pub enum CutMessage {
    /// A request: its sender waits for an answer.
    Request(RequestId),
    /// An answer, which the other side waits for.
    Response(RequestId),
    /// Another message, or one whose id comes later.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
}

impl CutMessage {
    /// Reads the members in `text`, the last of which may be cut.
    pub fn read(text: &[u8]) -> Self {
        let mut found = Found {
            end: text.as_ptr_range().end,
            id: None,
            kind: None,
        };
        // A message that is cut ends in an error; what came before it was found.
        let _ = serde_json::Deserializer::from_slice(text).deserialize_map(&mut found);
        match (found.id, found.kind) {
            (Some(id), Some(Kind::Request)) => Self::Request(id),
            (Some(id), Some(Kind::Response)) => Self::Response(id),
            (None, _) | (_, None) => Self::Unknown,
        }
    }
}

/// Collects a message's id and kind while its members are read.
struct Found {
    /// Where the text ends: a number that ends there may be cut.
    end: *const u8,
    id: Option<RequestId>,
    kind: Option<Kind>,
}

impl<'de> Visitor<'de> for &mut Found {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => {
                    let id: &RawValue = members.next_value()?;
                    let at_end = id.get().as_bytes().as_ptr_range().end == self.end;
                    let is_cut = at_end && id.get().ends_with(|last: char| last.is_ascii_digit());
                    self.id = (!is_cut).then(|| RequestId::of(id));
                    continue;
                }
                "method" | "params" => self.kind = Some(Kind::Request),
                "result" | "error" => self.kind = Some(Kind::Response),
                _ => {}
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_answer_would_be_missed() {
        let table = [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"#,
                "request 7",
            ),
            (
                r#" { "params" : {"id":1}, "id" : "a\"b" , "x"#,
                r#"request "a\"b""#,
            ),
            (r#"{"id":null,"result":{"content":"aaaa"#, "response null"),
            (r#"{"id":9,"error"   : {"#, "response 9"),
            (
                r#"{"id":[1,{"b":"]"}],"\u0072esult":"#,
                r#"response [1,{"b":"]"}]"#,
            ),
            (
                r#"{"id":18446744073709551617,"params":["#,
                "request 18446744073709551617",
            ),
            // Cut, of an unknown kind, or no message.
            (r#"{"method":"x","id":12"#, "unknown"),
            (r#"{"method":"x","id":"abc"#, "unknown"),
            (r#"{"id":7,"meth"#, "unknown"),
            (r#"{"id":7"#, "unknown"),
            (r#"{"params":{"id":7,"method":"y""#, "unknown"),
            (r#"[{"id":7,"method":"x"},"#, "unknown"),
            (r#"{"id":7 8,"method":"x","#, "unknown"),
            (r#"{]"id":7"#, "unknown"),
            ("", "unknown"),
            ("xxxx", "unknown"),
        ];
        for (text, want) in table {
            let got = match CutMessage::read(text.as_bytes()) {
                CutMessage::Request(id) => format!("request {}", id.as_json()),
                CutMessage::Response(id) => format!("response {}", id.as_json()),
                CutMessage::Unknown => "unknown".to_owned(),
            };
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn any_cut_of_any_bytes_is_read_to_its_end() {
        let text = br#"{"a":[1,{"b":"\\\""}],"id":"\u00e9","method":"m","c":"#;
        for end in 0..=text.len() {
            CutMessage::read(&text[..end]);
        }
        for byte in 0..=u8::MAX {
            assert_eq!(CutMessage::read(&[byte; 40]), CutMessage::Unknown);
        }
    }
}
