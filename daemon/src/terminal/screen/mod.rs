//! A terminal's screen: the model, fed with what the spool holds.
//!
//! Only the terminal's task feeds and resizes the model; everybody may look at it. The lock is held
//! while one piece is fed, and never across a wait.

pub(crate) mod checkpoints;
pub(crate) mod history;
pub mod restore;
pub mod scrollback;
pub mod size;

use std::cell::RefCell;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::Offset;
use termd_proto::terminal::Stdio;
use termd_vt::{Fed, Model};

use self::scrollback::ScrollbackLines;
use self::size::Size;
use super::output::spool::Spool;

/// Bytes fed at a time: what stays in the processor's cache.
const PIECE_BYTES: usize = 64 << 10;

thread_local! {
    /// The buffer for a piece: one a thread, however many terminals there are.
    static PIECE: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE_BYTES]);
}

/// An empty model for what feeds it. A program on pipes writes LF where a tty would make CR LF.
pub fn new_model(size: Size, scrollback: ScrollbackLines, stdio: Stdio) -> Model {
    fed_by(stdio, Model::new(size.into(), scrollback.scrollback()))
}

fn fed_by(stdio: Stdio, model: Model) -> Model {
    match stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    }
}

/// The model of one terminal. A terminal that ended long ago has none until somebody looks.
#[derive(Debug, Default)]
pub struct Screen {
    model: Mutex<Option<Box<Model>>>,
}

impl Screen {
    pub fn new(model: Model) -> Self {
        Self {
            model: Mutex::new(Some(Box::new(model))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Model>>> {
        // A panic in the model is a bug. A screen that may be wrong is better than none.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the model, where there is one.
    pub fn look<T>(&self, look: impl FnOnce(&Model) -> T) -> Option<T> {
        self.lock().as_deref().map(look)
    }

    /// Changes the model, where there is one.
    pub fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> Option<T> {
        self.lock().as_deref_mut().map(change)
    }

    pub fn put(&self, model: Model) {
        *self.lock() = Some(Box::new(model));
    }

    /// Gives back the model's memory.
    pub fn discard(&self) {
        *self.lock() = None;
    }

    /// Feeds what the spool holds from `from` up to `to`, and passes each result to `act`. Stops
    /// before `to` only where the spool no longer has the bytes.
    pub fn feed(
        &self,
        spool: &Spool,
        from: Offset,
        to: Offset,
        mut act: impl FnMut(Fed),
    ) -> io::Result<()> {
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
            Ok(())
        })
    }
}
