//! The two threads that pass bytes on.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::initialize::{AnswerFilter, Filtered, RequestId};
use crate::setup::Shells;

/// Bytes of one read. A pipe holds as many.
const CHUNK: usize = 64 << 10;

/// What both threads know of `initialize`.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// The id of the request.
    id: Mutex<Option<Value>>,
    is_answered: AtomicBool,
}

impl Handshake {
    fn set_id(&self, id: Value) {
        if let Ok(mut known) = self.id.lock() {
            *known = Some(id);
        }
    }

    fn id(&self) -> Option<Value> {
        self.id.lock().ok()?.clone()
    }
}

/// Passes standard input on to the server until either of the two ends. The id of a request is known
/// before the request is passed on, and so before its answer.
pub(super) fn to_server(mut server: ChildStdin, handshake: &Handshake) -> io::Result<()> {
    let mut client = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut request = RequestId::default();
    let mut chunk = vec![0; CHUNK];
    while !handshake.is_answered.load(Ordering::Relaxed) {
        let bytes = match read(&mut client, &mut chunk)? {
            [] => return Ok(()),
            bytes => bytes,
        };
        if let Some(id) = request.look(bytes) {
            handshake.set_id(id);
        }
        server.write_all(bytes)?;
    }
    io::copy(&mut client, &mut server)?;
    Ok(())
}

/// Passes the server's output on to standard output until either of the two ends.
pub(super) fn to_client(
    mut server: ChildStdout,
    shells: &Shells,
    handshake: &Handshake,
) -> io::Result<()> {
    let mut client = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut filter = AnswerFilter::default();
    let mut chunk = vec![0; CHUNK];
    let mut out = Vec::new();
    loop {
        let bytes = match read(&mut server, &mut chunk)? {
            [] => return client.write_all(&filter.rest()),
            bytes => bytes,
        };
        let ours = |path: &Path| shells.in_place_of(path);
        let filtered = filter.feed(bytes, handshake.id().as_ref(), ours, &mut out);
        client.write_all(&out)?;
        out.clear();
        if filtered == Filtered::Answered {
            break;
        }
    }
    handshake.is_answered.store(true, Ordering::Relaxed);
    io::copy(&mut server, &mut client)?;
    Ok(())
}

fn read<'a>(from: &mut impl Read, chunk: &'a mut [u8]) -> io::Result<&'a [u8]> {
    loop {
        match from.read(chunk) {
            Ok(length) => return Ok(chunk.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
