//! Gives freed memory back to the kernel.
//!
//! glibc keeps what is freed below the top of each arena (`malloc_trim(3)`). After two hundred
//! terminals it would keep nearly all of their memory for good.
//!
//! **Promises:** nothing happens while nothing is freed. Other C libraries are left alone.
#![allow(unsafe_code)] // One call, which has no safe wrapper.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

/// From the first freed object to the trim. Many ends at once cause one trim, and a daemon whose
/// terminals come and go spends some milliseconds in each such period.
const DELAY: Duration = Duration::from_secs(10);

/// Asks for trims. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeapTrim {
    freed: Arc<Notify>,
}

impl HeapTrim {
    /// Begins with what the start has freed. Must be called inside the runtime.
    pub(crate) fn start() -> Self {
        let trim = Self::default();
        trim.freed();
        tokio::spawn(trim.clone().run());
        trim
    }

    /// What may have held much memory is gone: a terminal, a connection.
    pub(crate) fn freed(&self) {
        self.freed.notify_one();
    }

    /// Trims after each freed object, once for all of [`DELAY`].
    async fn run(self) -> Infallible {
        loop {
            self.freed.notified().await;
            sleep(DELAY).await;
            if tokio::task::spawn_blocking(trim).await.is_err() {
                tracing::error!("the heap cannot be trimmed");
            }
        }
    }
}

#[cfg(target_env = "gnu")]
fn trim() {
    // SAFETY: it takes the arenas' own locks, and no pointer of ours.
    unsafe { nix::libc::malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn trim() {}
