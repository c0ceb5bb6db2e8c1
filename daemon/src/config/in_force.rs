//! Which configuration a server runs on: the file, or, where that is bad, the last one that was good.
//!
//! A first start with a bad file fails: the keeper reads it before there is a server. A server that
//! takes over (SIGHUP, a crash) while the file is bad goes on with the text that the one before it
//! ran on, which is kept whole in the state directory, 0600. Nobody runs on half a file, and nobody
//! on defaults that no person chose. A sandboxed terminal cannot write there, for the state
//! directory is hidden from it; one without a sandbox can, as it can write the file itself.
//!
//! It must not know the database: what is to be recorded of a change is returned.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{ConfigError, ConfigFile, MAX_CONFIG_BYTES};

/// The last good text, in the state directory.
const KEPT_NAME: &str = "config.in-force.toml";

/// What a server runs on.
#[derive(Debug)]
pub struct InForce {
    /// The configuration.
    pub file: ConfigFile,
    /// Why the file on disk is not it, in one line.
    pub fault: Option<String>,
    /// What is to be recorded before it is in force.
    pub change: Option<Change>,
    previous: Option<ConfigFile>,
}

/// A change of the configuration, as records tell it: SHA-256 of the texts, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another text is in force.
    Made {
        /// The one before; `None`: there was none.
        old: Option<String>,
        /// The one now.
        new: String,
    },
    /// The text on disk is bad; the one before stays.
    Refused {
        /// The one that stays.
        stays: String,
        /// The bad one; `None`: it cannot be read.
        refused: Option<String>,
    },
}

impl InForce {
    /// Reads the file, and what was in force before.
    pub fn find(config: &Path, state_dir: &Path) -> Result<Self, ConfigError> {
        let previous = kept(&state_dir.join(KEPT_NAME));
        let previous = previous.and_then(|text| ConfigFile::parse(text, config).ok());
        match (ConfigFile::load(config), previous) {
            (Ok(file), previous) => {
                let old = previous.as_ref().map(|previous| hash(&previous.text));
                let new = hash(&file.text);
                let is_first_and_empty = old.is_none() && file.text.is_empty();
                let is_new = old.as_ref() != Some(&new) && !is_first_and_empty;
                Ok(Self {
                    change: is_new.then_some(Change::Made { old, new }),
                    file,
                    fault: None,
                    previous,
                })
            }
            (Err(error), Some(previous)) => {
                let refused = fs::read_to_string(config).ok().map(|text| hash(&text));
                let stays = hash(&previous.text);
                Ok(Self {
                    file: previous,
                    fault: Some(error.to_string()),
                    change: Some(Change::Refused { stays, refused }),
                    previous: None,
                })
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The change could not be recorded: what was in force before stays, where there was something.
    pub fn unrecorded(self, why: &str) -> Option<Self> {
        let file = match self.previous {
            Some(previous) => previous,
            None if self.fault.is_some() => self.file,
            None => return None,
        };
        let fault = format!("a change of config.toml cannot be recorded: {why}");
        Some(Self {
            file,
            fault: Some(fault),
            change: None,
            previous: None,
        })
    }

    /// Keeps what is in force for the next server.
    pub fn keep(&self, state_dir: &Path) -> io::Result<()> {
        keep_text(&self.file.text, state_dir, KEPT_NAME)
    }

    /// SHA-256 of the text, as records name it.
    pub fn hash(&self) -> String {
        hash(&self.file.text)
    }
}

/// Keeps a text in the state directory under this name, whole or not at all.
pub(super) fn keep_text(text: &str, state_dir: &Path, name: &str) -> io::Result<()> {
    let kept_as = state_dir.join(name);
    let next = state_dir.join(format!("{name}.next"));
    if kept(&kept_as).as_deref() == Some(text) {
        return Ok(());
    }
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
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&next, &kept_as)
}

/// The kept text; `None` where there is none that can be trusted to be ours.
pub(super) fn kept(path: &PathBuf) -> Option<String> {
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

pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::new(), |mut hash, byte| {
        // A string takes whatever is written.
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_bad_file_leaves_the_last_good_one_in_force() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        fs::write(&config, "kill_grace_ms = 5\n[").unwrap();
        assert!(InForce::find(&config, dir.path()).is_err());

        fs::write(&config, "kill_grace_ms = 5").unwrap();
        let first = InForce::find(&config, dir.path()).unwrap();
        let Some(Change::Made {
            old: None,
            new: five,
        }) = first.change.clone()
        else {
            panic!("{:?}", first.change);
        };
        first.keep(dir.path()).unwrap();
        let kept = dir.path().join(KEPT_NAME);
        assert_eq!(
            fs::metadata(&kept).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(InForce::find(&config, dir.path()).unwrap().change, None);

        fs::write(&config, "kill_grace_ms = 6\n[").unwrap();
        let bad = InForce::find(&config, dir.path()).unwrap();
        assert_eq!(bad.file.config.kill_grace_ms, 5);
        assert!(
            bad.fault.as_ref().unwrap().contains("config.toml:2:"),
            "{bad:?}"
        );
        assert!(
            matches!(&bad.change, Some(Change::Refused { stays, refused: Some(_) }) if *stays == five),
            "{bad:?}"
        );

        fs::write(&config, "kill_grace_ms = 7").unwrap();
        let mended = InForce::find(&config, dir.path()).unwrap();
        assert_eq!(
            (mended.file.config.kill_grace_ms, &mended.fault),
            (7, &None)
        );
        assert!(
            matches!(&mended.change, Some(Change::Made { old: Some(old), .. }) if *old == five)
        );
        let unrecorded = mended.unrecorded("the disk is full").unwrap();
        assert_eq!(unrecorded.file.config.kill_grace_ms, 5);
        assert!(unrecorded.fault.is_some());
    }

    #[test]
    fn nothing_is_kept_or_recorded_of_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let absent = InForce::find(&dir.path().join("config.toml"), dir.path()).unwrap();
        assert_eq!((&absent.change, &absent.fault), (&None, &None));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        fs::write(dir.path().join("other"), "kill_grace_ms = 1").unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), dir.path().join(KEPT_NAME)).unwrap();
        fs::write(&config, "[").unwrap();
        assert!(InForce::find(&config, dir.path()).is_err());
    }
}
