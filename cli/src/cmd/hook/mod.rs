//! `termctl hook`: the gate's verdict about a command that an agent is about to run, as the agent's own
//! permission answer.
//!
//! **Invariant:** it never breaks the agent. Without a daemon, without an answer in time and for any
//! input that it does not know it prints nothing and exits with 0, and the agent's own rules hold.

mod protocol;

use std::io::{self, Read as _};
use std::time::Duration;

use termd_client::{Introduction, Pool, StartPolicy};
use termd_proto::policy::{CheckPolicy, Judgement};
use termd_proto::terminal::Front;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Context;
use crate::args::{HookAgentArg, HookArgs};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// The longest time for all of it. An agent waits for its hooks.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The most bytes of input. A longer command is not judged.
const MAX_INPUT: u64 = 4 << 20;

pub(super) async fn run(_: Context, args: HookArgs) -> Result<ExitCode, CliError> {
    if let Ok(Some(judgement)) = timeout(MAX_TIME, judged(args.agent)).await
        && let Some(answer) = protocol::answer(args.agent, &judgement)
    {
        output::print_json(&answer)?;
    }
    Ok(ExitCode::OK)
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
