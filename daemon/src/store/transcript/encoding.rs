//! How bytes are packed: by zstd where that is shorter, else as they are.
//!
//! **Invariant:** nothing here knows SQLite.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

/// The lowest level: log-like output shrinks six-fold and costs less than writing it would.
const LEVEL: i32 = 1;

/// How data is stored; the number is the database's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The bytes as they are.
    Raw = 0,
    /// One zstd frame (RFC 8878).
    Zstd = 1,
}

/// Compresses one block after the other with one context.
pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    pub(crate) fn new() -> io::Result<Self> {
        Compressor::new(LEVEL).map(Self)
    }

    /// Packs bytes; returns them as they are where packing makes them no shorter.
    pub(crate) fn pack(&mut self, bytes: Vec<u8>) -> (Encoding, Vec<u8>) {
        match self.0.compress(&bytes) {
            Ok(packed) if packed.len() < bytes.len() => (Encoding::Zstd, packed),
            // zstd fails only without memory. Raw bytes lose nothing.
            _ => (Encoding::Raw, bytes),
        }
    }

    /// Packs what is kept beside a block: a byte for the encoding, and the data.
    pub(crate) fn pack_tagged(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let (encoding, data) = self.pack(bytes);
        let mut packed = vec![encoding as u8];
        packed.extend_from_slice(&data);
        packed
    }
}

thread_local! {
    /// Each thread's context: to make one takes about as long as to unpack a block.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The data of a zstd frame that says its length; `None` where it is something else, or longer than `max`.
fn decompress(data: &[u8], max: usize) -> Option<Vec<u8>> {
    let length = usize::try_from(get_frame_content_size(data).ok()??).ok()?;
    if length > max {
        return None;
    }
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = Decompressor::new().ok();
        }
        decompressor.as_mut()?.decompress(data, length).ok()
    })
}

/// Unpacks what a [`Packer`] packed. `length` is what the row says that it holds; `None` where the
/// data is something else, or longer than `max`. Never takes more memory than `max`.
pub(super) fn unpack(encoding: i64, data: &[u8], length: u64, max: usize) -> Option<Vec<u8>> {
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= max)?;
    let bytes = match encoding {
        0 => data.to_vec(),
        1 => decompress(data, length)?,
        _ => return None,
    };
    (bytes.len() == length).then_some(bytes)
}

/// Unpacks what [`Packer::pack_tagged`] packed; `None` where it is something else, or longer than `max`.
pub(crate) fn unpack_tagged(packed: &[u8], max: usize) -> Option<Vec<u8>> {
    let (encoding, data) = packed.split_first()?;
    match encoding {
        0 if data.len() <= max => Some(data.to_vec()),
        1 => decompress(data, max),
        _ => None,
    }
}
