//! Work that is done at once where it is short, and on a thread of its own where it is long.

use std::io;

/// Runs `work`. Long work goes to a blocking thread, so that it stalls no other task.
pub(crate) async fn run<T: Send + 'static>(
    is_long: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    if is_long {
        tokio::task::spawn_blocking(work)
            .await
            .map_err(io::Error::other)
    } else {
        Ok(work())
    }
}
