//! Descriptors registered with the runtime: the PTY's master side, or a pipe's end.
#![allow(unsafe_code)] // One call, because AsyncFd is generic over types that may lie about their fd.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a non-blocking master for reading and writing. Must be called inside the runtime.
pub(crate) fn register(master: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    register_for(master, Interest::READABLE | Interest::WRITABLE)
}

/// Registers a non-blocking pipe for reading. Must be called inside the runtime.
pub(crate) fn register_readable(pipe: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    register_for(pipe, Interest::READABLE)
}

/// Registers a non-blocking pipe for writing. Must be called inside the runtime.
pub(crate) fn register_writable(pipe: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    register_for(pipe, Interest::WRITABLE)
}

fn register_for(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd names the same open file until it is dropped, and AsyncFd deregisters it
    // before that.
    let registered = unsafe { AsyncFd::register_with_interest(fd, interest) };
    Ok(registered?)
}
