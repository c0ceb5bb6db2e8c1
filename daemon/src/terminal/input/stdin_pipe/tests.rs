//! A pipe of a keeper's, served by one server after the other.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::MemfdFlags;
use rustix::pipe::PipeFlags;
use tokio::sync::oneshot;

use super::*;
use crate::terminal::input::{Care, PipePosition};

struct Keepers {
    pipe: OwnedFd,
    queue: OwnedFd,
    reader: File,
}

fn keepers() -> Keepers {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
    rustix::io::ioctl_fionbio(&pipe, true).unwrap();
    Keepers {
        pipe,
        queue: rustix::fs::memfd_create("stdin", flags).unwrap(),
        reader: reader.into(),
    }
}

impl Keepers {
    /// As the next server gets it.
    fn server(&self) -> StdinPipe {
        StdinPipe::adopt(StdinFds {
            pipe: self.pipe.try_clone().unwrap(),
            queue: self.queue.try_clone().unwrap(),
        })
        .unwrap()
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let read = self.reader.read(&mut bytes).unwrap();
        bytes.truncate(read);
        bytes
    }
}

fn input(bytes: &[u8], offset: Option<u64>, is_last: bool) -> (Input, oneshot::Receiver<Outcome>) {
    let (done, outcome) = oneshot::channel();
    let input = Input {
        offset: termd_proto::Offset::ZERO,
        bytes: bytes.to_vec(),
        taken: Arc::default(),
        facts: Arc::default(),
        care: Care::none(),
        position: PipePosition { offset, is_last },
        done,
    };
    (input, outcome)
}

async fn turn(server: &mut StdinPipe) -> (Progress, usize) {
    let ready = tokio::time::timeout(Duration::from_secs(20), server.ready());
    ready.await.unwrap().unwrap();
    server.pump()
}

/// Bytes of which each part differs from the others.
fn bytes(length: usize) -> Vec<u8> {
    let numbers =
        (0_u32..=u32::MAX).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes());
    numbers.take(length).collect()
}

#[tokio::test]
async fn each_server_goes_on_where_the_one_before_was_killed() {
    let mut keepers = keepers();
    let all = bytes(3 << 20);
    let mut arrived = Vec::new();
    for (part, chunk) in all.chunks(300_000).enumerate() {
        // A server that knows of no piece before, as after a kill.
        let mut server = keepers.server();
        // Its sender repeats some of what was sent.
        let start = (part * 300_000).saturating_sub(1_000);
        let repeated = part * 300_000 - start;
        let end = part * 300_000 + chunk.len();
        let is_last = end == all.len();
        let (piece, mut outcome) = input(&all[start..end], Some(start as u64), is_last);
        assert_eq!(server.push(piece), repeated);
        while arrived.len() < end - 10_000 || (is_last && arrived.len() < end) {
            turn(&mut server).await;
            arrived.extend(keepers.read(70_000));
        }
        if is_last {
            assert_eq!(turn(&mut server).await.0, Progress::Ended);
            assert_eq!(outcome.try_recv(), Ok(Outcome::Taken));
        }
    }
    assert!(arrived == all, "the bytes arrived as they were sent");
    // The end of the input is known to the next server.
    let mut next = keepers.server();
    assert_eq!(turn(&mut next).await.0, Progress::Ended);
    let (more, mut outcome) = input(b"more", None, false);
    assert_eq!(next.push(more), 4);
    assert_eq!(outcome.try_recv(), Ok(Outcome::InputEnded));
}

#[tokio::test]
async fn what_was_read_takes_no_memory() {
    let mut keepers = keepers();
    let mut server = keepers.server();
    let chunk = bytes(64 << 10);
    for _ in 0..100 {
        server.push(input(&chunk, None, false).0);
        let mut read = 0;
        while read < chunk.len() {
            turn(&mut server).await;
            read += keepers.read(chunk.len()).len();
        }
        let held = rustix::fs::fstat(&keepers.queue).unwrap().st_blocks * 512;
        assert!(held <= 512 << 10, "{held} bytes");
    }
}

#[tokio::test]
async fn a_piece_beyond_what_was_sent_is_refused_and_a_reader_that_goes_is_noticed() {
    let Keepers {
        pipe,
        queue,
        reader,
    } = keepers();
    let mut server = StdinPipe::adopt(StdinFds { pipe, queue }).unwrap();
    let (beyond, mut outcome) = input(b"abc", Some(1), false);
    assert_eq!(server.push(beyond), 3);
    let refused = Outcome::BeyondInput { end: 0 };
    assert_eq!(outcome.try_recv(), Ok(refused));
    drop(reader);
    let (unread, mut outcome) = input(b"abc", None, false);
    assert_eq!(server.push(unread), 0);
    assert_eq!(turn(&mut server).await, (Progress::NoReader, 0));
    assert_eq!(server.close(), 3);
    assert_eq!(outcome.try_recv(), Ok(Outcome::InputEnded));
}
