//! The input of `session_send` and `session_interact`: one of text, control key, key and secret, or
//! only Enter.

use schemars::JsonSchema;
use serde::Deserialize;
use termd_proto::TerminalId;
use termd_proto::interact::TypedInput;
use termd_proto::terminal::SendResult;

use super::params::{Confirmed, MAX_NAME_CHARS};
use crate::tool::{Call, ToolError, line_by_line};

/// Longest text that one call types, in characters.
const MAX_INPUT_CHARS: usize = 1 << 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Typing {
    /// Text
    #[schemars(length(max = MAX_INPUT_CHARS))]
    input: Option<String>,
    #[schemars(extend("default" = true))]
    press_enter: bool,
    /// c interrupts, d is end of file
    #[schemars(extend("enum" = ["c", "d", "z", "l", "]"]))]
    control_char: Option<String>,
    /// Such as up, page-down, escape, tab, f5, ctrl-a, alt-x, shift-tab
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    key: Option<String>,
    /// Secret for a prompt that hides it; stored nowhere
    #[schemars(length(max = MAX_INPUT_CHARS))]
    password: Option<String>,
    #[serde(default)]
    confirmed: Confirmed,
    /// Type what was refused: a password where none is awaited, a line too long for the tty
    #[serde(default)]
    force: bool,
}

impl Typing {
    /// A line of text, and Enter.
    pub(super) fn line(text: String, confirmed: Confirmed) -> Self {
        Self {
            input: Some(text),
            press_enter: true,
            confirmed,
            ..Self::default()
        }
    }

    fn to_input(&self) -> Result<TypedInput, ToolError> {
        let given = [&self.input, &self.control_char, &self.key, &self.password];
        if given.iter().filter(|given| given.is_some()).count() > 1 {
            return Err(ToolError::validation(
                "Only one of 'input', 'control_char', 'key', or 'password' may be provided",
            ));
        }
        let mut input = TypedInput {
            force: self.force,
            ..TypedInput::default()
        };
        if let Some(key) = &self.key {
            input.keys.push(key.clone());
        } else if let Some(control) = &self.control_char {
            input.keys.push(format!("ctrl-{control}"));
        } else if let Some(password) = &self.password {
            input.text = Some(password.clone());
            input.secret = true;
            input.enter = self.press_enter;
        } else {
            input.text = self.input.clone().filter(|text| !text.is_empty());
            input.enter = self.press_enter;
            if input.text.is_none() && !input.enter {
                return Err(ToolError::validation(
                    "nothing to send: give 'input', 'control_char', 'key' or 'password', or leave \
                     press_enter true for a bare Enter",
                ));
            }
        }
        Ok(input)
    }

    /// Whether it is one key, which no shell takes for a line.
    pub(super) fn is_key(&self) -> bool {
        self.key.is_some() || self.control_char.is_some()
    }

    /// Types it, once, and remembers where the output ended then.
    pub(super) async fn send(&self, call: &Call, id: &TerminalId) -> Result<SendResult, ToolError> {
        let input = self.to_input()?;
        Ok(call.type_once(id, input, self.confirmed.0).await?)
    }

    /// The same; several lines are given one after the other.
    pub(super) async fn send_lines(
        &self,
        call: &Call,
        id: &TerminalId,
    ) -> Result<SendResult, ToolError> {
        let input = line_by_line(self.to_input()?);
        let sent = call.type_once(id, input, self.confirmed.0);
        let terminal = id.into();
        Ok(call
            .progress
            .during(call.backend(), &terminal, sent)
            .await?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn typed(arguments: Value) -> Option<TypedInput> {
        let typing: Typing = serde_json::from_value(arguments).unwrap();
        typing.to_input().ok()
    }

    fn text(text: &str, enter: bool, secret: bool) -> TypedInput {
        TypedInput {
            text: Some(text.to_owned()),
            enter,
            secret,
            ..TypedInput::default()
        }
    }

    fn keys(keys: &[&str]) -> TypedInput {
        TypedInput {
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            ..TypedInput::default()
        }
    }

    #[test]
    fn one_kind_of_input_or_only_enter() {
        let enter = TypedInput {
            enter: true,
            ..TypedInput::default()
        };
        let table = [
            (
                json!({ "input": "ls", "press_enter": true }),
                Some(text("ls", true, false)),
            ),
            (
                json!({ "input": "ls", "press_enter": false }),
                Some(text("ls", false, false)),
            ),
            (
                json!({ "password": "s", "press_enter": true }),
                Some(text("s", true, true)),
            ),
            // Enter is of input and password alone.
            (
                json!({ "control_char": "]", "press_enter": true }),
                Some(keys(&["ctrl-]"])),
            ),
            (
                json!({ "key": "C-a", "press_enter": true }),
                Some(keys(&["C-a"])),
            ),
            (json!({ "press_enter": true }), Some(enter.clone())),
            (json!({ "input": "", "press_enter": true }), Some(enter)),
            (json!({ "input": "", "press_enter": false }), None),
            (
                json!({ "input": "x", "key": "up", "press_enter": true }),
                None,
            ),
        ];
        for (arguments, want) in table {
            assert_eq!(typed(arguments.clone()), want, "{arguments}");
        }
    }
}
