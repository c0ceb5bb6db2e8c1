//! `termctl hook`: the gate's verdict about a command that an agent is about to run, as the agent's own
//! permission answer.
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
    if let Ok(Some(judgement)) = timeout(MAX_TIME, judged(args.agent)).await
        && !(judgement.effect == Effect::Confirm && has_termds_shell())
        && let Some(answer) = protocol::answer(args.agent, &judgement)
    {
        output::print_json(&answer)?;
    }
    Ok(ExitCode::OK)
}

/// Whether the agent that runs the hook has one of termd's shells: Claude Code by its setting, which its
/// hooks are given, any other that takes the first one on PATH.
fn has_termds_shell() -> bool {
    let of_claude = env::var_os("CLAUDE_CODE_SHELL").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("bash"));
    let shell = of_claude.or_else(|| on_path.into_iter().find(|shell| shell.exists()));
    shell.is_some_and(|shell| shell.to_str().is_some_and(is_shell_path))
}

async fn judged(agent: HookAgentArg) -> Option<Judgement> {
    let asked = protocol::asked(agent, &input().await?)?;
    let daemon = Pool::new(
        StartPolicy::Never,
        Introduction {
            client: protocol::client(agent).to_owned(),
            front: Front::Shell,
            ..Introduction::default()
        },
    );
    let question = CheckPolicy {
        line: Some(asked.command),
        cwd: asked.cwd,
        ..CheckPolicy::default()
    };
    daemon.repeat(&question).await.ok()
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
