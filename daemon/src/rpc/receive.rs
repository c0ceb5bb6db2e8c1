//! Reads from a connection's socket: bytes, and the descriptors beside them (`SCM_RIGHTS`, unix(7)).

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use termd_proto::terminal::MAX_INHERITED_FDS;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Reads once. Returns the number of bytes, 0 at the peer's end of file, and the descriptors. The kernel
/// closes those beyond [`MAX_INHERITED_FDS`].
pub(super) fn receive(stream: &UnixStream, space: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    stream.try_io(Interest::READABLE, || {
        let mut ancillary_space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_INHERITED_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut ancillary_space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(stream, &mut [IoSliceMut::new(space)], &mut ancillary, flags)?;
        let mut fds = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        Ok((received.bytes, fds))
    })
}
