//! A command that runs, until its end: its output comes here, and signals and keys go there.

use std::io;

use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use termd_proto::byte_count::bytes;
use termd_proto::terminal::{
    Encoding, ExitStatus, HoldTerminal, KillTerminal, OutputStream, ReadFrom, ReadResult,
    ReadTerminal, ResizeTerminal, TerminalState,
};
use termd_proto::{ErrorKind, Offset, TerminalRef};

use crate::connection::{Answer, CallError};
use crate::create::{Form, Started};
use crate::error::{LostError, print_line};
use crate::excerpt::Excerpt;
use crate::output::Output;
use crate::page_pipe::PagePipe;
use crate::pty::Keyboard;
use crate::server::GoneError;
use crate::signals::{self, exit_code_of};
use crate::standard_fds::{stderr, stdin, stdout};
use crate::surroundings::{self, OutputPipes, Surroundings};

/// Bytes of output a page. The daemon makes longer answers one after the other.
const PAGE_BYTES: u64 = 256 << 10;
/// How much of a stream's output is looked through for errors. A flood of more is resolved for nobody, and
/// would hold the end of the call up by seconds.
const MAX_SEARCHED: u64 = 8 << 20;
/// How long the daemon waits for output before it answers that there is none.
const WAIT_MS: u64 = 60_000;

/// One of the command's streams.
#[derive(Debug)]
struct Stream {
    /// Absent: both in one.
    which: Option<OutputStream>,
    output: Output,
    /// What a model is shown; absent: all.
    excerpt: Option<Excerpt>,
    /// Where to read on.
    next: Offset,
    /// The read under way.
    request: Option<u64>,
    /// Where pages of exact output come from.
    pipe: Option<PagePipe>,
    /// A read has found the command ended, and no exit status yet.
    has_ended: bool,
    /// All of it has come.
    is_complete: bool,
}

impl Stream {
    /// Whether output came that is not written. A command that writes without a reader ends, and one that
    /// does not write goes on.
    fn withholds(&self) -> bool {
        self.excerpt.as_ref().is_some_and(Excerpt::withholds)
    }

    /// Passes over output that is neither shown nor looked through, where the rest is longer than that.
    fn catch_up(&mut self, output_end: Offset) {
        let Some(excerpt) = &mut self.excerpt else {
            return;
        };
        let to = output_end.back(excerpt.bytes_of_tail());
        if excerpt.searched() >= MAX_SEARCHED && to > self.next {
            excerpt.skip(to.since(self.next));
            self.next = to;
        }
    }
}

/// What poll(2) has found.
#[derive(Debug, Clone, Copy)]
enum Source {
    Connection,
    Signals,
    Agent,
    Output(usize),
    Keyboard,
}

/// What ends the wait for a command before its own end.
#[derive(Debug)]
enum Ending {
    /// The agent does not wait for it any more. What it runs ends with the connection.
    Code(i32),
    Lost(LostError),
}

impl From<LostError> for Ending {
    fn from(error: LostError) -> Self {
        Self::Lost(error)
    }
}

/// A command that runs.
#[derive(Debug)]
pub(crate) struct Call {
    started: Started,
    streams: Vec<Stream>,
    keyboard: Option<Keyboard>,
    /// Signals under way.
    kills: Vec<(u64, Signal)>,
    /// The output has no reader any more.
    is_pipe_broken: bool,
    status: Option<ExitStatus>,
}

impl Call {
    pub(crate) fn new(started: Started) -> Self {
        let limit = match started.form {
            Form::Text(limit) => limit,
            Form::Exact => None,
        };
        let stream = |which, fd| Stream {
            which,
            output: Output::to(fd),
            excerpt: limit.map(|limit| Excerpt::new(limit, &started.terminal.0)),
            next: Offset::ZERO,
            request: None,
            pipe: None,
            has_ended: false,
            is_complete: false,
        };
        let (streams, keyboard) = match started.surroundings {
            Surroundings::Tty { .. } => (vec![stream(None, stdout())], Keyboard::take().ok()),
            Surroundings::Pipes { output, .. } => match output {
                OutputPipes::One => (vec![stream(None, stdout())], None),
                OutputPipes::Two => {
                    let first = stream(Some(OutputStream::Stdout), stdout());
                    let second = stream(Some(OutputStream::Stderr), stderr());
                    (vec![first, second], None)
                }
            },
        };
        Self {
            started,
            streams,
            keyboard,
            kills: Vec::new(),
            is_pipe_broken: false,
            status: None,
        }
    }

    /// Passes everything on until the command has ended: its exit code.
    pub(crate) fn run(mut self) -> Result<i32, LostError> {
        match self.pass_on() {
            Ok(()) => self.exit_code(),
            Err(Ending::Code(code)) => Ok(code),
            Err(Ending::Lost(error)) => Err(error),
        }
    }

    fn exit_code(&self) -> Result<i32, LostError> {
        if self.is_pipe_broken {
            return Ok(exit_code_of(Signal::SIGPIPE));
        }
        let status = self.status.as_ref().ok_or(LostError::Closed)?;
        match (&status.signal, status.exit_code) {
            (Some(signal), _) => Ok(signals::exit_code_by_name(signal)),
            (None, Some(code)) => Ok(i32::try_from(code).unwrap_or(i32::MAX)),
            (None, None) => Err(LostError::Closed),
        }
    }

    fn pass_on(&mut self) -> Result<(), Ending> {
        loop {
            self.request_pages()?;
            let mut streams = self.streams.iter();
            if streams.all(|stream| stream.is_complete && stream.output.is_flushed()) {
                return Ok(());
            }
            for source in self.ready()? {
                match source {
                    Source::Connection => self.take_answers()?,
                    Source::Signals => self.pass_on_signals()?,
                    Source::Agent => return Err(Ending::Code(exit_code_of(Signal::SIGHUP))),
                    Source::Output(index) => self.write(index)?,
                    Source::Keyboard => self.type_keys()?,
                }
            }
        }
    }

    /// Waits for something to do.
    fn ready(&self) -> Result<Vec<Source>, LostError> {
        let started = &self.started;
        let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut sources = vec![
            (Source::Connection, readable(started.connection.fd())),
            (Source::Signals, readable(started.signals.fd())),
        ];
        let agent = started.agent.pidfd();
        sources.extend(agent.map(|agent| (Source::Agent, readable(agent))));
        for (index, stream) in self.streams.iter().enumerate() {
            if !stream.output.is_flushed() || (stream.withholds() && !self.is_pipe_broken) {
                sources.push((Source::Output(index), stream.output.poll_fd()));
            }
        }
        if self.keyboard.as_ref().is_some_and(Keyboard::is_read) {
            sources.push((Source::Keyboard, readable(stdin())));
        }
        let (sources, mut fds): (Vec<Source>, Vec<PollFd<'_>>) = sources.into_iter().unzip();
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(LostError::Poll(errno.into())),
        }
        let ready = sources.into_iter().zip(fds);
        let ready = ready.filter(|(_, fd)| !fd.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    /// Requests the next page of each stream whose last one is written. Meanwhile more output comes, and
    /// pages are longer and fewer.
    fn request_pages(&mut self) -> Result<(), Ending> {
        for index in 0..self.streams.len() {
            let stream = &mut self.streams[index];
            if stream.request.is_some() || stream.is_complete || !stream.output.is_flushed() {
                continue;
            }
            let from = ReadFrom::Offset(stream.next);
            let read = ReadTerminal {
                max_bytes: Some(PAGE_BYTES),
                encoding: Some(match self.started.form {
                    Form::Exact => Encoding::Pipe,
                    // The tty here is raw: lines end as those of the command's own.
                    Form::Text(_) if self.keyboard.is_some() => Encoding::Raw,
                    Form::Text(_) => Encoding::Text,
                }),
                wait_ms: Some(WAIT_MS),
                stream: stream.which,
                ..ReadTerminal::new(self.started.terminal.clone(), from)
            };
            if self.started.form == Form::Exact && stream.pipe.is_none() {
                stream.pipe = Some(PagePipe::open().map_err(LostError::Pipe)?);
            }
            let pipe = stream.pipe.as_ref().map(PagePipe::writer);
            let sent = (self.started.connection).send_with_fds(&read, pipe.as_slice());
            match sent {
                Ok(id) => stream.request = Some(id),
                Err(_) => return self.reconnect(),
            }
        }
        Ok(())
    }

    fn take_answers(&mut self) -> Result<(), Ending> {
        let mut received = self.started.connection.receive();
        while received.is_ok() {
            match self.started.connection.next_answer() {
                Ok(Some(answer)) => self.take_answer(answer)?,
                Ok(None) => return Ok(()),
                Err(error) => received = Err(error),
            }
        }
        self.reconnect()
    }

    fn take_answer(&mut self, answer: Answer) -> Result<(), Ending> {
        let id = answer.id;
        let reads = self.streams.iter();
        let read = reads
            .enumerate()
            .find(|(_, stream)| stream.request == Some(id));
        if let Some((index, _)) = read {
            self.streams[index].request = None;
            return match answer.read::<ReadTerminal>() {
                Ok(page) => self.take_page(index, page),
                // The server makes way for another one.
                Err(CallError::Refused(refusal))
                    if refusal.kind() == Some(ErrorKind::Unavailable) =>
                {
                    self.reconnect()
                }
                Err(error) => Err(LostError::Refused(error.to_string()).into()),
            };
        }
        let killed = self.kills.iter().position(|(kill, _)| *kill == id);
        if let Some(index) = killed {
            // One to a command that has ended fails, and its end shows in its output.
            let (_, signal) = self.kills.remove(index);
            if signal == Signal::SIGPIPE {
                return Err(Ending::Code(exit_code_of(signal)));
            }
        }
        let keyboard = self.keyboard.as_mut();
        if keyboard.is_some_and(|keyboard| keyboard.take_answer(id))
            && let Err(refusal) = answer.result
            && refusal.is_gates()
        {
            print_line(&refusal);
        }
        Ok(())
    }

    fn take_page(&mut self, index: usize, page: ReadResult) -> Result<(), Ending> {
        let stream = &mut self.streams[index];
        if page.gap.is_some() && page.start > stream.next {
            let lost = page.start.since(stream.next);
            match &mut stream.excerpt {
                Some(excerpt) => excerpt.lose(lost),
                None => print_line(&format!("{} of the output are not kept", bytes(lost))),
            }
        }
        stream.next = page.end;
        if let (Some(pipe), Some(bytes)) = (&mut stream.pipe, page.written) {
            let taken = stream.output.push_page(pipe, bytes);
            taken.map_err(LostError::Pipe)?;
        }
        if self.is_pipe_broken {
            stream.output.discard();
        } else {
            let text = page.text.unwrap_or_default();
            let shown = match &mut stream.excerpt {
                Some(excerpt) => excerpt.push(&text),
                None => &text,
            };
            stream.output.push_text(shown);
        }
        if let Some(output_end) = page.output_end {
            stream.catch_up(output_end);
        }
        if page.at_end && page.state != TerminalState::Running {
            // Output and state are read one after the other: what came between is in the next page.
            stream.is_complete = page.exit_status.is_some() || stream.has_ended;
            stream.has_ended = true;
            if let Some(excerpt) = stream.excerpt.take_if(|_| stream.is_complete) {
                stream.output.push_text(&excerpt.finish());
            }
            self.status = self.status.take().or(page.exit_status);
        }
        Ok(())
    }

    fn write(&mut self, index: usize) -> Result<(), Ending> {
        match self.streams[index].output.write() {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                for stream in &mut self.streams {
                    stream.output.discard();
                }
                // As it would have ended the command here.
                let is_first = !std::mem::replace(&mut self.is_pipe_broken, true);
                if is_first {
                    self.kill(Signal::SIGPIPE)?;
                }
                Ok(())
            }
            Err(error) => Err(LostError::Output(error).into()),
        }
    }

    fn pass_on_signals(&mut self) -> Result<(), Ending> {
        while let Some(signal) = self.started.signals.next() {
            match signal {
                Signal::SIGWINCH => self.resize()?,
                signal => self.kill(signal)?,
            }
        }
        Ok(())
    }

    /// Sends a signal to the command and all that it has started.
    fn kill(&mut self, signal: Signal) -> Result<(), Ending> {
        let kill = kill(&self.started.terminal, signal);
        if let Ok(id) = self.started.connection.send(&kill) {
            self.kills.push((id, signal));
            return Ok(());
        }
        self.kills.push((0, signal));
        self.reconnect()
    }

    fn resize(&mut self) -> Result<(), Ending> {
        if self.keyboard.is_none() {
            return Ok(());
        }
        let (cols, rows) = surroundings::size();
        let id = self.started.terminal.clone();
        match self
            .started
            .connection
            .send(&ResizeTerminal { id, cols, rows })
        {
            Ok(_) => Ok(()),
            Err(_) => self.reconnect(),
        }
    }

    fn type_keys(&mut self) -> Result<(), Ending> {
        let Some(keyboard) = &mut self.keyboard else {
            return Ok(());
        };
        let Some(input) = keyboard.read(&self.started.terminal) else {
            return Ok(());
        };
        match self.started.connection.send(&input) {
            Ok(id) => {
                keyboard.set_request(Some(id));
                Ok(())
            }
            Err(_) => self.reconnect(),
        }
    }

    /// Goes on with the next server. What was requested is requested again; keys are not typed twice.
    fn reconnect(&mut self) -> Result<(), Ending> {
        let started = &mut self.started;
        let connected = started.server.reconnect(&started.agent);
        let connection = connected.map_err(|error| match error {
            GoneError::Unreachable => Ending::Lost(LostError::Unreachable),
            GoneError::AgentEnded => Ending::Code(exit_code_of(Signal::SIGHUP)),
        })?;
        started.connection = connection;
        let id = started.terminal.clone();
        let mut sent = started.connection.send(&HoldTerminal { id }).map(|_| ());
        for (id, signal) in &mut self.kills {
            let again = started.connection.send(&kill(&started.terminal, *signal));
            sent = sent.and(again.map(|again| *id = again));
        }
        for stream in &mut self.streams {
            stream.request = None;
            // The last server may have written into it, and not have said so.
            stream.pipe = None;
        }
        if let Some(keyboard) = &mut self.keyboard {
            keyboard.set_request(None);
        }
        // A connection that is gone already shows at the next read.
        sent.or(Ok(()))
    }
}

fn kill(terminal: &TerminalRef, signal: Signal) -> KillTerminal {
    KillTerminal {
        id: terminal.clone(),
        signal: Some(signal.as_str().to_owned()),
    }
}
