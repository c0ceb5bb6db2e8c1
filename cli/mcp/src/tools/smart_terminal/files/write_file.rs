//! `terminal_write_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::place::{Existing, Place};
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, ToolError, object};
use crate::tools::smart_terminal::params::SessionName;
use crate::tools::smart_terminal::results::bad;
use crate::tools::smart_terminal::sessions::session::{directory, find};

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
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_write_file",
        title: "Write a file",
        description: "Write content to a file, whole or not at all; a relative path is seen from the \
                      session's directory, and the file's directory has to exist.",
        effect: Effect::Runs,
        output: object(vec![
            Field::boolean("success", "").required(),
            Field::string("path", "").required(),
            Field::integer("size", "The file's size in bytes").required(),
            Field::boolean("append", "").required(),
        ]),
        handler: Handler::new(write),
    }
}

async fn write(call: Call, arguments: Arguments) -> Outcome {
    let bytes = decode(&arguments.content, arguments.encoding)?;
    let info = find(&call, &arguments.session_id.0).await?;
    let cwd = directory(&call, &info).await;
    let place = Place::check(&cwd, &arguments.path, Existing::Followed)?;
    let write = move || -> Result<_, ToolError> {
        if arguments.append {
            let size = place.append(&bytes)?;
            return Ok((place.path().to_owned(), size, true));
        }
        let mut file = place.replace()?;
        file.write(&bytes)?;
        let (path, size) = file.finish()?;
        Ok((path, size, false))
    };
    let (path, size, append) = tokio::task::spawn_blocking(write)
        .await
        .map_err(|error| bad(error.to_string()))??;
    Ok(ToolAnswer::Facts(json!({
        "success": true,
        "path": path,
        "size": size,
        "append": append,
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
