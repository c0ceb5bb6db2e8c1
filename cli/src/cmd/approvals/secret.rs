//! Questions for secrets: how they are shown, and `termctl answer`.

use termd_client::escape::escaped;
use termd_client::question::asker;
use termd_client::{ClientError, Link};
use termd_proto::approval::ApprovalId;
use termd_proto::secret::{AnswerSecret, Secret, SecretQuestion};

use super::question::list;
use crate::args::AnswerArgs;
use crate::cmd::Context;
use crate::confirm::Person;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::secret::read_secret;

pub(in crate::cmd) async fn answer_secret(
    context: Context,
    args: AnswerArgs,
) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let secret = Some(Secret::new(read_secret()?));
    let id = args.id;
    link.once(&AnswerSecret { id, secret }).await?;
    Ok(ExitCode::OK)
}

/// Asks the person at the tty, until the question is over.
pub(super) async fn ask(
    link: &Link,
    person: &mut Person,
    question: &SecretQuestion,
    seq: u64,
) -> Result<(), CliError> {
    let text = format!(
        "{}, and reads what you answer.\nSecret, which is not shown (nothing: no): ",
        said(question)
    );
    let secret = tokio::select! {
        secret = person.gives_secret(&text) => secret?,
        over = wait_until_over(link, &question.id, seq) => {
            over?;
            // The cursor is still behind the question.
            output::note_below("answered elsewhere, or the time is over");
            return Ok(());
        }
    };
    let id = question.id.clone();
    match link.once(&AnswerSecret { id, secret }).await {
        Err(error @ ClientError::Refused(_)) => {
            output::note(&error.to_string());
            Ok(())
        }
        answered => answered.map_err(CliError::from),
    }
}

/// Waits until a question that stood in the list of this `seq` is in none any more.
async fn wait_until_over(link: &Link, id: &ApprovalId, mut seq: u64) -> Result<(), CliError> {
    loop {
        let listed = list(link, Some(seq)).await?;
        if !listed.secrets.iter().any(|question| question.id == *id) {
            return Ok(());
        }
        seq = listed.seq;
    }
}

/// A question in one line, with what answers it.
pub(super) fn line(question: &SecretQuestion) -> String {
    let (id, said) = (&question.id, said(question));
    format!("{id} secret: {said}, and reads what you answer; termctl answer {id}")
}

/// Which program asks, for whom, and what it says that it wants.
pub(super) fn said(question: &SecretQuestion) -> String {
    let program = question
        .program
        .as_deref()
        .unwrap_or("a program that termd cannot name");
    let place = match &question.terminal {
        Some(terminal) => format!(" in {terminal}"),
        None => String::new(),
    };
    format!(
        "{} asks{place}, for {}: {:?}",
        escaped(program),
        escaped(&asker(&question.asked_by)),
        escaped(&question.prompt)
    )
}
