//! `terminal_write_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::file::{MAX_DATA_BYTES, WriteFile, WriteMode};

use super::failed::failed;
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError};
use crate::tools::smart_terminal::params::{Confirmed, SessionName};
use crate::tools::smart_terminal::results::{bad, output_or_question};
use crate::tools::smart_terminal::sessions::session::find;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    Ascii,
    Base64,
    Hex,
    Latin1,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    #[schemars(length(min = 1))]
    path: String,
    content: String,
    /// What content is written in
    #[schemars(extend("default" = "utf-8"))]
    encoding: Encoding,
    #[serde(default)]
    append: bool,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_write_file",
        title: "Write a file",
        description: "Write content to a file, whole or not at all; a relative path is seen from the \
                      session's directory, and missing directories are made.",
        effect: Effect::Runs,
        output: output_or_question(vec![
            Field::boolean("success", "").required(),
            Field::string("path", ""),
            Field::integer("size", "The file's size in bytes"),
            Field::boolean("append", ""),
        ]),
        handler: Handler::new(write),
    }
}

async fn write(call: Call, arguments: Arguments) -> Outcome {
    let bytes = decode(&arguments.content, arguments.encoding)?;
    if bytes.len() > MAX_DATA_BYTES {
        return Err(bad(format!(
            "content may be {MAX_DATA_BYTES} bytes long at the most; this is {}",
            bytes.len()
        )));
    }
    let info = find(&call, &arguments.session_id.0).await?;
    let request = WriteFile {
        id: TerminalRef::from(&info.id),
        path: arguments.path.clone(),
        text: None,
        data: Some(STANDARD.encode(bytes)),
        transcript: None,
        mode: arguments.append.then_some(WriteMode::Append),
        follow_link: None,
        confirmed: Some(arguments.confirmed.0),
    };
    let written = call.backend().pool().once(&request).await;
    let written = written.map_err(|error| failed(error, &arguments.path))?;
    Ok(ToolAnswer::Facts(json!({
        "success": true,
        "path": written.path,
        "size": written.size,
        "append": arguments.append,
    })))
}

/// The bytes that a text stands for. Text that does not fit the encoding is an error.
fn decode(content: &str, encoding: Encoding) -> Result<Vec<u8>, ToolError> {
    let narrow = |most: u32, name: &str| {
        content
            .chars()
            .map(|character| {
                u8::try_from(u32::from(character))
                    .ok()
                    .filter(|byte| u32::from(*byte) <= most)
                    .ok_or_else(|| bad(format!("content holds {character:?}, which is not {name}")))
            })
            .collect()
    };
    match encoding {
        Encoding::Utf8 => Ok(content.as_bytes().to_vec()),
        Encoding::Ascii => narrow(0x7f, "ascii"),
        Encoding::Latin1 => narrow(0xff, "latin1"),
        Encoding::Base64 => {
            let text: String = content.split_ascii_whitespace().collect();
            STANDARD
                .decode(text)
                .map_err(|error| bad(format!("content is not base64: {error}")))
        }
        Encoding::Hex => {
            let digits: Vec<char> = content
                .split_ascii_whitespace()
                .collect::<String>()
                .chars()
                .collect();
            if !digits.len().is_multiple_of(2) {
                return Err(bad("content is not hex: it has an odd number of digits"));
            }
            digits
                .chunks_exact(2)
                .map(|pair| {
                    let value = pair
                        .iter()
                        .try_fold(0, |value, digit| Some(value * 16 + digit.to_digit(16)?));
                    value
                        .and_then(|value| u8::try_from(value).ok())
                        .ok_or_else(|| {
                            let pair: String = pair.iter().collect();
                            bad(format!("content is not hex: {pair:?} is no byte"))
                        })
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_what_its_encoding_says_or_refused() {
        let table: &[(&str, Encoding, Option<&[u8]>)] = &[
            ("h\u{e9}", Encoding::Utf8, Some("h\u{e9}".as_bytes())),
            ("hi", Encoding::Ascii, Some(b"hi")),
            ("h\u{e9}", Encoding::Ascii, None),
            ("h\u{e9}", Encoding::Latin1, Some(b"h\xe9")),
            ("\u{20ac}", Encoding::Latin1, None),
            ("aGk=\n", Encoding::Base64, Some(b"hi")),
            ("aGk", Encoding::Base64, None),
            ("68 69\n0A", Encoding::Hex, Some(b"hi\n")),
            ("6", Encoding::Hex, None),
            ("+1", Encoding::Hex, None),
            ("zz", Encoding::Hex, None),
            ("", Encoding::Hex, Some(b"")),
        ];
        for (content, encoding, want) in table {
            let bytes = decode(content, *encoding).ok();
            assert_eq!(bytes.as_deref(), *want, "{content:?} as {encoding:?}");
        }
    }
}
