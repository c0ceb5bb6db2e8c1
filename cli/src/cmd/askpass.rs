//! `termctl askpass`: what sudo(8), ssh(1) and git(1) run in agents' commands to ask for a password.
//!
//! It prints the secret and a newline, exit code 0. Where nobody can be asked, says no, or answers in time,
//! it prints nothing on standard output, and the program fails as it would without: exit code 1.

use termd_client::{Introduction, Pool, StartPolicy};
use termd_proto::secret::{AskSecret, SecretOutcome};

use crate::args::AskpassArgs;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

pub(super) async fn run(args: AskpassArgs) -> Result<ExitCode, CliError> {
    let daemon = Pool::new(StartPolicy::Never, Introduction::default());
    let prompt = args.prompt.join(" ");
    let Ok(asked) = daemon.once(&AskSecret { prompt }).await else {
        output::note("termd cannot be asked for it");
        return Ok(ExitCode::FAILED);
    };
    if let Some(secret) = asked.secret {
        output::print(secret.reveal().as_bytes())?;
        output::print(b"\n")?;
        return Ok(ExitCode::OK);
    }
    output::note(match asked.outcome {
        SecretOutcome::Denied => "the person at this machine was asked for it and said no",
        SecretOutcome::Expired => "the person at this machine was asked for it and did not answer",
        SecretOutcome::Nobody | SecretOutcome::Answered => {
            "nobody could be asked for it: a person has to run `termctl approvals --watch`"
        }
    });
    Ok(ExitCode::FAILED)
}
