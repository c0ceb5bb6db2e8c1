//! Texts in force, kept in the state directory for the next server.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::config_file::MAX_CONFIG_BYTES;

/// Keeps a text in the state directory under this name, whole or not at all.
pub(super) fn keep_text(text: &str, state_dir: &Path, name: &str) -> io::Result<()> {
    if kept(&state_dir.join(name)).as_deref() == Some(text) {
        return Ok(());
    }
    write_whole(state_dir, name, text.as_bytes())
}

/// Writes a file of the state directory (mode 0600), whole or not at all.
pub(crate) fn write_whole(state_dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let next = state_dir.join(format!("{name}.next"));
    // What a server that died left there.
    match fs::remove_file(&next) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&next, state_dir.join(name))
}

/// Reads a kept text; `None` where there is none that is certainly ours.
pub(super) fn kept(path: &Path) -> Option<String> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = File::options()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = file.take(MAX_CONFIG_BYTES).read_to_string(&mut text);
    read.ok().map(|_| text)
}

/// SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
