//! Presence: a guard that keeps a terminal from counting as idle.

use std::ops::{Deref, DerefMut};

use tokio::sync::watch;

use super::activity::Activity;
use super::progress::Progress;
use crate::clock::Moment;

/// Somebody is present at a terminal until this is dropped.
#[derive(Debug)]
pub struct Presence<'a> {
    activity: &'a Activity,
}

impl<'a> Presence<'a> {
    pub(crate) fn at(activity: &'a Activity) -> Self {
        activity.arrive(Moment::now());
        Self { activity }
    }
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.activity.leave(Moment::now());
    }
}

/// Watches a terminal's progress, and is present meanwhile.
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
