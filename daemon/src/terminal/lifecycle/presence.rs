//! Being there: what keeps a terminal from counting as idle for as long as it lasts.
//!
//! Promises: whoever watches a terminal is there while they watch, without having to think of it.

use std::ops::{Deref, DerefMut};

use tokio::sync::watch;

use super::record::Progress;
use crate::clock::Moment;
use crate::terminal::handle::Terminal;

/// Somebody is at a terminal, until this is dropped.
#[derive(Debug)]
pub struct Presence<'a> {
    terminal: &'a Terminal,
}

impl<'a> Presence<'a> {
    pub(crate) fn at(terminal: &'a Terminal) -> Self {
        terminal.activity.arrive(Moment::now());
        Self { terminal }
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.terminal.activity.leave(Moment::now());
    }
}

/// Watches how far a terminal has come, and is there meanwhile.
#[derive(Debug)]
pub struct Watch<'a> {
    progress: watch::Receiver<Progress>,
    _presence: Presence<'a>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(progress: watch::Receiver<Progress>, presence: Presence<'a>) -> Self {
        Self {
            progress,
            _presence: presence,
        }
    }
}

impl Deref for Watch<'_> {
    type Target = watch::Receiver<Progress>;

    fn deref(&self) -> &Self::Target {
        &self.progress
    }
}

impl DerefMut for Watch<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.progress
    }
}
