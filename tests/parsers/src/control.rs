//! What keeper and server say to each other: any bytes are read, what was read is written as it
//! was, and a packet has as many descriptors as came.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};
use termd_keeper::protocol::channel::{MAX_FDS, receive};
use termd_keeper::protocol::message::{ToKeeper, ToServer};

/// Kinds that there are, and a few more.
const KINDS_TO_KEEPER: u16 = 12;
const FIRST_TO_SERVER: u16 = 101;

/// The first byte chooses a kind, and how many descriptors come with it; the rest is its body.
pub fn holds(data: &[u8]) {
    let Some((first, body)) = data.split_first() else {
        return;
    };
    let kind = u16::from(*first) % KINDS_TO_KEEPER;
    if let Ok(Some(message)) = ToKeeper::decode(kind, body) {
        let (again, encoded) = message.encode();
        assert_eq!(again, kind);
        assert_eq!(ToKeeper::decode(kind, &encoded), Ok(Some(message)));
    }
    let kind = FIRST_TO_SERVER + kind;
    if let Ok(Some(message)) = ToServer::decode(kind, body) {
        let (again, encoded) = message.encode();
        assert_eq!(again, kind);
        assert_eq!(ToServer::decode(kind, &encoded), Ok(Some(message)));
    }
    packet(usize::from(*first / 16), data);
}

fn packet(descriptors: usize, bytes: &[u8]) {
    let flags = SocketFlags::CLOEXEC;
    let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None);
    let (Ok((ours, theirs)), Ok(null)) = (pair, File::open("/dev/null")) else {
        return;
    };
    let all: Vec<BorrowedFd<'_>> = (0..descriptors).map(|_| null.as_fd()).collect();
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(15))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !all.is_empty() {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&all)));
    }
    let parts = [std::io::IoSlice::new(bytes)];
    if sendmsg(&ours, &parts, &mut ancillary, SendFlags::DONTWAIT).is_err() {
        return;
    }
    if let Ok(received) = receive(theirs.as_fd()) {
        let fds: &[OwnedFd] = &received.fds;
        // One of them is the body, where it is said to be.
        assert!(fds.len() == descriptors || fds.len() + 1 == descriptors);
        assert!(fds.len() <= MAX_FDS, "{} descriptors", fds.len());
    }
}
