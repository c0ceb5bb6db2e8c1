//! One file a verb: each asks the daemon and writes the answer.

mod acp;
mod answer;
mod approvals;
mod attach;
mod audit;
mod close;
mod completions;
mod create;
mod history;
mod kill;
mod list;
mod man;
mod mcp;
mod notify;
mod piped;
mod policy;
mod read;
mod resize;
mod run;
mod screen;
mod screenshot;
mod send;
mod setup;
mod show;
mod status;
mod wait;

use crate::args::{Cli, Verb};
use crate::client::{Link, StartPolicy};
use crate::error::CliError;
use crate::exit::ExitCode;

/// What holds for every verb.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Answers are JSON.
    pub(crate) json: bool,
    /// Whether the daemon is started where none is running.
    pub(crate) start: StartPolicy,
}

impl Context {
    /// The daemon.
    pub(crate) async fn open(&self) -> Result<Link, CliError> {
        Link::open(self.start).await
    }
}

/// Does what the command line says.
pub(crate) async fn dispatch(cli: Cli) -> Result<ExitCode, CliError> {
    let context = Context {
        json: cli.common.json,
        start: if cli.common.no_start {
            StartPolicy::Never
        } else {
            StartPolicy::Start
        },
    };
    match cli.verb {
        Verb::Run(args) => run::run(context, args).await,
        Verb::Create(args) => create::run(context, args).await,
        Verb::Read(args) => read::run(context, args).await,
        Verb::Screen(args) => screen::run(context, args).await,
        Verb::Screenshot(args) => screenshot::run(context, &args).await,
        Verb::Wait(args) => wait::run(context, args).await,
        Verb::Send(args) => send::run(context, args).await,
        Verb::Kill(args) => kill::run(context, args).await,
        Verb::Close(args) => close::run(context, args).await,
        Verb::List(args) => list::run(context, args).await,
        Verb::Show(args) => show::run(context, args).await,
        Verb::Attach(args) => attach::run(context, args).await,
        Verb::Resize(args) => resize::run(context, args).await,
        Verb::Mcp(args) => mcp::run(context, &args).await,
        Verb::Acp(args) => acp::run(context, args).await,
        Verb::AcpAgent(args) => acp::hold(args).await,
        Verb::Status => status::run(context).await,
        Verb::History(args) => history::run(context, args).await,
        Verb::Audit(args) => audit::run(context, args).await,
        Verb::Approvals(args) => approvals::run(context, &args).await,
        Verb::Approve(args) => answer::approve(context, &args).await,
        Verb::Deny(args) => answer::deny(context, &args).await,
        Verb::Policy(args) => policy::run(context, args).await,
        Verb::Setup(args) => setup::run(context, &args),
        Verb::Completions(args) => completions::run(&args),
        Verb::Man(args) => man::run(&args),
    }
}
