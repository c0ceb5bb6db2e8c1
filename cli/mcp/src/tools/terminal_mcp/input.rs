//! What `session_send` and `session_interact` type: one of text, control key, key and secret, or only
//! Enter.

use serde::Deserialize;
use termd_proto::interact::{TypeInput, TypedInput};
use termd_proto::terminal::SendResult;
use termd_proto::{TerminalId, TerminalRef};

use crate::Shared;
use crate::answer::ToolError;

/// How long a program may take to take what is typed: 100,000 characters into a slow line editor.
const TYPING_TIMEOUT_MS: u64 = 30_000;

/// The parameters, as [`super::fields::typing`] describes them.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Typing {
    input: Option<String>,
    #[serde(default)]
    press_enter: bool,
    control_char: Option<String>,
    key: Option<String>,
    password: Option<String>,
    #[serde(default)]
    confirmed: bool,
    #[serde(default)]
    force: bool,
}

impl Typing {
    /// A line of text, and Enter.
    pub(super) fn line(text: String, confirmed: bool) -> Self {
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

    /// Types it, once, and remembers where the output ended then.
    pub(super) async fn send(
        &self,
        shared: &Shared,
        id: &TerminalId,
    ) -> Result<SendResult, ToolError> {
        let input = self.to_input()?;
        let sent = shared
            .backend
            .pool()
            .once(&TypeInput {
                id: TerminalRef::from(id),
                input: input.clone(),
                confirmed: Some(self.confirmed),
                timeout_ms: Some(TYPING_TIMEOUT_MS),
            })
            .await?;
        shared.cursors.set_sent(id, sent.offset);
        Ok(sent)
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
