//! The agent's process: started here, and ended here with all that it started.

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::{Shared, proxy};
use crate::error::CliError;
use crate::exit::ExitCode;

/// The agent.
#[derive(Debug)]
pub(super) struct Agent {
    child: Child,
}

impl Agent {
    /// Starts it, its standard error being ours.
    pub(super) fn start(argv: &[OsString]) -> Result<(Self, ChildStdout, ChildStdin), CliError> {
        let (program, arguments) = argv
            .split_first()
            .ok_or_else(|| CliError::Usage("which agent?".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| CliError::Io("cannot start the agent", error))?;
        let piped = || std::io::ErrorKind::BrokenPipe.into();
        let from = child
            .stdout
            .take()
            .ok_or_else(|| CliError::Io("the agent's output", piped()))?;
        let to = child
            .stdin
            .take()
            .ok_or_else(|| CliError::Io("the agent's input", piped()))?;
        Ok((Self { child }, from, to))
    }

    /// Passes lines on until the agent has ended; its exit code.
    pub(super) async fn serve<R: AsyncRead + Unpin>(
        mut self,
        shared: &Arc<Shared>,
        from_client: R,
        from_agent: ChildStdout,
    ) -> Result<ExitCode, CliError> {
        let to_agent = async {
            let _ = proxy::from_client(shared, from_client).await;
            shared.agent.close().await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = to_agent => {}
            _ = proxy::from_agent(shared, from_agent) => {}
        }
        shared.terminals.sweep(shared).await;
        let status = self
            .child
            .wait()
            .await
            .map_err(|error| CliError::Io("the agent", error))?;
        Ok(ExitCode(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ))
    }
}
