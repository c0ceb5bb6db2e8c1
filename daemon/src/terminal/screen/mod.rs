//! A terminal's screen: the model, fed with what the spool holds.
//!
//! Only the terminal's own task feeds and resizes it; everybody may look. The lock is held for
//! as long as one piece takes to feed, and never across a wait.

pub(crate) mod checkpoints;
pub mod restore;

use std::cell::RefCell;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use termd_proto::Offset;
use termd_proto::terminal::Stdio;

use crate::terminal::error::TerminalError;
use crate::terminal::lifecycle::record::Size;
use crate::terminal::output::spool::Spool;
use termd_vt::{self, Fed, Model, Scrollback};

/// How much is fed at a time, in bytes: what stays in the processor's cache.
const PIECE_BYTES: usize = 64 << 10;
/// Rows of scrollback kept at the most, unless asked otherwise.
const DEFAULT_SCROLLBACK_LINES: u32 = 10_000;
/// Most rows of scrollback that may be asked for.
pub const MAX_SCROLLBACK_LINES: u32 = 100_000;
/// Bytes of scrollback kept at the most: 10,000 long coloured lines.
const SCROLLBACK_BYTES: usize = 4 << 20;
/// And so many for each line where more than that are kept.
const SCROLLBACK_LINE_BYTES: usize = SCROLLBACK_BYTES / DEFAULT_SCROLLBACK_LINES as usize;

thread_local! {
    /// The piece being fed: one a thread, however many terminals there are.
    static PIECE: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE_BYTES]);
}

/// A model's size.
impl From<Size> for termd_vt::Size {
    fn from(size: Size) -> Self {
        Self {
            cols: usize::from(size.cols),
            rows: usize::from(size.rows),
        }
    }
}

/// How many lines of scrollback a screen keeps: 0 to [`MAX_SCROLLBACK_LINES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScrollbackLines(u32);

impl Default for ScrollbackLines {
    fn default() -> Self {
        Self(DEFAULT_SCROLLBACK_LINES)
    }
}

impl ScrollbackLines {
    /// So many, within the bounds, or which param is not; 10,000 where nobody asked.
    pub fn checked(lines: Option<u32>) -> Result<Self, TerminalError> {
        match lines {
            None => Ok(Self::default()),
            Some(lines @ ..=MAX_SCROLLBACK_LINES) => Ok(Self(lines)),
            Some(_) => Err(TerminalError::Invalid {
                field: "scrollback_lines",
                problem: format!("may be {MAX_SCROLLBACK_LINES} at the most"),
            }),
        }
    }

    /// As the database has it.
    pub fn stored(lines: u32) -> Self {
        Self(lines.min(MAX_SCROLLBACK_LINES))
    }

    /// As a number.
    pub fn lines(self) -> u32 {
        self.0
    }

    /// An empty scrollback of so many lines, bounded in bytes too.
    pub fn scrollback(self) -> Scrollback {
        let rows = self.0 as usize;
        Scrollback::new(rows, SCROLLBACK_BYTES.max(rows * SCROLLBACK_LINE_BYTES))
    }
}

/// A fresh model.
pub fn fresh_model(size: Size, scrollback: ScrollbackLines) -> Model {
    Model::new(size.into(), scrollback.scrollback())
}

/// The model as it must be for what feeds it: a program on pipes writes LF alone where a tty would
/// have made CR LF of it.
pub fn as_fed_by(stdio: Stdio, model: Model) -> Model {
    match stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    }
}

/// The model of one terminal; none where it ended long ago and nobody has asked since.
#[derive(Debug, Default)]
pub struct Screen {
    model: Mutex<Option<Box<Model>>>,
}

impl Screen {
    /// Around a model.
    pub fn new(model: Model) -> Self {
        Self {
            model: Mutex::new(Some(Box::new(model))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Model>>> {
        // A panic in the model is a bug; what it shows may be wrong, and is better than nothing.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the model; `None` where there is none.
    pub fn look<T>(&self, look: impl FnOnce(&Model) -> T) -> Option<T> {
        self.lock().as_deref().map(look)
    }

    /// Changes the model, where there is one.
    pub fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> Option<T> {
        self.lock().as_deref_mut().map(change)
    }

    /// Puts a model in.
    pub fn put(&self, model: Model) {
        *self.lock() = Some(Box::new(model));
    }

    /// Gives the model's memory back.
    pub fn discard(&self) {
        *self.lock() = None;
    }

    /// Feeds what the spool holds from `from` up to `to`, and gives to `act` what came of it.
    /// Returns how far it came: not to `to` only where the spool no longer has the bytes.
    pub fn feed(
        &self,
        spool: &Spool,
        from: Offset,
        to: Offset,
        mut act: impl FnMut(Fed),
    ) -> io::Result<Offset> {
        PIECE.with_borrow_mut(|piece| {
            let mut at = from;
            while at < to {
                let length = usize::try_from(to.since(at)).unwrap_or(usize::MAX);
                let Some(read) = spool.read_at(at, &mut piece[..length.min(PIECE_BYTES)])? else {
                    break;
                };
                if read == 0 {
                    break;
                }
                let piece = &piece[..read];
                if let Some(fed) = self.change(|model| model.feed(piece)) {
                    act(fed);
                }
                at = at + piece.len() as u64;
            }
            Ok(at)
        })
    }
}
