//! `termctl send`: types into a terminal.

use std::io::{self, BufRead as _};

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::interact::{MAX_KEYS, TypedInput};
use termd_proto::terminal::SendResult;

use super::Context;
use crate::args::{InputPart, SendArgs};
use crate::confirm::{Agreement, Consent, agreement, can_ask_at_tty, denied};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{read_stdin, send_bytes, sent_before, type_input};
use crate::output;
use crate::secret::read_secret;
use crate::tmux_key::{lone_key, tmux_key};
use crate::usage_error::UsageError;

/// End of file by the default settings of a tty.
const EOF: &str = "ctrl-d";
const ENTER: &str = "enter";

pub(super) async fn run(context: Context, args: SendArgs) -> Result<ExitCode, CliError> {
    let id = TerminalRef(args.terminal.clone());
    let consent = Consent::of_flag(args.confirmed);
    let steps = steps(args)?;
    let link = context.open().await?;
    let mut result = None;
    let mut typed: Vec<String> = Vec::new();
    for step in steps {
        let more = match &step {
            Step::Type(input) => type_or_ask(&link, &id, input, consent)
                .await
                .map(Some)
                .map_err(CliError::from),
            Step::Stdin => send_stdin(&link, &id, consent).await,
        };
        let more = more.map_err(|error| error.after_typing(&typed))?;
        typed.push(step.describe());
        result = match (result, more) {
            (Some(before), Some(after)) => Some(sent_before(&before, &after)),
            (before, after) => after.or(before),
        };
    }
    let Some(result) = result else {
        return Ok(ExitCode::OK);
    };
    if context.json {
        output::print_json(&result)?;
    } else if result.queued > 0 {
        output::note(&format!(
            "{} bytes wait: the program is not reading",
            result.queued
        ));
    }
    Ok(ExitCode::OK)
}

/// One call, or all of standard input.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Type(TypedInput),
    Stdin,
}

impl Step {
    /// For a message: text as a shell would take it, and the names of keys.
    fn describe(&self) -> String {
        let Self::Type(input) = self else {
            return "standard input".to_owned();
        };
        let text = (input.text.as_ref()).map(|text| format!("{text:?}"));
        let enter = input.enter.then(|| ENTER.to_owned());
        let words = text
            .into_iter()
            .chain(input.keys.iter().cloned())
            .chain(enter);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The steps in order. Enter goes with the input before it, so that another client's input cannot come
/// between them.
fn steps(args: SendArgs) -> Result<Vec<Step>, CliError> {
    if args.secret {
        return Ok(vec![Step::Type(TypedInput {
            text: Some(read_secret()?),
            enter: args.input.0.contains(&InputPart::Enter),
            secret: true,
            force: args.force,
            ..TypedInput::default()
        })]);
    }
    let parts = if args.literal {
        args.input.0
    } else {
        without_doubt(args.input.0)?
    };
    let steps = plain_steps(parts, args.force);
    if steps.is_empty() {
        return Err(UsageError::NothingToSend.into());
    }
    Ok(steps)
}

/// Asks the person about words that look like keys; without a tty they are refused.
fn without_doubt(parts: Vec<InputPart>) -> Result<Vec<InputPart>, CliError> {
    let key_of = match parts.as_slice() {
        [_] => lone_key,
        _ => tmux_key,
    };
    let decided = parts.into_iter().map(|part| match part {
        InputPart::Word(word) => match key_of(&word) {
            Some(key) => word_or_key(word, key),
            None => Ok(InputPart::Word(word)),
        },
        part => Ok(part),
    });
    decided.collect()
}

fn word_or_key(word: String, key: String) -> Result<InputPart, CliError> {
    let mut reply = String::new();
    if can_ask_at_tty() {
        output::ask(&format!(
            "type the letters {word}, or press the key? [l/k] "
        ));
        let read = io::stdin().lock().read_line(&mut reply);
        read.map_err(|error| CliError::Io("cannot read standard input", error))?;
    }
    match reply.trim().to_ascii_lowercase().as_str() {
        "l" => Ok(InputPart::Word(word)),
        "k" => Ok(InputPart::Key(key)),
        _ => Err(UsageError::LooksLikeKey { word, key }.into()),
    }
}

/// As few calls as keep the order: a call has either text or keys.
fn plain_steps(parts: Vec<InputPart>, force: bool) -> Vec<Step> {
    let typed = |text: Option<String>, keys: Vec<String>| {
        Step::Type(TypedInput {
            text,
            keys,
            force,
            ..TypedInput::default()
        })
    };
    let press = |steps: &mut Vec<Step>, key: String| match steps.last_mut() {
        Some(Step::Type(input)) if (1..MAX_KEYS).contains(&input.keys.len()) => {
            input.keys.push(key);
        }
        _ => steps.push(typed(None, vec![key])),
    };
    let mut steps: Vec<Step> = Vec::new();
    for part in parts {
        let open = match steps.last_mut() {
            Some(Step::Type(input)) if !input.enter => Some(input),
            _ => None,
        };
        let text = open.and_then(|input| Some((input.text.as_mut()?, &mut input.enter)));
        match (part, text) {
            (InputPart::Word(word), Some((text, _))) => {
                text.push(' ');
                text.push_str(&word);
            }
            (InputPart::Word(word), None) => steps.push(typed(Some(word), Vec::new())),
            (InputPart::Enter, Some((_, enter))) => *enter = true,
            (InputPart::Enter, None) => press(&mut steps, ENTER.to_owned()),
            (InputPart::Eof, _) => press(&mut steps, EOF.to_owned()),
            (InputPart::Key(name), _) => press(&mut steps, name),
            (InputPart::Stdin, _) => steps.push(Step::Stdin),
        }
    }
    steps
}

/// Types. If the gate asks and the person at the tty agrees, types once more with consent.
pub(super) async fn type_or_ask(
    link: &Link,
    id: &TerminalRef,
    input: &TypedInput,
    consent: Consent,
) -> Result<SendResult, ClientError> {
    let refused = match type_input(link, id, input, consent).await {
        Err(error) => error,
        typed => return typed,
    };
    match agreement(link, refused.refusal()).await {
        Agreement::No => Err(refused),
        Agreement::Denied(id) => Err(denied(id.as_ref())),
        Agreement::Approved => type_input(link, id, input, consent).await,
        Agreement::ByWord => type_input(link, id, input, Consent::Given).await,
    }
}

async fn send_stdin(
    link: &Link,
    id: &TerminalRef,
    consent: Consent,
) -> Result<Option<SendResult>, CliError> {
    let mut result: Option<SendResult> = None;
    let mut stdin = read_stdin()?;
    while let Some(chunk) = stdin.recv().await {
        let sent = send_bytes(link, id, &chunk, consent).await?;
        result = Some(match result {
            Some(before) => sent_before(&before, &sent),
            None => sent,
        });
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Verb};

    fn steps_of(words: &[&str]) -> Vec<Step> {
        let cli = Cli::try_parse_from(["termctl", "send", "t"].iter().chain(words)).unwrap();
        let Verb::Send(args) = cli.verb else {
            panic!("{cli:?}");
        };
        plain_steps(args.input.0, args.force)
    }

    fn text(text: &str, enter: bool) -> Step {
        Step::Type(TypedInput {
            text: Some(text.to_owned()),
            enter,
            ..TypedInput::default()
        })
    }

    fn keys(keys: &[&str]) -> Step {
        Step::Type(TypedInput {
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            ..TypedInput::default()
        })
    }

    #[test]
    fn the_calls_are_few_and_in_order_and_enter_goes_with_what_is_before_it() {
        for (words, want) in [
            (&[][..], vec![]),
            (&["a", "b", "-e"], vec![text("a b", true)]),
            (&["-e"], vec![keys(&["enter"])]),
            (
                &["-k", "escape", ":wq", "-e"],
                vec![keys(&["escape"]), text(":wq", true)],
            ),
            (
                &["a", "--ctrl", "c", "-k", "up", "-e", "--eof"],
                vec![text("a", false), keys(&["ctrl-c", "up", "enter", "ctrl-d"])],
            ),
            (
                &["a", "-e", "-e", "b", "-e", "c"],
                vec![
                    text("a", true),
                    keys(&["enter"]),
                    text("b", true),
                    text("c", false),
                ],
            ),
            (
                &["a", "--stdin", "-e", "b"],
                vec![
                    text("a", false),
                    Step::Stdin,
                    keys(&["enter"]),
                    text("b", false),
                ],
            ),
        ] {
            assert_eq!(steps_of(words), want, "{words:?}");
        }
        let many = vec![InputPart::Enter; MAX_KEYS + 1];
        assert_eq!(plain_steps(many, false).len(), 2);
    }
}
