//! Descriptors 0, 1 and 2, of which any may be closed.

use std::fs::{File, OpenOptions};
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::{Errno, fcntl_getfd};

use crate::sys::inherited_fd;

/// Which of the three are open. Those that are not hold `/dev/null` until the exec, so that no
/// descriptor of this program gets their numbers.
#[derive(Debug)]
pub(crate) struct StandardFds {
    is_open: [bool; 3],
    _placeholders: Vec<File>,
}

impl StandardFds {
    /// To be called before anything else opens a descriptor.
    pub(crate) fn reserve() -> Self {
        let is_open = [0, 1, 2].map(|number| fcntl_getfd(inherited_fd(number)) != Err(Errno::BADF));
        let closed = is_open.iter().filter(|is_open| !**is_open);
        // The lowest free number is taken first, and close-on-exec is set.
        let placeholder = |_| OpenOptions::new().read(true).write(true).open("/dev/null");
        let placeholders = closed.filter_map(|is_open| placeholder(is_open).ok());
        Self {
            _placeholders: placeholders.collect(),
            is_open,
        }
    }

    /// Whether this one was open at the start.
    pub(crate) fn has(&self, number: RawFd) -> bool {
        let index = usize::try_from(number).ok();
        index.is_some_and(|index| self.is_open.get(index) == Some(&true))
    }
}

pub(crate) fn stdin() -> BorrowedFd<'static> {
    inherited_fd(0)
}

pub(crate) fn stdout() -> BorrowedFd<'static> {
    inherited_fd(1)
}

pub(crate) fn stderr() -> BorrowedFd<'static> {
    inherited_fd(2)
}
