//! The beginning of a message that is too long to be kept: whose answer would be missed. Pure.

use super::json::Raw;

use super::message::RequestId;

/// What the beginning shows of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Head {
    /// A request, whose sender waits for an answer.
    Request(RequestId),
    /// An answer, which the other side waits for.
    Response(RequestId),
    /// Anything else, or its id comes later.
    Unknown,
}

/// Which kind of message a member is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Request,
    Response,
}

impl Head {
    /// Reads the members that stand in it, as far as it goes; the last may be cut.
    pub fn read(text: &[u8]) -> Self {
        let (mut id, mut kind) = (None, None);
        let mut rest = Rest(text);
        let mut opening = b'{';
        while rest.take(opening).is_some() {
            opening = b',';
            let Some(name) = rest.value().and_then(decoded) else {
                break;
            };
            if rest.take(b':').is_none() {
                break;
            }
            match name.as_str() {
                "method" | "params" => kind = Some(Kind::Request),
                "result" | "error" => kind = Some(Kind::Response),
                _ => {}
            }
            let Some(value) = rest.value() else {
                break;
            };
            if name == "id" {
                id = std::str::from_utf8(value)
                    .ok()
                    .and_then(Raw::of)
                    .map(RequestId::of);
            }
        }
        match (id, kind) {
            (Some(id), Some(Kind::Request)) => Self::Request(id),
            (Some(id), Some(Kind::Response)) => Self::Response(id),
            (None, _) | (_, None) => Self::Unknown,
        }
    }
}

fn decoded(name: &[u8]) -> Option<String> {
    serde_json::from_slice(name).ok()
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// This character, behind any white space.
    fn take(&mut self, wanted: u8) -> Option<()> {
        self.0 = self.0.trim_ascii_start().strip_prefix(&[wanted])?;
        Some(())
    }

    /// A value, if the text goes on behind it: else it may be cut.
    fn value(&mut self) -> Option<&'a [u8]> {
        let text = self.0.trim_ascii_start();
        let end = end_of_value(text)?;
        let (value, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        Some(value)
    }
}

fn end_of_value(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => {
                    in_string = false;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            // What follows the value, or ends the object that it is a member of.
            b'}' | b']' | b',' | b':' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
            _ => {}
        }
    }
    None
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
            // Cut, or without a word of what it is, or no message.
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
            let got = match Head::read(text.as_bytes()) {
                Head::Request(id) => format!("request {}", id.as_json()),
                Head::Response(id) => format!("response {}", id.as_json()),
                Head::Unknown => "unknown".to_owned(),
            };
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn any_cut_of_any_bytes_is_read_to_its_end() {
        let text = br#"{"a":[1,{"b":"\\\""}],"id":"\u00e9","method":"m","c":"#;
        for end in 0..=text.len() {
            Head::read(&text[..end]);
        }
        for byte in 0..=u8::MAX {
            assert_eq!(Head::read(&[byte; 40]), Head::Unknown);
        }
    }
}
