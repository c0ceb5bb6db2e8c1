//! Which configuration a server runs on: the file, or the last good one where the file is bad.
//!
//! A first start with a bad file fails: the keeper reads the file before there is a server. A server
//! that takes over by a reload while the file is bad runs on the text of the server before it, which is
//! kept whole in the state directory, with mode 0600. So does one that replaces a server which ended
//! unasked, whatever the file holds: a kill is no reload. No server runs on half a file, and none on
//! defaults that no person chose. The state directory is hidden from a sandboxed terminal. A terminal
//! without a sandbox can write there, as it can write the file itself.
//!
//! What is to be recorded of a change is returned.

use std::fs;
use std::io;
use std::path::Path;

use super::config_file::ConfigFile;
use super::error::ConfigError;
use super::kept_text::{hash, keep_text, kept};

/// The last good text, in the state directory.
const KEPT_NAME: &str = "config.in-force.toml";

/// What a server runs on.
#[derive(Debug)]
pub struct InForce {
    /// The configuration.
    pub file: ConfigFile,
    /// Why the file on disk is not in force, in one line.
    pub fault: Option<String>,
    /// What is to be recorded before it is in force.
    pub change: Option<Change>,
    previous: Option<ConfigFile>,
}

/// Why a server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartReason {
    /// The daemon starts, or a reload was requested.
    Request,
    /// The server before it ended unasked.
    Recovery,
}

impl StartReason {
    /// The reason of a server whose keeper says whether it replaces one that ended unasked.
    pub fn of(is_recovery: bool) -> Self {
        if is_recovery {
            Self::Recovery
        } else {
            Self::Request
        }
    }
}

/// A change of a file, as audit records name it: SHA-256 of the texts, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another text is in force.
    Made {
        /// The text before; `None` where there was none.
        old: Option<String>,
        /// The text now.
        new: String,
    },
    /// The text on disk is bad or not requested; the one before stays.
    Refused {
        /// The text that stays.
        stays: String,
        /// The bad text; `None` where it cannot be read.
        refused: Option<String>,
    },
}

impl InForce {
    /// Reads the file, and what was in force before.
    pub fn find(config: &Path, state_dir: &Path, reason: StartReason) -> Result<Self, ConfigError> {
        let previous = kept(&state_dir.join(KEPT_NAME));
        let previous = previous.and_then(|text| ConfigFile::parse(text, config).ok());
        match (ConfigFile::load(config), previous) {
            (Ok(file), Some(previous))
                if reason == StartReason::Recovery && file.text != previous.text =>
            {
                Ok(Self {
                    fault: Some(unrequested(config)),
                    change: Some(Change::Refused {
                        stays: hash(&previous.text),
                        refused: Some(hash(&file.text)),
                    }),
                    file: previous,
                    previous: None,
                })
            }
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

    /// The change could not be recorded. The configuration before stays, where there was one.
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

    /// Keeps the configuration in force for the next server.
    pub fn keep(&self, state_dir: &Path) -> io::Result<()> {
        keep_text(&self.file.text, state_dir, KEPT_NAME)
    }

    /// SHA-256 of the text, as records name it.
    pub fn hash(&self) -> String {
        hash(&self.file.text)
    }
}

/// Why a text that is good is not in force.
pub(super) fn unrequested(file: &Path) -> String {
    format!(
        "{} has changed, and no reload was requested: systemctl --user reload termd",
        file.display()
    )
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
        assert!(InForce::find(&config, dir.path(), StartReason::Request).is_err());

        fs::write(&config, "kill_grace_ms = 5").unwrap();
        let first = InForce::find(&config, dir.path(), StartReason::Request).unwrap();
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
        assert_eq!(
            InForce::find(&config, dir.path(), StartReason::Request)
                .unwrap()
                .change,
            None
        );

        fs::write(&config, "kill_grace_ms = 6\n[").unwrap();
        let bad = InForce::find(&config, dir.path(), StartReason::Request).unwrap();
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
        let mended = InForce::find(&config, dir.path(), StartReason::Request).unwrap();
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
    fn a_kill_is_no_reload() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        let find = |reason| InForce::find(&config, dir.path(), reason).unwrap();
        find(StartReason::Request).keep(dir.path()).unwrap();

        fs::write(&config, "kill_grace_ms = 5").unwrap();
        let recovered = find(StartReason::Recovery);
        assert_ne!(recovered.file.config.kill_grace_ms, 5);
        let fault = recovered.fault.unwrap();
        assert!(fault.contains("config.toml has changed"), "{fault}");
        assert!(matches!(recovered.change, Some(Change::Refused { .. })));

        let reloaded = find(StartReason::Request);
        assert_eq!(reloaded.file.config.kill_grace_ms, 5);
        reloaded.keep(dir.path()).unwrap();
        let recovered = find(StartReason::Recovery);
        assert_eq!((&recovered.fault, &recovered.change), (&None, &None));
    }

    #[test]
    fn nothing_is_kept_or_recorded_of_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let absent = InForce::find(
            &dir.path().join("config.toml"),
            dir.path(),
            StartReason::Request,
        )
        .unwrap();
        assert_eq!((&absent.change, &absent.fault), (&None, &None));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.toml");
        fs::write(dir.path().join("other"), "kill_grace_ms = 1").unwrap();
        std::os::unix::fs::symlink(dir.path().join("other"), dir.path().join(KEPT_NAME)).unwrap();
        fs::write(&config, "[").unwrap();
        assert!(InForce::find(&config, dir.path(), StartReason::Request).is_err());
    }
}
