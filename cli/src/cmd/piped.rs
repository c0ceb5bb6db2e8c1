//! What `termctl run --pipes` passes on: standard output to standard output and standard error to
//! standard error, each as soon as it comes.
//!
//! The two are read side by side, as two programs would: between them the order is not kept, in
//! each it is.

use std::io::{self, IsTerminal as _};

use termd_client::{Link, OutputReader};
use termd_proto::terminal::{ExitStatus, OutputStream, ReadFrom};
use termd_proto::{Offset, TerminalRef};

use crate::attach::queries::QueryFilter;
use crate::error::CliError;
use crate::output::{self, Pump};

/// Bytes a page: few calls under flood, and a chunk that a pipe's reader takes soon.
const PAGE_BYTES: u64 = 256 * 1024;

/// Passes both on until there is no more of either.
pub(super) async fn stream_both(
    link: &Link,
    id: &TerminalRef,
    raw: bool,
) -> Result<Option<ExitStatus>, CliError> {
    let stdout = copy(
        OutputReader::new(link, id.clone(), ReadFrom::Offset(Offset::ZERO))
            .of_stream(OutputStream::Stdout),
        Pump::start()?,
        questions(raw, io::stdout().is_terminal()),
    );
    let stderr = copy(
        OutputReader::new(link, id.clone(), ReadFrom::Offset(Offset::ZERO))
            .of_stream(OutputStream::Stderr),
        Pump::to_stderr()?,
        questions(raw, io::stderr().is_terminal()),
    );
    let (status, _) = tokio::try_join!(stdout, stderr)?;
    Ok(status)
}

/// Nobody reads what a tty would answer to a question in the output.
fn questions(raw: bool, is_tty: bool) -> Option<QueryFilter> {
    (!raw && is_tty).then(QueryFilter::default)
}

async fn copy(
    mut reader: OutputReader<'_>,
    mut pump: Pump,
    mut questions: Option<QueryFilter>,
) -> Result<Option<ExitStatus>, CliError> {
    loop {
        let page = reader.follow(PAGE_BYTES).await?;
        if let Some(note) = page.gap_note() {
            output::note(&note);
        }
        let last = page.is_last();
        pump.write(match &mut questions {
            Some(filter) => filter.feed(&page.bytes),
            None => page.bytes,
        })
        .await?;
        if last {
            pump.finish().await?;
            return Ok(page.exit_status);
        }
    }
}
