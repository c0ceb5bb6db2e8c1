//! Which connections a terminal ends with, which are attached to it, and which have typed into it.
//!
//! A connection is a number here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use termd_proto::terminal::{AttachMode, Owner};
use tokio_util::sync::CancellationToken;

use crate::terminal::screen::size::Size;

/// Connections remembered as having typed. Beyond that all are forgotten, and their next input is
/// recorded as their first again.
const MAX_REMEMBERED_TYPISTS: usize = 1_024;

/// The connections of one terminal.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    /// How many connections the terminal is bound to.
    bound: AtomicUsize,
    typists: Mutex<BTreeSet<u64>>,
    attached: Mutex<Viewers>,
}

/// The attached connections.
#[derive(Debug, Default)]
struct Viewers {
    by_connection: BTreeMap<u64, Viewer>,
    /// How often a viewer has typed or given a size.
    uses: u64,
}

#[derive(Debug)]
struct Viewer {
    /// Who it is.
    by: Owner,
    mode: AttachMode,
    /// When it came, as counted by [`Viewers::uses`].
    since: u64,
    /// Ends the attachment.
    detached: CancellationToken,
    /// The size of its tty, where the terminal may take it.
    size: Option<Size>,
    /// Its last use, as counted by [`Viewers::uses`].
    used: u64,
}

/// A connection that was attached.
#[derive(Debug)]
pub(crate) struct Detached {
    pub(crate) by: Owner,
    /// The size that the terminal takes, where it had this one's. Not who was used last counts: after a change
    /// of the server the viewers have come again in any order.
    pub(crate) leaves_size: Option<Size>,
}

impl Viewers {
    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    /// The size of the viewer that was used last, of those with a size.
    fn latest(&self) -> Option<Size> {
        let sized = self.by_connection.values();
        let sized = sized.filter_map(|viewer| Some((viewer.used, viewer.size?)));
        let latest = sized.max_by_key(|(used, _)| *used);
        latest.map(|(_, size)| size)
    }
}

impl Connections {
    fn attached(&self) -> MutexGuard<'_, Viewers> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds the terminal to a connection: the terminal ends with the last one.
    pub(crate) fn bind(&self) {
        self.bound.fetch_add(1, Ordering::AcqRel);
    }

    /// Unbinds a connection that has ended; true if it was the last.
    pub(crate) fn unbind(&self) -> bool {
        self.bound.fetch_sub(1, Ordering::AcqRel) == 1
    }

    pub(crate) fn is_unbound(&self) -> bool {
        self.bound.load(Ordering::Acquire) == 0
    }

    /// Attaches a connection; `None` if it is attached already, and only its size is new.
    pub(crate) fn attach(
        &self,
        connection: u64,
        by: &Owner,
        mode: AttachMode,
        size: Option<Size>,
    ) -> Option<CancellationToken> {
        let mut viewers = self.attached();
        let used = viewers.next_use();
        if let Some(viewer) = viewers.by_connection.get_mut(&connection) {
            (viewer.size, viewer.used) = (size, used);
            return None;
        }
        let viewer = Viewer {
            by: by.clone(),
            mode,
            since: used,
            detached: CancellationToken::new(),
            size,
            used,
        };
        let detached = viewer.detached.clone();
        viewers.by_connection.insert(connection, viewer);
        Some(detached)
    }

    /// Who is attached, in the order in which they came.
    pub(crate) fn viewers(&self) -> Vec<termd_proto::terminal::Viewer> {
        let viewers = self.attached();
        let mut viewers: Vec<&Viewer> = viewers.by_connection.values().collect();
        viewers.sort_by_key(|viewer| viewer.since);
        let shown = viewers.into_iter();
        shown
            .map(|viewer| termd_proto::terminal::Viewer {
                by: viewer.by.clone(),
                mode: viewer.mode,
                cols: viewer.size.map(|size| size.cols),
                rows: viewer.size.map(|size| size.rows),
            })
            .collect()
    }

    /// Detaches a connection from a terminal of this size; `None`: it was not attached.
    pub(crate) fn detach(&self, connection: u64, current: Size) -> Option<Detached> {
        let mut viewers = self.attached();
        let left = viewers.by_connection.remove(&connection)?;
        left.detached.cancel();
        Some(Detached {
            leaves_size: viewers.latest().filter(|_| left.size == Some(current)),
            by: left.by,
        })
    }

    /// A connection types. Returns its size, which the terminal takes.
    pub(crate) fn typed(&self, connection: u64) -> Option<Size> {
        let mut viewers = self.attached();
        let used = viewers.next_use();
        let viewer = viewers.by_connection.get_mut(&connection)?;
        viewer.used = used;
        viewer.size
    }

    fn typists(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.typists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is recorded that this connection types.
    pub(crate) fn is_typist(&self, connection: u64) -> bool {
        self.typists().contains(&connection)
    }

    /// It is recorded that this connection types.
    pub(crate) fn add_typist(&self, connection: u64) {
        let mut typists = self.typists();
        if typists.len() >= MAX_REMEMBERED_TYPISTS {
            typists.clear();
        }
        typists.insert(connection);
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::Front;

    use super::*;

    const SMALL: Size = Size { cols: 80, rows: 24 };
    const LARGE: Size = Size {
        cols: 132,
        rows: 43,
    };

    fn attach(
        connections: &Connections,
        connection: u64,
        size: Option<Size>,
    ) -> Option<CancellationToken> {
        let by = Owner {
            front: Front::Cli,
            uid: 1000,
            pid: 1,
            exe: None,
            session: None,
            client: None,
            agent: None,
            terminal: None,
        };
        connections.attach(connection, &by, AttachMode::Type, size)
    }

    fn leave(connections: &Connections, connection: u64, current: Size) -> Option<Size> {
        connections.detach(connection, current)?.leaves_size
    }

    #[test]
    fn the_size_is_that_of_who_typed_or_resized_last_and_is_still_there() {
        let connections = Connections::default();
        for (connection, size) in [(1, Some(LARGE)), (2, Some(SMALL)), (3, None)] {
            assert!(attach(&connections, connection, size).is_some());
        }
        assert_eq!(connections.typed(1), Some(LARGE));
        assert_eq!(connections.typed(3), None, "a viewer without a size");
        assert_eq!(connections.typed(4), None, "not attached");
        assert_eq!(
            leave(&connections, 2, LARGE),
            None,
            "the size was not its own"
        );
        assert!(attach(&connections, 2, Some(SMALL)).is_some());
        assert_eq!(leave(&connections, 2, SMALL), Some(LARGE));
        assert_eq!(leave(&connections, 2, SMALL), None, "twice");
        assert!(attach(&connections, 1, Some(SMALL)).is_none());
        assert_eq!(connections.typed(1), Some(SMALL));
        assert_eq!(
            leave(&connections, 1, SMALL),
            None,
            "nobody with a size is left"
        );
    }

    #[test]
    fn who_has_the_size_gives_it_back_in_whichever_order_the_viewers_came() {
        for order in [[(1, LARGE), (2, SMALL)], [(2, SMALL), (1, LARGE)]] {
            let connections = Connections::default();
            for (connection, size) in order {
                assert!(attach(&connections, connection, Some(size)).is_some());
            }
            assert_eq!(leave(&connections, 2, SMALL), Some(LARGE), "{order:?}");
        }
    }
}
