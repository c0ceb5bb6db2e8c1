//! Two pipes into one spool.

use std::io::Write;

use rustix::fs::MemfdFlags;
use rustix::pipe::PipeFlags;
use termd_proto::Offset;

use super::*;

struct Keepers {
    fds: [OwnedFd; 4],
    stdout: Option<std::fs::File>,
    stderr: Option<std::fs::File>,
}

fn keepers() -> Keepers {
    let memfd = |name| rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).unwrap();
    let pipe = || {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        (reader, std::fs::File::from(writer))
    };
    let ((stdout, write_out), (stderr, write_err)) = (pipe(), pipe());
    Keepers {
        fds: [stdout, memfd("spool"), stderr, memfd("origins")],
        stdout: Some(write_out),
        stderr: Some(write_err),
    }
}

impl Keepers {
    /// As a server gets it; the keeper's own stay.
    fn opened(&self) -> Opened {
        let sent = self.fds.iter().map(|fd| fd.try_clone().unwrap());
        let fds = TerminalFds::from_sent(Stdio::Pipes, sent.collect());
        Opened::adopt(fds.unwrap()).unwrap()
    }
}

fn parts(opened: &mut Opened) -> (&mut Pipes, &Spool, &StreamMap) {
    let Source::Pipes(pipes) = &mut opened.source else {
        panic!("these are pipes");
    };
    (pipes, &opened.spool, opened.streams.as_ref().unwrap())
}

async fn pump(opened: &mut Opened) -> PumpStop {
    assert!(opened.source.readable().await.unwrap().is_none());
    let (pipes, spool, origins) = parts(opened);
    pipes.pump(spool, origins).unwrap()
}

fn of(opened: &Opened, stream: OutputStream) -> Vec<u8> {
    let end = opened.spool.end();
    let all = opened.spool.read(Offset(0), usize::MAX).unwrap().unwrap();
    let map = opened.streams.as_ref().unwrap().read(Offset(0), all.len());
    let map = map.unwrap();
    let runs = map.runs(Offset(0), end).filter(|run| run.stream == stream);
    let place = |offset: Offset| usize::try_from(offset.0).unwrap();
    runs.flat_map(|run| all[place(run.start)..place(run.end)].to_vec())
        .collect()
}

#[tokio::test]
async fn both_come_apart_and_in_order_across_servers() {
    let mut keepers = keepers();
    let mut opened = keepers.opened();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for round in 0..300 {
        let line = format!("out {round}\n");
        keepers
            .stdout
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        out.extend_from_slice(line.as_bytes());
        if round % 3 == 0 {
            let line = format!("err {round}\n");
            keepers
                .stderr
                .as_mut()
                .unwrap()
                .write_all(line.as_bytes())
                .unwrap();
            err.extend_from_slice(line.as_bytes());
        }
        if round % 7 == 0 {
            pump(&mut opened).await;
        }
        if round % 50 == 49 {
            opened = keepers.opened();
        }
    }
    (keepers.stdout, keepers.stderr) = (None, None);
    while pump(&mut opened).await != PumpStop::HungUp {}
    assert_eq!(of(&opened, OutputStream::Stdout), out);
    assert_eq!(of(&opened, OutputStream::Stderr), err);
}

/// What was declared of bytes that a dead server never moved is of no account.
#[tokio::test]
async fn a_server_that_died_before_the_move_leaves_nothing_wrong() {
    let mut keepers = keepers();
    let mut opened = keepers.opened();
    let (_, _, origins) = parts(&mut opened);
    let declared = origins.declare(OutputStream::Stderr, Offset(0), Offset(100));
    declared.unwrap();
    let mut opened = keepers.opened();
    keepers.stdout.as_mut().unwrap().write_all(b"abc").unwrap();
    pump(&mut opened).await;
    keepers.stderr.as_mut().unwrap().write_all(b"def").unwrap();
    pump(&mut opened).await;
    assert_eq!(of(&opened, OutputStream::Stdout), b"abc");
    assert_eq!(of(&opened, OutputStream::Stderr), b"def");
}

#[tokio::test]
async fn one_at_its_end_leaves_the_other() {
    let mut keepers = keepers();
    let mut opened = keepers.opened();
    keepers.stdout = None;
    assert_eq!(pump(&mut opened).await, PumpStop::Drained);
    keepers.stderr.as_mut().unwrap().write_all(b"x").unwrap();
    assert_eq!(pump(&mut opened).await, PumpStop::Drained);
    keepers.stderr = None;
    assert_eq!(pump(&mut opened).await, PumpStop::HungUp);
    assert_eq!(of(&opened, OutputStream::Stderr), b"x");
}
