//! `termctl top`: all terminals, the screen of the one at hand, and what waits for the person.
//!
//! - [`model`] is the state: `keys` change it, and [`news`] of the daemon. With it `list` (of
//!   `row`s in their `arrangement`), `mode`, `questions`, `prompt`.
//! - [`view()`](view::view) is the picture of it, in the parts of `layout`.
//! - [`effect`] is what it does. `feed` and `screen_feed` hear the daemon, and `calls` ask it; where it is
//!   silent, `silence` says so.
//!
//! Nothing asks the daemon for anything while nothing changes.

mod arrangement;
mod calls;
pub mod effect;
mod feed;
mod git_branch;
mod keys;
mod layout;
mod list;
mod look;
mod mode;
pub mod model;
pub mod news;
mod prompt;
mod questions;
mod row;
mod screen_feed;
mod silence;
pub mod surroundings;
pub mod view;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use termd_client::Link;
use termd_client::timestamp::now_ms;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub use self::effect::Leave;
use self::effect::{Effect, Followed};
use self::feed::CurrentLink;
use self::model::Model;
use self::news::News;
use self::surroundings::{Now, Surroundings};
use crate::canvas::{Canvas, Colors};
use crate::clipboard;
use crate::input::InputReader;

/// The shortest time between two frames: 30 a second.
const FRAME: Duration = Duration::from_millis(33);
/// News that wait to be heard: a burst of events.
const QUEUE: usize = 256;
/// The size of a tty that does not say one.
const NO_SIZE: (u16, u16) = (80, 24);

/// A person's tty, which the caller has in raw mode.
#[derive(Debug)]
pub struct Tty<'a> {
    /// What is typed; closed where the tty was hung up.
    pub typed: &'a mut mpsc::Receiver<Vec<u8>>,
    /// Takes what is to be written.
    pub frames: mpsc::Sender<Vec<u8>>,
    /// Says the tty's size, first of all and when it is another one, and that it may show anything.
    pub changes: mpsc::Receiver<TtyChange>,
}

/// What has become of the tty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TtyChange {
    /// It has this size; `None`: it says none.
    Resized(Option<(u16, u16)>),
    /// It may show anything.
    Overwritten,
}

/// The overview.
#[derive(Debug)]
pub struct Top {
    model: Model,
    canvas: Canvas,
    input: InputReader,
    link: Arc<CurrentLink>,
    news: mpsc::Receiver<News>,
    tell: mpsc::Sender<News>,
    screen_feed: Option<JoinHandle<()>>,
    feed: JoinHandle<()>,
    drawn_at: Option<Instant>,
    is_stale: bool,
}

impl Top {
    /// Begins to follow the daemon.
    pub fn start(link: Link, surroundings: Surroundings, colors: Colors) -> Self {
        let (tell, news) = mpsc::channel(QUEUE);
        let current = Arc::new(watch::Sender::new(None));
        let feed = feed::follow(Arc::new(link), Arc::clone(&current), tell.clone());
        Self {
            model: Model::new(surroundings, NO_SIZE, now()),
            canvas: Canvas::new(colors),
            input: InputReader::default(),
            link: current,
            news,
            tell,
            screen_feed: None,
            feed: tokio::spawn(feed),
            drawn_at: None,
            is_stale: true,
        }
    }

    /// Shows a line for a moment.
    pub fn say(&mut self, text: &str) {
        self.model.say_at(text, now());
        self.is_stale = true;
    }

    /// Shows the overview on a tty until it is to be given back. Cancel safe. The tty may show anything
    /// before, and is left as it is.
    pub async fn show(&mut self, tty: &mut Tty<'_>) -> Leave {
        self.canvas.forget();
        self.input = InputReader::default();
        self.is_stale = true;
        let leave = self.serve(tty).await;
        self.stop_following();
        leave
    }

    async fn serve(&mut self, tty: &mut Tty<'_>) -> Leave {
        loop {
            let due = self.drawn_at.map(|drawn_at| drawn_at + FRAME);
            let due = due.filter(|_| self.is_stale);
            let is_due = self.is_stale && due.is_none_or(|due| due <= Instant::now());
            // A tty that takes no output is given the newest picture when it does.
            if is_due && let Ok(place) = tty.frames.try_reserve() {
                self.is_stale = false;
                self.drawn_at = Some(Instant::now());
                match self.canvas.draw(view::view(&self.model)) {
                    Ok(bytes) if bytes.is_empty() => {}
                    Ok(bytes) => place.send(bytes),
                    Err(_) => return Leave::Quit,
                }
            }
            let wake = self.wake(due);
            let effects = tokio::select! {
                chunk = tty.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Leave::Quit };
                    let inputs = self.input.read(&chunk);
                    let effects = inputs.into_iter().map(|input| self.model.take_input(input, now()));
                    effects.flatten().collect()
                }
                Some(news) = self.news.recv() => {
                    if let News::Copied { text, .. } = &news {
                        let _ = tty.frames.send(clipboard::copy(text)).await;
                    }
                    self.model.hear(news, now())
                }
                Some(change) = tty.changes.recv() => {
                    self.canvas.forget();
                    self.is_stale = true;
                    match change {
                        TtyChange::Resized(size) => self.model.resize(size.unwrap_or(NO_SIZE), now()),
                        TtyChange::Overwritten => Vec::new(),
                    }
                }
                () = tokio::time::sleep_until(wake.into()) => self.model.tick(now()),
            };
            self.is_stale |= self.model.take_stale();
            for effect in effects {
                match effect {
                    Effect::Leave(leave) => return leave,
                    Effect::Follow(followed) => self.follow(followed),
                    Effect::Call(call) => self.call(call),
                }
            }
        }
    }

    /// When something is to be done, as far as nothing else happens.
    fn wake(&self, frame: Option<Instant>) -> Instant {
        let soon = Instant::now() + FRAME / 8;
        let frame = frame.map(|frame| frame.max(soon));
        let due = self.model.wake();
        frame.map_or(due, |frame| frame.min(due))
    }

    fn follow(&mut self, followed: Option<Followed>) {
        if let Some(before) = self.screen_feed.take() {
            before.abort();
        }
        let link = self.link.borrow().clone();
        if let (Some(link), Some(followed)) = (link, followed) {
            let feed = screen_feed::follow(link, followed, self.tell.clone());
            self.screen_feed = Some(tokio::spawn(feed));
        }
    }

    fn stop_following(&mut self) {
        self.follow(None);
        self.model.forget_followed();
    }

    fn call(&mut self, call: effect::Call) {
        let link = self.link.borrow().clone();
        let Some(link) = link.filter(|_| self.model.is_answered()) else {
            if let Some(left_out) = call.left_out() {
                self.say(&format!("the daemon does not answer: {left_out}"));
            }
            return;
        };
        let tell = self.tell.clone();
        let (typist, size) = (self.model.typist(), self.model.size());
        tokio::spawn(async move {
            let made = calls::make(&link, call, typist, size);
            if let Some(news) = silence::watched(&link, &tell, made).await {
                let _ = tell.send(news).await;
            }
        });
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        self.feed.abort();
        self.follow(None);
    }
}

fn now() -> Now {
    Now {
        at: Instant::now(),
        ms: now_ms(),
    }
}
