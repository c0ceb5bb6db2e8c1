//! Questions for secrets: how they are shown, and `termctl answer`.

use termd_client::escape::escaped;
use termd_client::question::asker;
use termd_proto::secret::{AnswerSecret, Secret, SecretQuestion};

use super::question::{list, look_at};
use crate::args::AnswerArgs;
use crate::cmd::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::secret::read_secret;
use crate::usage_error::UsageError;

pub(in crate::cmd) async fn answer_secret(
    context: Context,
    args: AnswerArgs,
) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let id = args.id;
    let listed = list(&link, None).await?;
    if !listed.secrets.iter().any(|question| question.id == id) {
        // No password is typed for a question that does not wait for one.
        let info = look_at(&link, &id).await?;
        return Err(UsageError::NoSecretAsked(info.id.to_string()).into());
    }
    let secret = Some(Secret::new(read_secret()?));
    link.once(&AnswerSecret { id, secret }).await?;
    Ok(ExitCode::OK)
}

/// A question in one line, with what answers it.
pub(super) fn line(question: &SecretQuestion) -> String {
    let (id, said) = (&question.id, said(question));
    format!("{id} secret: {said}, and reads what you answer; termctl answer {id}")
}

/// Which program asks, for whom, and what it says that it wants.
pub(in crate::cmd) fn said(question: &SecretQuestion) -> String {
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
