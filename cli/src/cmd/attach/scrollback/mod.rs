//! The scrollback of `termctl attach`: what the terminal has printed above its screen, from the beginning of
//! the transcript on, drawn by termd's own model over the live picture.
//!
//! - [`pager`]: the state, and what each key does; with it [`search`].
//! - [`rows`]: those in memory, as [`block`]s that a part of the output has printed; [`reader`] makes them.
//! - [`picture`]: what the tty shows.
//!
//! **Invariant:** the tty gets cells and nothing else of what was printed (docs/decisions/0175).

mod block;
mod direction;
mod pager;
mod picture;
mod reader;
mod rows;
mod search;

use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use termd_proto::terminal::TerminalInfo;
use termd_tui::canvas::{Canvas, Colors};
use termd_tui::clipboard;
use termd_tui::input::InputReader;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use self::block::Block;
use self::pager::{Need, Outcome, Pager};
use self::reader::BlockReader;
use super::cover::Cover;
use crate::arg_types::Size;
use crate::attach::notice::Notice;
use crate::attach::tty;
use crate::cmd::replay::source::Source;
use crate::cmd::show::show;
use crate::error::CliError;

/// What makes the tty ready for cells: no autowrap, no cursor, and the mouse and pastes reported. Passed by the
/// filter, which undoes it at the end.
pub(super) const ENTER: &[u8] = b"\x1b[>0u\x1b[?7l\x1b[?25l\x1b[m\x1b[?1000h\x1b[?1006h\x1b[?2004h";
/// What undoes it. The next picture sets the modes that the program has set.
pub(super) const LEAVE: &[u8] = b"\x1b[<u\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[m\x1b[?7h\x1b[?25h";

/// How long the live picture stays while the first rows are read.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The size of a tty that does not say one.
const NO_SIZE: Size = Size { cols: 80, rows: 24 };

type Reading<'a> = LocalBoxFuture<'a, Result<Block, CliError>>;

/// The scrollback while it is open.
pub(super) struct ScrollbackView<'a> {
    source: Source<'a>,
    /// `None` until it is known how much output there is.
    reader: Option<Rc<BlockReader<'a>>>,
    pager: Pager,
    reading: Option<(Need, Reading<'a>)>,
    input: InputReader,
    canvas: Canvas,
    frames: mpsc::Sender<Vec<u8>>,
    notices: watch::Receiver<Option<Notice>>,
    cover: Cover,
    /// A text for the clipboard.
    copied: Option<String>,
    opened: Instant,
    is_stale: bool,
}

/// Whether the scrollback stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    Stays,
    Closed,
}

impl<'a> ScrollbackView<'a> {
    /// Opens it at the end of the output, and asks for the tty.
    pub(super) fn open(
        source: Source<'a>,
        frames: mpsc::Sender<Vec<u8>>,
        notices: watch::Receiver<Option<Notice>>,
        cover: Cover,
    ) -> Self {
        cover.request();
        Self {
            source,
            reader: None,
            pager: Pager::new(tty::stdout_size().unwrap_or(NO_SIZE)),
            reading: None,
            input: InputReader::default(),
            canvas: Canvas::new(Colors::Shown),
            frames,
            notices,
            cover,
            copied: None,
            opened: Instant::now(),
            is_stale: true,
        }
    }

    /// A person's keys.
    pub(super) fn typed(&mut self, chunk: &[u8]) -> Open {
        self.is_stale = true;
        for input in self.input.read(chunk) {
            match self.pager.input(&input) {
                Outcome::Stays => {}
                Outcome::Leaves => return Open::Closed,
                Outcome::Copies(text) => self.copied = Some(text),
            }
        }
        Open::Stays
    }

    /// A page up.
    pub(super) fn page_up(&mut self) {
        self.pager.page_up();
        self.is_stale = true;
    }

    /// The tty has another size.
    pub(super) fn resized(&mut self) {
        self.canvas.forget();
        self.pager.resize(tty::stdout_size().unwrap_or(NO_SIZE));
        self.is_stale = true;
    }

    /// Reads, searches and draws, until it is dropped. Cancel safe.
    pub(super) async fn serve(&mut self) -> Result<(), CliError> {
        self.cover.given().await;
        if self.reader.is_none() {
            let info = show(self.source.link, self.source.id).await?;
            self.begin(&info);
        }
        loop {
            self.read();
            if self.is_due() {
                self.draw().await?;
            }
            let pause = self.opened + FIRST_PAUSE;
            tokio::select! {
                (need, block) = read(&mut self.reading) => {
                    self.reading = None;
                    match block {
                        Ok(block) => self.pager.take(need, block),
                        Err(error) => self.pager.fail(error.to_string()),
                    }
                    self.is_stale = true;
                }
                changed = self.notices.changed(), if self.notices.has_changed().is_ok() => {
                    self.is_stale |= changed.is_ok();
                }
                () = sleep_until(pause), if self.is_stale => {}
                () = tokio::task::yield_now(), if self.can_search() => {
                    self.pager.step();
                    self.is_stale |= !self.pager.is_searching();
                }
            }
        }
    }

    fn begin(&mut self, info: &TerminalInfo) {
        let range = (info.start, info.end);
        self.pager.begin(range);
        let reader = BlockReader::new(self.source, info.stdio, range, (info.cols, info.rows));
        self.reader = Some(Rc::new(reader));
    }

    /// Whether there are rows in memory to search through.
    fn can_search(&self) -> bool {
        self.pager.is_searching() && self.reading.is_none()
    }

    /// Begins to read what is needed. What is no longer needed is given up.
    fn read(&mut self) {
        let need = self.pager.need();
        if self.reading.as_ref().map(|(need, _)| *need) == need {
            return;
        }
        self.is_stale = true;
        self.reading = need.zip(self.reader.clone()).map(|(need, reader)| {
            let block = async move { reader.read(need.place).await };
            (need, block.boxed_local())
        });
    }

    fn is_due(&self) -> bool {
        let has_rows = !self.pager.rows.is_empty();
        self.is_stale && (has_rows || self.opened.elapsed() >= FIRST_PAUSE)
    }

    async fn draw(&mut self) -> Result<(), CliError> {
        let Ok(room) = self.frames.reserve().await else {
            // The viewer says why nothing is written any more.
            return std::future::pending().await;
        };
        let notice = self.notices.borrow_and_update().clone();
        let notice = notice.filter(|notice| notice.until > Instant::now());
        let notice = notice.as_ref().map(|notice| notice.text.as_str());
        let is_reading = self.reading.is_some() && self.pager.rows.is_empty();
        let picture = picture::draw(&self.pager, is_reading, notice);
        let mut bytes = self
            .canvas
            .draw(picture)
            .map_err(|error| CliError::Io("cannot draw the scrollback", error))?;
        if let Some(text) = self.copied.take() {
            bytes.extend(clipboard::copy(&text));
        }
        room.send(bytes);
        self.is_stale = false;
        Ok(())
    }
}

/// Serves an open scrollback; waits for ever where there is none.
pub(super) async fn serve(open: &mut Option<ScrollbackView<'_>>) -> Result<(), CliError> {
    match open {
        Some(view) => view.serve().await,
        None => std::future::pending().await,
    }
}

/// What is being read; never, where nothing is.
async fn read(reading: &mut Option<(Need, Reading<'_>)>) -> (Need, Result<Block, CliError>) {
    match reading {
        Some((need, reading)) => (*need, reading.await),
        None => std::future::pending().await,
    }
}
