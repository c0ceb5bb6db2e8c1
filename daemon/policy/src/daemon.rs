//! termd itself, as the gate has to know it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The processes and files of the daemon that judges.
#[derive(Debug, Clone, Default)]
pub struct Daemon {
    /// The keeper, the server, and those that watch its questions.
    pub pids: Pids,
    /// Its program, and its directories, absolute. Those of a home without XDG variables are known.
    pub paths: Vec<String>,
}

/// The numbers of processes that come and go. Clones are the same set.
#[derive(Debug, Clone, Default)]
pub struct Pids(Arc<Mutex<Vec<i32>>>);

impl Pids {
    fn all(&self) -> MutexGuard<'_, Vec<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a process, once more where it is there.
    pub fn add(&self, pid: i32) {
        self.all().push(pid);
    }

    /// Takes a process away, once.
    pub fn remove(&self, pid: i32) {
        let mut all = self.all();
        if let Some(at) = all.iter().position(|it| *it == pid) {
            all.swap_remove(at);
        }
    }

    /// Whether a process is there.
    pub fn contains(&self, pid: i32) -> bool {
        self.all().contains(&pid)
    }
}

impl FromIterator<i32> for Pids {
    fn from_iter<I: IntoIterator<Item = i32>>(pids: I) -> Self {
        Self(Arc::new(Mutex::new(pids.into_iter().collect())))
    }
}
