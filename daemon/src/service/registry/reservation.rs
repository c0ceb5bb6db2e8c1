//! A place among the running terminals, and a label, while a terminal is being created.

use std::sync::{Arc, Mutex, PoisonError};

use termd_proto::{Label, TerminalId};

use super::index::Index;
use crate::terminal::error::TerminalError;

/// A reserved place and label. Both are given back on drop, unless the terminal was started.
#[derive(Debug)]
pub(crate) struct Reservation {
    pub(super) index: Arc<Mutex<Index>>,
    pub(super) id: TerminalId,
    pub(super) label: Option<Label>,
    pub(super) is_kept: bool,
}

impl Reservation {
    /// The command's process exists. It may ask for something before its terminal is listed, and is
    /// then known by its pid.
    pub(crate) fn set_pid(&self, pid: i32) {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(starting) = index.starting.get_mut(&self.id) {
            starting.pid = Some(pid);
        }
    }

    /// Takes a label, too, unless another terminal has it.
    pub(crate) fn take_label(&mut self, label: &Label) -> Result<(), TerminalError> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.take_label(label, &self.id)?;
        self.label = Some(label.clone());
        Ok(())
    }

    /// The terminal was started and has the place and the label from now on.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.starting.remove(&self.id);
        index.running = index.running.saturating_sub(1);
        if let Some(label) = &self.label {
            index.labels.remove(label);
        }
    }
}
