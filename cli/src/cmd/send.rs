//! `termctl send`: types into a terminal.

use termd_proto::TerminalRef;
use termd_proto::terminal::SendResult;

use super::Context;
use crate::args::SendArgs;
use crate::client::Link;
use crate::confirm::{Consent, is_agreed};
use crate::error::CliError;
use crate::exit::ExitCode;
use crate::input::{read_stdin, send_bytes};
use crate::output;

/// The enter key.
const ENTER: u8 = b'\r';
/// End of file, as tty(4) has it by default.
const EOF: u8 = 0x04;

pub(super) async fn run(context: Context, args: SendArgs) -> Result<ExitCode, CliError> {
    let keys_given = !args.text.is_empty() || !args.ctrl.is_empty() || args.enter || args.eof;
    if !keys_given && !args.stdin {
        return Err(CliError::Usage(
            "nothing to send: give TEXT, --enter, --ctrl, --eof or --stdin".to_owned(),
        ));
    }
    let mut before = args.text.join(" ").into_bytes();
    before.extend(args.ctrl.iter().map(|key| key.byte()));
    let mut after = Vec::new();
    if args.enter {
        after.push(ENTER);
    }
    if args.eof {
        after.push(EOF);
    }
    let link = context.open().await?;
    let id = TerminalRef(args.terminal);
    let consent = Consent::of_flag(args.confirmed);
    let mut result = None;
    if args.stdin {
        if !before.is_empty() {
            result = Some(type_or_ask(&link, &id, &before, consent).await?);
        }
        let mut stdin = read_stdin()?;
        while let Some(chunk) = stdin.recv().await {
            result = Some(type_or_ask(&link, &id, &chunk, consent).await?);
        }
    } else {
        // Together, so that nothing another client types comes between text and enter.
        after.splice(0..0, before);
    }
    if !after.is_empty() {
        result = Some(type_or_ask(&link, &id, &after, consent).await?);
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

/// Types bytes; where the gate asks and the person at the tty agrees, all the same.
async fn type_or_ask(
    link: &Link,
    id: &TerminalRef,
    bytes: &[u8],
    consent: Consent,
) -> Result<SendResult, CliError> {
    match send_bytes(link, id, bytes, consent).await {
        Err(error) if is_agreed(&error).await => send_bytes(link, id, bytes, Consent::Given).await,
        sent => sent,
    }
}
