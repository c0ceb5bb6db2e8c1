//! `termctl policy check`: what the gate says of a command, without running it.

use termd_proto::policy::{Effect, Judgement, PolicyClient as _};

use super::Context;
use crate::args::{PolicyArgs, PolicyVerb};
use crate::error::CliError;
use crate::escape::escaped;
use crate::exit::ExitCode;
use crate::output;

pub(super) async fn run(context: Context, args: PolicyArgs) -> Result<ExitCode, CliError> {
    let PolicyVerb::Check(check) = args.verb;
    let link = context.open().await?;
    let argv = (!check.argv.is_empty()).then_some(check.argv);
    let here = std::env::current_dir().ok();
    let cwd = here.and_then(|dir| dir.into_os_string().into_string().ok());
    let judgement = link
        .repeat(|rpc| {
            let (line, argv) = (check.line.clone(), argv.clone());
            let (program, cwd) = (check.program.clone(), cwd.clone());
            async move { rpc.check(line, argv, program, cwd, None).await }
        })
        .await?;
    if context.json {
        output::print_json(&judgement)?;
    } else {
        output::print(said(&judgement).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// `dangerous: REASON; it asks first`.
fn said(judgement: &Judgement) -> String {
    let effect = match judgement.effect {
        Effect::Allow => "runs",
        Effect::Confirm => "asks first",
        Effect::Deny => "is forbidden",
    };
    let reason = judgement.reason.as_deref().map(escaped);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let rule = judgement
        .rule
        .map_or_else(String::new, |rule| format!(" (rule {rule})"));
    format!("{}{reason}; {effect}{rule}\n", judgement.verdict.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use termd_proto::policy::Verdict;

    #[test]
    fn one_line_says_what_why_and_what_follows() {
        let safe = Judgement {
            verdict: Verdict::Safe,
            reason: None,
            span: None,
            effect: Effect::Allow,
            rule: None,
        };
        assert_eq!(said(&safe), "safe; runs\n");
        let denied = Judgement {
            verdict: Verdict::Dangerous,
            reason: Some("it\u{1b}x".to_owned()),
            effect: Effect::Deny,
            rule: Some(2),
            ..safe
        };
        assert_eq!(
            said(&denied),
            "dangerous: it\\x1bx; is forbidden (rule 2)\n"
        );
    }
}
