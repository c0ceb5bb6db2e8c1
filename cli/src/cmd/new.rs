//! `termctl new`: a new terminal, and into it.

use super::Context;
use super::attach;
use super::create::{create, staying};
use crate::args::{AttachArgs, AttachSizeArgs, NewArgs};
use crate::attach::tty;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: NewArgs) -> Result<ExitCode, CliError> {
    // Before there is a terminal that nobody could use.
    if !tty::is_interactive() {
        return Err(UsageError::NoTty.into());
    }
    let link = context.open().await?;
    let info = create(&link, staying(args.terminal)?).await?;
    let args = AttachArgs {
        terminal: None,
        read_only: false,
        size: AttachSizeArgs::default(),
        keys: args.keys,
    };
    attach::attach(context, &link, &info, &args).await
}
