//! The key of the hashes that stand in records for secrets, in the state directory.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};
use termd_policy::secrets::redact::{KEY_BYTES, RedactionKey};
use thiserror::Error;

use crate::config::write_whole;

/// The name of the file. It is not in the database, so a copy of the database alone tells nothing.
const NAME: &str = "redaction.key";

/// Permission bits of the group and of others.
const OTHERS: u32 = 0o077;

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not what termd wrote.
    #[error(
        "{}: no file of {KEY_BYTES} bytes that only its owner can read; remove it, and termd makes another",
        path.display()
    )]
    Unfit {
        /// The file.
        path: PathBuf,
    },
}

/// Reads the key; makes it (mode 0600) where there is none.
pub(super) fn redaction_key(state_dir: &Path) -> Result<RedactionKey, KeyError> {
    let path = state_dir.join(NAME);
    let io_error = |source| KeyError::Io {
        path: path.clone(),
        source,
    };
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let mut file = match File::options().read(true).custom_flags(flags).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return make(state_dir).map_err(io_error);
        }
        opened => opened.map_err(io_error)?,
    };
    let found = file.metadata().map_err(io_error)?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & OTHERS == 0;
    if !found.is_file() || !is_own || found.len() != KEY_BYTES as u64 {
        return Err(KeyError::Unfit { path });
    }
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key).map_err(io_error)?;
    Ok(RedactionKey::new(key))
}

/// Makes a new key.
fn make(state_dir: &Path) -> io::Result<RedactionKey> {
    let mut key = [0; KEY_BYTES];
    // At most 256 bytes are given at once (getrandom(2)).
    getrandom(&mut key, GetRandomFlags::empty())?;
    write_whole(state_dir, NAME, &key)?;
    Ok(RedactionKey::new(key))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(NAME);
        let made = redaction_key(place.path()).unwrap();
        assert!(made != RedactionKey::default());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(redaction_key(place.path()).unwrap() == made);
        fs::remove_file(&path).unwrap();
        assert!(redaction_key(place.path()).unwrap() != made);
    }

    #[test]
    fn another_file_in_its_place_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(NAME);
        fs::write(&path, [1; KEY_BYTES]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            redaction_key(place.path()),
            Err(KeyError::Unfit { .. })
        ));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(redaction_key(place.path()).is_ok());
        fs::write(&path, b"short").unwrap();
        assert!(matches!(
            redaction_key(place.path()),
            Err(KeyError::Unfit { .. })
        ));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(redaction_key(place.path()).is_err());
    }
}
