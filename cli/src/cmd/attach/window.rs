//! The size of the tty as that of the terminal.

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::terminal::{AttachMode, AttachTerminal};

use crate::attach::tty;
use crate::cmd::resize::resize;

/// Gives the terminal the tty's size, and has it follow: of several viewers that do so, the terminal
/// has the size of the one that typed or resized last.
pub(in crate::cmd) async fn resize_to_window(
    link: &Link,
    id: &TerminalRef,
) -> Result<(), ClientError> {
    let Some(size) = tty::stdout_size() else {
        return Ok(());
    };
    link.attach(AttachTerminal {
        id: id.clone(),
        mode: Some(AttachMode::Type),
        cols: Some(size.cols),
        rows: Some(size.rows),
    })
    .await?;
    resize(link, id, size).await
}
