//! One file a verb: each asks the daemon and writes the answer.

mod acp;
mod approvals;
mod askpass;
mod attach;
mod audit;
mod close;
mod codex_exec_server;
mod completions;
mod create;
mod daemon;
mod delete;
mod doctor;
mod exec;
mod export;
mod gaps;
mod history;
mod hook;
mod import;
mod kill;
mod list;
mod man;
mod mcp;
mod new;
mod notifier;
mod notify;
mod output_offset;
mod own_terminal;
mod policy;
mod read;
mod rename;
mod replay;
mod resize;
mod run;
mod screen;
mod screenshot;
mod search;
mod send;
mod setup;
mod several;
mod show;
mod status;
mod tag;
mod top;
mod typed_command;
mod wait;

use std::pin::Pin;

use futures_util::TryFutureExt as _;
use termd_client::{ClientError, Link, StartPolicy};

use crate::args::{Cli, CloseArgs, NotifierArgs, Verb};
use crate::display::Display;
use crate::error::CliError;
use crate::exit_code::ExitCode;

/// The options of every verb.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Answers are JSON.
    pub(crate) json: bool,
    /// Whether the daemon is started where none is running.
    pub(crate) start: StartPolicy,
    pub(crate) display: Display,
}

impl Context {
    /// Connects to the daemon.
    pub(crate) async fn open(&self) -> Result<Link, ClientError> {
        Link::open(self.start).await
    }
}

/// A verb's work.
pub(crate) type VerbFuture = Pin<Box<dyn Future<Output = Result<ExitCode, CliError>>>>;

/// Runs the verb of the command line. Each verb's future is on the heap, so that a small one does not
/// take the stack of the largest.
pub(crate) fn dispatch(cli: Cli) -> VerbFuture {
    let context = Context {
        json: cli.common.json,
        start: if cli.common.no_start {
            StartPolicy::Never
        } else {
            StartPolicy::Start
        },
        display: Display::of(&cli.common),
    };
    match cli.verb {
        Verb::Run(args) => Box::pin(run::run(context, args).map_err(CliError::passing_on)),
        Verb::Create(args) => Box::pin(create::run(context, args)),
        Verb::New(args) => Box::pin(new::run(context, args)),
        Verb::Read(args) => Box::pin(read::run(context, args)),
        Verb::Screen(args) => Box::pin(screen::run(context, args)),
        Verb::Replay(args) => Box::pin(async move { replay::run(context, &args).await }),
        Verb::Import(args) => Box::pin(import::run(context, args)),
        Verb::Export(args) => Box::pin(export::run(context, args)),
        Verb::Screenshot(args) => Box::pin(async move { screenshot::run(context, &args).await }),
        Verb::Wait(args) => Box::pin(wait::run(context, args).map_err(CliError::passing_on)),
        Verb::Send(args) => Box::pin(send::run(context, args)),
        Verb::Exec(args) => Box::pin(exec::run(context, args)),
        Verb::Kill(args) => Box::pin(kill::run(context, args)),
        Verb::Close(args) => Box::pin(close::run(context, args)),
        Verb::Prune => Box::pin(close::run(context, CloseArgs::of_exited())),
        Verb::Delete(args) => Box::pin(delete::run(context, args)),
        Verb::List(args) => Box::pin(list::run(context, args)),
        Verb::Show(args) => Box::pin(show::run(context, args)),
        Verb::Attach(args) => Box::pin(attach::run(context, args)),
        Verb::Tag(args) => Box::pin(tag::run(context, args)),
        Verb::Top(args) => Box::pin(top::run(context, args)),
        Verb::Rename(args) => Box::pin(rename::run(context, args)),
        Verb::Resize(args) => Box::pin(resize::run(context, args)),
        Verb::Mcp(args) => Box::pin(async move { mcp::run(context, &args).await }),
        Verb::Acp(args) => Box::pin(acp::run(context, args)),
        Verb::AcpAgent(args) => Box::pin(acp::hold(args)),
        Verb::CodexExecServer(args) => {
            Box::pin(codex_exec_server::run(context, args).map_err(CliError::passing_on))
        }
        Verb::Status(args) => Box::pin(async move { status::run(context, &args).await }),
        Verb::Daemon(args) => Box::pin(daemon::run(context, args)),
        Verb::History(args) => Box::pin(history::run(context, args)),
        Verb::Search(args) => Box::pin(search::run(context, *args)),
        Verb::Audit(args) => Box::pin(audit::run(context, *args)),
        Verb::Approvals(args) if args.notify => {
            Box::pin(notifier::run(context, NotifierArgs::default()))
        }
        Verb::Approvals(args) => Box::pin(async move { approvals::run(context, &args).await }),
        Verb::Notifier(args) => Box::pin(notifier::run(context, args)),
        Verb::Notify(args) => Box::pin(notify::run(context, args)),
        Verb::Approve(args) => Box::pin(async move { approvals::approve(context, &args).await }),
        Verb::Answer(args) => Box::pin(approvals::answer_secret(context, args)),
        Verb::Askpass(args) => Box::pin(askpass::run(args)),
        Verb::Deny(args) => Box::pin(async move { approvals::deny(context, &args).await }),
        Verb::Policy(args) => Box::pin(policy::run(context, args)),
        Verb::Setup(args) => Box::pin(async move { setup::run(context, &args) }),
        Verb::Hook(args) => Box::pin(hook::run(context, args)),
        Verb::Doctor => Box::pin(doctor::run(context)),
        Verb::Completions(args) => Box::pin(async move { completions::run(&args) }),
        Verb::Man(args) => Box::pin(async move { man::run(&args) }),
    }
}
