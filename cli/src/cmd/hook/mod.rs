//! `termctl hook`: the gate's verdict about a command that an agent is about to run, as the agent's own
//! permission answer; and what the agent wants of its person, told to who watches.
//!
//! Where the agent's shell is termd's, the gate asks a person by itself, and two questions about one command
//! would be one too many: then only what is denied is answered.
//!
//! **Invariant:** it never breaks the agent. Without a daemon, without an answer in time and for any
//! input that it does not know it prints nothing and exits with 0, and the agent's own rules hold.

mod protocol;

use std::env;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use termd_client::{Introduction, Pool, StartPolicy};
use termd_proto::policy::{CheckPolicy, Effect, Judgement};
use termd_proto::terminal::Front;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Context;
use crate::args::{HookAgentArg, HookArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::is_shell_path;

/// The longest time for all of it. An agent waits for its hooks.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The most bytes of input. A longer command is not judged.
const MAX_INPUT: u64 = 4 << 20;

pub(super) async fn run(_: Context, args: HookArgs) -> Result<ExitCode, CliError> {
    if let Ok(Some(judgement)) = timeout(MAX_TIME, heard(args.agent)).await
        && !(judgement.effect == Effect::Confirm && has_termds_shell(args.agent))
        && let Some(answer) = protocol::answer(args.agent, &judgement)
    {
        output::print_json(&answer)?;
    }
    Ok(ExitCode::OK)
}

/// Takes the hook's input: the gate's judgement of a command in it.
async fn heard(agent: HookAgentArg) -> Option<Judgement> {
    let input = input().await?;
    let daemon = Pool::new(
        StartPolicy::Never,
        Introduction {
            client: protocol::client(agent).to_owned(),
            front: Front::Shell,
            ..Introduction::default()
        },
    );
    if let Some(attention) = protocol::attention(agent, &input) {
        daemon.once(&attention).await.ok()?;
    }
    let asked = protocol::asked(agent, &input)?;
    let question = CheckPolicy {
        line: Some(asked.command),
        cwd: asked.cwd,
        ..CheckPolicy::default()
    };
    daemon.repeat(&question).await.ok()
}

/// Whether the agent that runs the hook has one of termd's shells. Claude Code takes it from its setting,
/// which its hooks are given, or `SHELL`; Gemini CLI the first bash on PATH. Of the others nobody can tell.
fn has_termds_shell(agent: HookAgentArg) -> bool {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let shell = match agent {
        HookAgentArg::Claude => variable("CLAUDE_CODE_SHELL")
            .or_else(|| variable("SHELL"))
            .map(PathBuf::from),
        HookAgentArg::Gemini => {
            let path = variable("PATH").unwrap_or_default();
            let folders = env::split_paths(&path).map(|folder| folder.join("bash"));
            folders.into_iter().find(|shell| shell.exists())
        }
        HookAgentArg::Codex | HookAgentArg::Cursor => None,
    };
    shell.is_some_and(|shell| shell.to_str().is_some_and(is_shell_path))
}

/// Standard input, read by a thread: a read of a pipe that stays open cannot be given up.
async fn input() -> Option<String> {
    let (tell, told) = oneshot::channel();
    let reading = move || {
        let mut text = String::new();
        let read = io::stdin().lock().take(MAX_INPUT).read_to_string(&mut text);
        let _ = tell.send(read.is_ok().then_some(text));
    };
    std::thread::Builder::new().spawn(reading).ok()?;
    told.await.ok()?
}
