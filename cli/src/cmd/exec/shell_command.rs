//! The command that came of a typed line: its output as it comes, and its end.

use std::time::Duration;

use termd_client::{Form, Link, OutputReader, Page};
use termd_proto::command::{CommandFilter, CommandInfo, ListCommands, ShowCommand};
use termd_proto::terminal::{
    Encoding, ExitStatus, MAX_READ_BYTES, ReadFrom, ReadTerminal, ShowTerminal, TerminalInfo,
    TerminalState,
};
use termd_proto::{Offset, TerminalRef};

use super::line_output::LineOutput;
use crate::cmd::attach::ending::Ending;
use crate::error::CliError;
use crate::exec_error::ExecError;
use crate::exit_code::ExitCode;
use crate::output;

/// How long one call waits.
pub(super) const WAIT: Duration = Duration::from_secs(30);
const WAIT_MS: u64 = 30_000;
/// Bytes a page: few calls during a flood, and short chunks for a pipe's reader.
const PAGE_BYTES: u64 = 256 * 1024;
/// Where a prompt begins (OSC 133;A, 633;A).
const PROMPT_MARKS: [&str; 2] = ["\u{1b}]133;A", "\u{1b}]633;A"];
/// The newest commands among which the line's is.
const NEWEST: u32 = 100;

/// How a line ended.
#[derive(Debug)]
pub(super) struct LineEnd {
    pub(super) command: Box<CommandInfo>,
    shell: Shell,
}

/// What the line has made of its shell.
#[derive(Debug)]
enum Shell {
    GoesOn,
    /// It has ended, and the terminal with it. `None`: nobody has seen how.
    Ended(Option<ExitStatus>),
}

impl Shell {
    async fn after(link: &Link, id: &TerminalRef, command: &CommandInfo) -> Result<Self, CliError> {
        // A command without an exit code has ended with its shell, whose end may not be known yet; or its
        // shell tells none, and prints a prompt next.
        if let (None, Some(end)) = (command.exit_code, command.end) {
            wait_for_output(link, id, end).await?;
        }
        let terminal = terminal(link, id).await?;
        Ok(match terminal.state {
            TerminalState::Running => Self::GoesOn,
            TerminalState::Exited | TerminalState::Closed => Self::Ended(terminal.exit_status),
        })
    }
}

impl LineEnd {
    /// The code that the shell has for the line; of a shell that ended with it the shell's own.
    pub(super) async fn exit_code(
        &self,
        link: &Link,
        id: &TerminalRef,
    ) -> Result<ExitCode, CliError> {
        if let Some(code) = self.command.exit_code {
            return Ok(u8::try_from(code).map_or(ExitCode(u8::MAX), ExitCode));
        }
        let Shell::Ended(status) = &self.shell else {
            return Err(ExecError::NoExitCode.into());
        };
        match Ending::of_terminal(link, id, status.clone()).await {
            Ending::Exited(status) => Ok(ExitCode::of_command(&status)),
            ending => Err(ExecError::TerminalEnded(ending.line()).into()),
        }
    }
}

/// The first command after a line.
#[derive(Debug)]
pub(super) enum FirstCommand<'a> {
    /// None has begun yet.
    NotYet,
    /// It came of the line.
    OfLine(ShellCommand<'a>),
    /// Nothing of the line ran: the shell says so, or a prompt was between.
    OfAnother,
}

/// A command of the terminal's shell.
#[derive(Debug)]
pub(super) struct ShellCommand<'a> {
    link: &'a Link,
    id: &'a TerminalRef,
    info: Box<CommandInfo>,
}

impl<'a> ShellCommand<'a> {
    /// Waits for the command of the line at `offset`. `None`: another line's has begun, or the terminal
    /// has exited.
    pub(super) async fn begun_after(
        link: &'a Link,
        id: &'a TerminalRef,
        offset: Offset,
    ) -> Result<Option<Self>, CliError> {
        loop {
            let terminal = terminal(link, id).await?;
            match Self::known_after(link, id, offset).await? {
                FirstCommand::OfLine(command) => return Ok(Some(command)),
                FirstCommand::OfAnother => return Ok(None),
                FirstCommand::NotYet if terminal.state != TerminalState::Running => {
                    return Ok(None);
                }
                FirstCommand::NotYet => {}
            }
            wait_for_output(link, id, terminal.end).await?;
        }
    }

    /// The first command that has begun after the line at `offset`.
    pub(super) async fn known_after(
        link: &'a Link,
        id: &'a TerminalRef,
        offset: Offset,
    ) -> Result<FirstCommand<'a>, CliError> {
        let request = ListCommands {
            filter: Some(CommandFilter {
                terminal: Some(id.clone()),
                ..CommandFilter::default()
            }),
            cursor: None,
            limit: Some(NEWEST),
        };
        let newest = link.repeat(&request).await?.commands;
        let first = newest
            .into_iter()
            .rev()
            .find(|command| command.number > 0 && command.start > offset);
        let Some(info) = first.map(Box::new) else {
            return Ok(FirstCommand::NotYet);
        };
        if !ran(&info) || has_prompt(link, id, offset, info.start).await? {
            return Ok(FirstCommand::OfAnother);
        }
        Ok(FirstCommand::OfLine(Self { link, id, info }))
    }

    /// Passes on its output as plain text, until its end or the terminal's. `None`: the end shows that
    /// the shell has run nothing.
    pub(super) async fn copy_to(
        self,
        output: &mut LineOutput,
    ) -> Result<Option<LineEnd>, CliError> {
        let Self { link, id, info } = self;
        let number = i64::try_from(info.number).unwrap_or(i64::MAX);
        let start = ReadFrom::Offset(Offset::ZERO);
        let mut reader = OutputReader::new(link, id.clone(), start)
            .of_command(number)
            .in_form(Form::Plain);
        let request = ShowCommand {
            id: id.clone(),
            number,
        };
        loop {
            // The end is read before the output, so that all that comes before it is.
            let terminal = terminal(link, id).await?;
            let command = link.repeat(&request).await?;
            let mut page = reader.page(PAGE_BYTES).await?;
            let is_over = command.ended_at_ms.is_some() || terminal.state != TerminalState::Running;
            if !is_over && is_unfinished(&page) {
                // What comes next may change it: it is read again then, from its beginning.
                reader.read_from(page.start);
                page.bytes.clear();
            }
            if let Some(note) = page.gap_note() {
                output::note(&note);
            }
            let has_more = !page.at_end || !page.bytes.is_empty();
            output.write(page.bytes).await?;
            if is_over && !has_more {
                if !ran(&command) {
                    return Ok(None);
                }
                let shell = Shell::after(link, id, &command).await?;
                let command = Box::new(command);
                return Ok(Some(LineEnd { command, shell }));
            }
            // Its end may have become known since, without further output.
            if !has_more && link.repeat(&request).await?.ended_at_ms.is_none() {
                wait_for_output(link, id, terminal.end).await?;
            }
        }
    }
}

/// Whether a page is one line that has not ended, and no piece of a longer one.
fn is_unfinished(page: &Page) -> bool {
    let is_whole = page.end.since(page.start) < PAGE_BYTES;
    is_whole && !page.bytes.contains(&b'\n')
}

/// Whether the shell has run a line that it has read. One that it has not run has an exit code, and
/// ends where it begins.
fn ran(command: &CommandInfo) -> bool {
    command.end != Some(command.start) || command.exit_code.is_none()
}

/// Whether a prompt begins between two offsets, which are as far apart as a line and its echo.
async fn has_prompt(
    link: &Link,
    id: &TerminalRef,
    from: Offset,
    until: Offset,
) -> Result<bool, CliError> {
    let request = ReadTerminal {
        until: Some(until),
        max_bytes: Some(MAX_READ_BYTES),
        encoding: Some(Encoding::Raw),
        ..ReadTerminal::new(id.clone(), ReadFrom::Offset(from))
    };
    let text = link.repeat(&request).await?.text.unwrap_or_default();
    Ok(PROMPT_MARKS.iter().any(|mark| text.contains(mark)))
}

async fn terminal(link: &Link, id: &TerminalRef) -> Result<TerminalInfo, CliError> {
    let request = ShowTerminal { id: id.clone() };
    Ok(link.repeat(&request).await?)
}

/// Waits for output after `end`, for some time, or until the terminal has exited.
async fn wait_for_output(link: &Link, id: &TerminalRef, end: Offset) -> Result<(), CliError> {
    let request = ReadTerminal {
        max_bytes: Some(4),
        encoding: Some(Encoding::Base64),
        wait_ms: Some(WAIT_MS),
        ..ReadTerminal::new(id.clone(), ReadFrom::Offset(end))
    };
    link.repeat(&request).await?;
    Ok(())
}
