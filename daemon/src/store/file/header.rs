//! The header of a database file, read without SQLite.
//!
//! SQLite cannot read a database in WAL mode and leave the directory as it was: it creates or
//! rewrites the shared-memory file, and a checkpoint may follow. A refused database must stay as it
//! is, so its header is read here, from the file and from the write-ahead log. The formats: <https://www.sqlite.org/fileformat2.html> §1.3 and §4.
//!
//! **Invariant:** nothing here writes.

use std::io::{self, Read};

/// Bytes of the header at the start of page 1.
const HEADER_BYTES: usize = 100;
/// Bytes of the header and, after it, of page 1's own b-tree header (its first eight).
const START_BYTES: usize = HEADER_BYTES + 8;
/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of the log's header.
const LOG_HEADER_BYTES: usize = 32;
/// Bytes of the header of each page in the log.
const FRAME_HEADER_BYTES: usize = 24;
/// The log's magic number; its lowest bit set means that checksums are over big-endian words.
const LOG_MAGIC: u32 = 0x377f_0682;

/// The part of a database's header that decides whether termd opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// `PRAGMA application_id`.
    pub(super) application_id: u32,
    /// `PRAGMA user_version`: the schema's version.
    pub(super) user_version: u32,
    /// Pages of this size each, in bytes.
    pub(super) page_size: u32,
    /// Pages in the database; `None` where the header does not know it.
    pub(super) pages: Option<u32>,
    /// Whether there is no table in it.
    pub(super) is_empty: bool,
}

impl Header {
    /// Reads the start of page 1; `None` where the bytes are no such page.
    pub(super) fn parse(page: &[u8]) -> Option<Self> {
        if page.len() < START_BYTES || &page[..16] != MAGIC {
            return None;
        }
        let page_size = match u32::from(u16::from_be_bytes([page[16], page[17]])) {
            1 => 65_536,
            size if size.is_power_of_two() && size >= 512 => size,
            _ => return None,
        };
        // The page count holds only where the version it was valid for is the change counter.
        let counts = word(page, 24) == word(page, 92);
        Some(Self {
            application_id: word(page, 68),
            user_version: word(page, 60),
            page_size,
            pages: counts.then(|| word(page, 28)).filter(|pages| *pages > 0),
            is_empty: page[HEADER_BYTES] == 0x0d && page[103..105] == [0, 0],
        })
    }
}

/// Reads the newest committed header: from the log where it has one, else from the file.
pub(super) fn newest(
    file: &mut impl Read,
    log: Option<&mut impl Read>,
) -> io::Result<Option<Header>> {
    let mut start = [0; START_BYTES];
    let got = read_up_to(file, &mut start)?;
    let in_file = Header::parse(&start[..got]);
    let in_log = match log {
        Some(log) => newest_in_log(log)?,
        None => None,
    };
    Ok(in_log.or(in_file))
}

/// The header in the last committed copy of page 1 in a write-ahead log, if it has one.
fn newest_in_log(log: &mut impl Read) -> io::Result<Option<Header>> {
    let mut head = [0; LOG_HEADER_BYTES];
    if read_up_to(log, &mut head)? < LOG_HEADER_BYTES || word(&head, 0) & !1 != LOG_MAGIC {
        return Ok(None);
    }
    let big_endian = word(&head, 0) & 1 == 1;
    let page_size = word(&head, 8) as usize;
    let mut sum = checksum(&head[..24], (0, 0), big_endian);
    if sum != (word(&head, 24), word(&head, 28)) || !(512..=65_536).contains(&page_size) {
        return Ok(None);
    }
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_size];
    let (mut seen, mut committed) = (None, None);
    // As in SQLite's recovery, frames count until the first that is torn or from an earlier log.
    while read_up_to(log, &mut frame)? == frame.len() {
        sum = checksum(&frame[..8], sum, big_endian);
        sum = checksum(&frame[FRAME_HEADER_BYTES..], sum, big_endian);
        let salts_match = frame[8..16] == head[16..24];
        if !salts_match || sum != (word(&frame, 16), word(&frame, 20)) {
            break;
        }
        if word(&frame, 0) == 1 {
            seen = Header::parse(&frame[FRAME_HEADER_BYTES..]);
        }
        let pages_after_commit = word(&frame, 4);
        if pages_after_commit != 0 {
            committed = seen;
        }
    }
    Ok(committed)
}

/// The log's running checksum, which is over pairs of words.
fn checksum(bytes: &[u8], start: (u32, u32), big_endian: bool) -> (u32, u32) {
    let read = if big_endian {
        u32::from_be_bytes
    } else {
        u32::from_le_bytes
    };
    bytes.chunks_exact(8).fold(start, |(first, second), pair| {
        let low = read([pair[0], pair[1], pair[2], pair[3]]);
        let high = read([pair[4], pair[5], pair[6], pair[7]]);
        let first = first.wrapping_add(low).wrapping_add(second);
        let second = second.wrapping_add(high).wrapping_add(first);
        (first, second)
    })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Fills the buffer until it is full or the file ends; returns how far.
fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
