//! The output of `termctl run`, passed on as it comes.
//!
//! The two pipes of a command are read side by side, as two programs would read them. The order
//! within each is kept, the order between them is not.

use std::io::{self, IsTerminal as _};

use termd_client::{Form, Link, OutputReader};
use termd_proto::terminal::{ExitStatus, OutputStream, ReadFrom};
use termd_proto::{Offset, TerminalRef};

use crate::attach::tty_filter::TtyFilter;
use crate::error::CliError;
use crate::output::{self, Pump};

/// Bytes a page: few calls during a flood, and short chunks for a pipe's reader.
const PAGE_BYTES: u64 = 256 * 1024;

/// Passes on the output of a command on a terminal, until its end.
pub(super) async fn of_terminal(
    link: &Link,
    id: &TerminalRef,
    raw: bool,
) -> Result<Option<ExitStatus>, CliError> {
    let is_tty = io::stdout().is_terminal();
    // A pipe's reader wants text, but the command believes to be on a tty and colours its output.
    let form = if raw || is_tty {
        Form::Exact
    } else {
        Form::Plain
    };
    let reader = from_start(link, id).in_form(form);
    pass_on(reader, Pump::start()?, tty_filter(raw, is_tty)).await
}

/// Passes on both pipes of a command, until the end of both.
pub(super) async fn of_pipes(
    link: &Link,
    id: &TerminalRef,
    raw: bool,
) -> Result<Option<ExitStatus>, CliError> {
    let stdout = pass_on(
        from_start(link, id).of_stream(OutputStream::Stdout),
        Pump::start()?,
        tty_filter(raw, io::stdout().is_terminal()),
    );
    let stderr = pass_on(
        from_start(link, id).of_stream(OutputStream::Stderr),
        Pump::to_stderr()?,
        tty_filter(raw, io::stderr().is_terminal()),
    );
    let (status, _) = tokio::try_join!(stdout, stderr)?;
    Ok(status)
}

fn from_start<'a>(link: &'a Link, id: &TerminalRef) -> OutputReader<'a> {
    OutputReader::new(link, id.clone(), ReadFrom::Offset(Offset::ZERO))
}

/// A person's tty gets what draws. Its answer to a query would be typed into the program that reads
/// the tty next.
fn tty_filter(raw: bool, is_tty: bool) -> Option<TtyFilter> {
    (!raw && is_tty).then(TtyFilter::default)
}

/// Copies to the end, and waits until it is written.
async fn pass_on(
    reader: OutputReader<'_>,
    mut pump: Pump,
    mut filter: Option<TtyFilter>,
) -> Result<Option<ExitStatus>, CliError> {
    let status = copy(reader, &mut pump, &mut filter).await?;
    if let Some(filter) = &mut filter {
        pump.write(filter.reset()).await?;
    }
    pump.finish().await?;
    Ok(status)
}

/// Copies output until the command has ended.
pub(super) async fn copy(
    mut reader: OutputReader<'_>,
    pump: &mut Pump,
    filter: &mut Option<TtyFilter>,
) -> Result<Option<ExitStatus>, CliError> {
    loop {
        let page = reader.follow(PAGE_BYTES).await?;
        if let Some(note) = page.gap_note() {
            output::note(&note);
        }
        let last = page.is_last();
        pump.write_made(|| match filter {
            Some(filter) => filter.feed(&page.bytes),
            None => page.bytes,
        })
        .await?;
        if last {
            return Ok(page.exit_status);
        }
    }
}
