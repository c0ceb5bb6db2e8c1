//! `termctl send`: types into a terminal.

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::interact::TypedInput;
use termd_proto::terminal::SendResult;

use super::Context;
use crate::args::SendArgs;
use crate::confirm::{Agreement, Consent, agreement, denied};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{read_stdin, send_bytes, sent_before, type_input};
use crate::output;
use crate::secret::read_secret;
use crate::usage_error::UsageError;

/// End of file by the default settings of a tty.
const EOF: &str = "ctrl-d";

pub(super) async fn run(context: Context, args: SendArgs) -> Result<ExitCode, CliError> {
    let id = TerminalRef(args.terminal.clone());
    let steps = steps(&args)?;
    let link = context.open().await?;
    let consent = Consent::of_flag(args.confirmed);
    let mut result = None;
    for step in steps {
        let more = match step {
            Step::Type(input) => Some(type_or_ask(&link, &id, &input, consent).await?),
            Step::Stdin => send_stdin(&link, &id, consent).await?,
        };
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

/// The steps in order. Enter goes with the input before it, so that another client's input cannot come
/// between them.
fn steps(args: &SendArgs) -> Result<Vec<Step>, CliError> {
    if args.secret {
        return Ok(vec![Step::Type(TypedInput {
            text: Some(read_secret()?),
            enter: args.enter,
            secret: true,
            force: args.force,
            ..TypedInput::default()
        })]);
    }
    let steps = plain_steps(args);
    if steps.is_empty() {
        return Err(UsageError::NothingToSend.into());
    }
    Ok(steps)
}

fn plain_steps(args: &SendArgs) -> Vec<Step> {
    let typed = |text: Option<String>, keys: Vec<String>| TypedInput {
        text,
        keys,
        force: args.force,
        ..TypedInput::default()
    };
    let mut inputs = Vec::new();
    if !args.text.is_empty() {
        inputs.push(typed(Some(args.text.join(" ")), Vec::new()));
    }
    let control = args.ctrl.iter().map(ToString::to_string);
    let keys: Vec<String> = control.chain(args.key.iter().cloned()).collect();
    if !keys.is_empty() {
        inputs.push(typed(None, keys));
    }
    let mut steps: Vec<Step> = Vec::new();
    if args.stdin {
        steps.extend(inputs.drain(..).map(Step::Type));
        steps.push(Step::Stdin);
    }
    if args.enter {
        match inputs.last_mut() {
            Some(last) => last.enter = true,
            None => inputs.push(TypedInput {
                enter: true,
                ..typed(None, Vec::new())
            }),
        }
    }
    if args.eof {
        inputs.push(typed(None, vec![EOF.to_owned()]));
    }
    steps.extend(inputs.into_iter().map(Step::Type));
    steps
}

/// Types. If the gate asks and the person at the tty agrees, types once more with consent.
async fn type_or_ask(
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
        Agreement::Denied(id) => Err(denied(&id)),
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
    use super::*;

    fn args() -> SendArgs {
        SendArgs {
            terminal: "t".to_owned(),
            text: Vec::new(),
            ctrl: Vec::new(),
            key: Vec::new(),
            stdin: false,
            enter: false,
            eof: false,
            secret: false,
            force: false,
            confirmed: false,
        }
    }

    fn typed(text: Option<&str>, keys: &[&str], enter: bool) -> Step {
        Step::Type(TypedInput {
            text: text.map(str::to_owned),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            enter,
            ..TypedInput::default()
        })
    }

    #[test]
    fn enter_goes_with_what_is_before_it() {
        assert!(steps(&args()).is_err());
        let text = SendArgs {
            text: vec!["a".to_owned(), "b".to_owned()],
            enter: true,
            ..args()
        };
        assert_eq!(steps(&text).unwrap(), [typed(Some("a b"), &[], true)]);
        let all = SendArgs {
            ctrl: vec!["c".parse().unwrap()],
            key: vec!["up".to_owned()],
            eof: true,
            ..text
        };
        assert_eq!(
            steps(&all).unwrap(),
            [
                typed(Some("a b"), &[], false),
                typed(None, &["ctrl-c", "up"], true),
                typed(None, &["ctrl-d"], false),
            ]
        );
        let stdin = SendArgs { stdin: true, ..all };
        assert_eq!(
            steps(&stdin).unwrap(),
            [
                typed(Some("a b"), &[], false),
                typed(None, &["ctrl-c", "up"], false),
                Step::Stdin,
                typed(None, &[], true),
                typed(None, &["ctrl-d"], false),
            ]
        );
    }
}
