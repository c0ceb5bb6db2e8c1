//! The submodules in an index (gitformat-index(5)).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const SIGNATURE: &[u8] = b"DIRC";
/// The bytes of an entry before its hash. The mode is in them.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
/// The bytes of a hash: SHA-1, SHA-256. An index does not say which it has; only with one of them do
/// its parts fill it.
const HASH_BYTES: [usize; 2] = [20, 32];
/// The flag of an entry that has two bytes of further flags.
const EXTENDED: u16 = 0x4000;
/// The flags' part that is the length of the name, where it is shorter.
const NAME_LENGTH: u16 = 0x0fff;
/// The types of an entry: directory of a sparse index, file, link, submodule.
const TYPES: [u32; 4] = [0o040_000, 0o100_000, 0o120_000, SUBMODULE];
const SUBMODULE: u32 = 0o160_000;
const TYPE: u32 = 0o170_000;

/// The paths of the submodules, relative to the work tree. What git cannot read names none.
pub(super) fn submodule_paths(index: &[u8]) -> Vec<PathBuf> {
    let read = |hash_bytes| Entries::new(index, hash_bytes)?.submodules();
    HASH_BYTES.into_iter().find_map(read).unwrap_or_default()
}

struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    version: u32,
    count: u32,
    hash_bytes: usize,
}

impl<'a> Entries<'a> {
    fn new(bytes: &'a [u8], hash_bytes: usize) -> Option<Self> {
        let header = bytes.strip_prefix(SIGNATURE)?;
        let version = u32::from_be_bytes(*header.first_chunk()?);
        let count = u32::from_be_bytes(*header.get(4..)?.first_chunk()?);
        (2..=4).contains(&version).then_some(Self {
            bytes,
            at: 12,
            version,
            count,
            hash_bytes,
        })
    }

    /// `None` where the bytes are no index with hashes of this length.
    fn submodules(mut self) -> Option<Vec<PathBuf>> {
        let mut submodules = Vec::new();
        // The name of the last entry, of which version 4 says only what differs.
        let mut name: Vec<u8> = Vec::new();
        for _ in 0..self.count {
            let entry = self.bytes.get(self.at..)?;
            let mode = u32::from_be_bytes(*entry.get(MODE_AT..)?.first_chunk()?);
            if !TYPES.contains(&(mode & TYPE)) {
                return None;
            }
            let flags_at = STAT_BYTES + self.hash_bytes;
            let flags = u16::from_be_bytes(*entry.get(flags_at..)?.first_chunk()?);
            let is_extended = self.version >= 3 && flags & EXTENDED != 0;
            let name_at = flags_at + if is_extended { 4 } else { 2 };
            let is_submodule = mode & TYPE == SUBMODULE;
            let length = if self.version == 4 {
                let (removed, varint_bytes) = varint(entry.get(name_at..)?)?;
                let added = until_nul(entry.get(name_at + varint_bytes..)?)?;
                name.truncate(name.len().checked_sub(removed)?);
                name.extend_from_slice(added);
                name_at + varint_bytes + added.len() + 1
            } else {
                let text = until_nul(entry.get(name_at..)?)?;
                let length = usize::from(flags & NAME_LENGTH);
                if length != text.len().min(usize::from(NAME_LENGTH)) {
                    return None;
                }
                if is_submodule {
                    text.clone_into(&mut name);
                }
                // At least one NUL, up to a multiple of eight.
                (name_at + text.len() + 8) & !7
            };
            if is_submodule {
                submodules.push(PathBuf::from(OsStr::from_bytes(&name)));
            }
            self.at += length;
        }
        self.ends_in_hash().then_some(submodules)
    }

    /// Whether extensions follow the entries, and one hash follows those.
    fn ends_in_hash(&self) -> bool {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        while rest.len() > self.hash_bytes {
            let size = rest.get(4..).and_then(|rest| rest.first_chunk());
            let Some(size) = size.map(|size| u32::from_be_bytes(*size) as usize) else {
                return false;
            };
            rest = rest
                .get(8..)
                .and_then(|rest| rest.get(size..))
                .unwrap_or_default();
        }
        rest.len() == self.hash_bytes
    }
}

fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(0, bytes)?;
    bytes.get(..end)
}

/// A number of version 4, as git's `decode_varint` reads it, and its length.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, &byte) in bytes.iter().enumerate() {
        value = value
            .checked_mul(128)?
            .checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some((value, at + 1));
        }
        value = value.checked_add(1)?;
    }
    None
}
