//! One packet with its file descriptors, sent and received; for both sides of the socket.
//!
//! A packet is a header of eight bytes (kind u16, form u16, request u32, little-endian) and a body.
//! A body beyond [`MAX_INLINE_BODY`] travels in a sealed memfd before the packet's own descriptors:
//! a command's argv and environment may be megabytes, a socket's send buffer is not.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use termd_proto::terminal::MAX_INHERITED_FDS;
use thiserror::Error;

use super::wire::Kind;

/// The longest body inside a packet. A datagram must fit the smallest usual send buffer whole.
pub const MAX_INLINE_BODY: usize = 32 * 1024;

/// The longest body at all: execve(2) takes at most 6 MiB of argv and environment in all, the
/// daemon 4 MiB; the rest is notes and lengths.
pub const MAX_BODY: usize = 6 * 1024 * 1024;

/// Descriptors in one packet: what a command inherits, and the memfd of a long body. A terminal's own
/// are six.
pub const MAX_FDS: usize = MAX_INHERITED_FDS + 1;

const HEADER_BYTES: usize = 8;
const FORM_INLINE: u16 = 0;
const FORM_MEMFD: u16 = 1;

/// One message, encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Which message.
    pub kind: Kind,
    /// The request it is or answers; 0 for what is neither.
    pub request: u32,
    /// The message's fields.
    pub body: Vec<u8>,
}

/// A packet as it arrived.
#[derive(Debug)]
pub struct Received {
    /// The message.
    pub packet: Packet,
    /// The descriptors beside it, close-on-exec.
    pub fds: Vec<OwnedFd>,
}

/// Why no packet passed.
#[derive(Debug, Error)]
pub enum ChannelError {
    /// Nothing to read, or the socket is full: wait for it.
    #[error("the control socket would block")]
    WouldBlock,
    /// The other side has closed its end.
    #[error("the control socket is closed")]
    Closed,
    /// The packet or its descriptors were cut by the kernel (no descriptors left, most likely).
    #[error("a control packet was cut")]
    Cut,
    /// The packet is not of this protocol.
    #[error("a control packet makes no sense: {0}")]
    Malformed(&'static str),
    /// The system refused.
    #[error("control socket: {0}")]
    Io(#[from] io::Error),
}

impl From<rustix::io::Errno> for ChannelError {
    fn from(errno: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match errno {
            Errno::AGAIN => Self::WouldBlock,
            Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN => Self::Closed,
            other => Self::Io(other.into()),
        }
    }
}

/// Sends one packet whole, or nothing of it. Never blocks, never raises SIGPIPE.
pub fn send(
    socket: BorrowedFd<'_>,
    packet: &Packet,
    fds: &[BorrowedFd<'_>],
) -> Result<(), ChannelError> {
    let memfd = match packet.body.len() {
        0..=MAX_INLINE_BODY => None,
        length if length <= MAX_BODY => Some(sealed(&packet.body)?),
        _ => return Err(ChannelError::Malformed("the body is too long")),
    };
    let (form, body) = match &memfd {
        None => (FORM_INLINE, packet.body.as_slice()),
        Some(_) => (FORM_MEMFD, &[][..]),
    };
    let header = header(packet.kind, form, packet.request);
    let mut all: Vec<BorrowedFd<'_>> = Vec::with_capacity(MAX_FDS);
    all.extend(memfd.as_ref().map(AsFd::as_fd));
    all.extend_from_slice(fds);

    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !all.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&all)) {
        return Err(ChannelError::Malformed("too many descriptors"));
    }
    let parts = [IoSlice::new(&header), IoSlice::new(body)];
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| sendmsg(socket, &parts, &mut ancillary, flags))?;
    Ok(())
}

/// Receives one packet. Never blocks.
pub fn receive(socket: BorrowedFd<'_>) -> Result<Received, ChannelError> {
    let mut buffer = vec![0; HEADER_BYTES + MAX_INLINE_BODY];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| {
        let parts = &mut [IoSliceMut::new(&mut buffer)];
        recvmsg(socket, parts, &mut ancillary, flags)
    })?;
    let mut fds = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received
        .flags
        .intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
    {
        return Err(ChannelError::Cut);
    }
    if received.bytes == 0 {
        return Err(ChannelError::Closed);
    }
    // The kernel aligns the space, so a few more than were allowed for may fit.
    if fds.len() > MAX_FDS {
        return Err(ChannelError::Malformed("too many descriptors"));
    }
    buffer.truncate(received.bytes);
    let Some((&[k0, k1, f0, f1, r0, r1, r2, r3], _)) = buffer.split_first_chunk() else {
        return Err(ChannelError::Malformed("a packet without a header"));
    };
    let body = match u16::from_le_bytes([f0, f1]) {
        FORM_INLINE => buffer.split_off(HEADER_BYTES),
        FORM_MEMFD if !fds.is_empty() => read_sealed(fds.remove(0))?,
        _ => return Err(ChannelError::Malformed("an unknown form of body")),
    };
    Ok(Received {
        packet: Packet {
            kind: u16::from_le_bytes([k0, k1]),
            request: u32::from_le_bytes([r0, r1, r2, r3]),
            body,
        },
        fds,
    })
}

fn header(kind: Kind, form: u16, request: u32) -> [u8; HEADER_BYTES] {
    let [k0, k1] = kind.to_le_bytes();
    let [f0, f1] = form.to_le_bytes();
    let [r0, r1, r2, r3] = request.to_le_bytes();
    [k0, k1, f0, f1, r0, r1, r2, r3]
}

/// What keeps a sender from changing or shrinking a body while it is read.
fn seals() -> SealFlags {
    SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE
}

fn sealed(body: &[u8]) -> Result<OwnedFd, ChannelError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("termd-control", flags)?);
    file.write_all(body)?;
    rustix::fs::fcntl_add_seals(&file, seals())?;
    Ok(file.into())
}

fn read_sealed(memfd: OwnedFd) -> Result<Vec<u8>, ChannelError> {
    if !rustix::fs::fcntl_get_seals(&memfd)?.contains(seals()) {
        return Err(ChannelError::Malformed("a body that is not sealed"));
    }
    let length = usize::try_from(rustix::fs::fstat(&memfd)?.st_size).unwrap_or(usize::MAX);
    if length > MAX_BODY {
        return Err(ChannelError::Malformed("the body is too long"));
    }
    rustix::fs::seek(&memfd, rustix::fs::SeekFrom::Start(0))?;
    let mut body = Vec::with_capacity(length);
    File::from(memfd).read_to_end(&mut body)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        let flags = SocketFlags::CLOEXEC;
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap()
    }

    fn packet(length: usize) -> Packet {
        Packet {
            kind: 3,
            request: 77,
            body: (0..length).map(|at| at.to_le_bytes()[0]).collect(),
        }
    }

    #[test]
    fn bodies_of_every_size_arrive_whole_and_in_order() {
        let (ours, theirs) = pair();
        for length in [0, 1, MAX_INLINE_BODY, MAX_INLINE_BODY + 1, 4 << 20] {
            send(ours.as_fd(), &packet(length), &[]).unwrap();
            let received = receive(theirs.as_fd()).unwrap();
            assert_eq!(received.packet, packet(length));
            assert!(received.fds.is_empty());
        }
    }

    #[test]
    fn descriptors_arrive_beside_a_long_body_and_close_on_exec() {
        let (ours, theirs) = pair();
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let fds = [writer.as_fd()];
        send(ours.as_fd(), &packet(MAX_INLINE_BODY + 1), &fds).unwrap();
        let received = receive(theirs.as_fd()).unwrap();
        let [sent] = received.fds.as_slice() else {
            panic!("one descriptor was sent, {:?} came", received.fds);
        };
        let flags = rustix::io::fcntl_getfd(sent).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        rustix::io::write(sent, b"x").unwrap();
        assert_eq!(rustix::io::read(&reader, &mut [0; 2]).unwrap(), 1);
    }

    #[test]
    fn an_empty_socket_would_block_and_a_closed_one_says_so() {
        let (ours, theirs) = pair();
        assert!(matches!(
            receive(ours.as_fd()),
            Err(ChannelError::WouldBlock)
        ));
        drop(theirs);
        assert!(matches!(receive(ours.as_fd()), Err(ChannelError::Closed)));
        let sent = send(ours.as_fd(), &packet(1), &[]);
        assert!(matches!(sent, Err(ChannelError::Closed)));
    }

    #[test]
    fn a_reader_who_does_not_read_never_blocks_the_writer() {
        let (ours, _theirs) = pair();
        let full = (0..10_000).find_map(|_| send(ours.as_fd(), &packet(1000), &[]).err());
        assert!(matches!(full, Some(ChannelError::WouldBlock)));
    }

    #[test]
    fn an_unsealed_body_is_refused() {
        let (ours, theirs) = pair();
        let loose = rustix::fs::memfd_create("loose", MemfdFlags::CLOEXEC).unwrap();
        let header = header(1, FORM_MEMFD, 0);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = [loose.as_fd()];
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
        let parts = [IoSlice::new(&header)];
        sendmsg(&ours, &parts, &mut ancillary, SendFlags::empty()).unwrap();
        let received = receive(theirs.as_fd());
        assert!(matches!(received, Err(ChannelError::Malformed(_))));
    }

    #[test]
    fn a_packet_of_noise_is_malformed() {
        let (ours, theirs) = pair();
        for noise in [
            &b"abc"[..],
            &[1, 0, 9, 9, 0, 0, 0, 0],
            &[1, 0, 1, 0, 0, 0, 0, 0],
        ] {
            rustix::io::write(&ours, noise).unwrap();
            let received = receive(theirs.as_fd());
            assert!(matches!(received, Err(ChannelError::Malformed(_))));
        }
    }
}
