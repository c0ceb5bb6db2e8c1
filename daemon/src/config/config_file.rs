//! `config.toml`, read whole and compiled.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::error::{ConfigError, place, shown};
use super::settings::Config;
use crate::strict_modes::loose_directory;
use directories::BaseDirs;
use termd_policy::{Policy, RuleSource};

/// The longest file, in bytes. The file is read whole.
pub(super) const MAX_CONFIG_BYTES: u64 = 4 << 20;

const WRITABLE_BY_ALL: u32 = 0o002;

/// A configuration with the text that it was read from.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// The tables.
    pub config: Config,
    /// `[policy]`, compiled.
    pub policy: Policy,
    /// The text of the file.
    pub text: String,
}

impl ConfigFile {
    /// Reads the file; where there is none, the defaults hold.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |source| ConfigError::Read {
            path: path.to_owned(),
            source,
        };
        // A pipe would be waited for.
        let flags = nix::libc::O_NONBLOCK;
        let opened = File::options().read(true).custom_flags(flags).open(path);
        let file = match opened {
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Self::parse(String::new(), path);
            }
            opened => opened.map_err(unreadable)?,
        };
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            let (path, problem) = (path.to_owned(), "is no regular file");
            return Err(ConfigError::Unfit { path, problem });
        }
        if metadata.len() > MAX_CONFIG_BYTES {
            return Err(unreadable(io::ErrorKind::FileTooLarge.into()));
        }
        if let Some(problem) = problem_of(&metadata) {
            let path = path.to_owned();
            return Err(ConfigError::Unfit { path, problem });
        }
        if let Some(path) = loose_directory(path) {
            let problem = "may be written by everybody, and leads to config.toml; chmod o-w";
            return Err(ConfigError::Unfit { path, problem });
        }
        let mut text = String::new();
        let mut file = file.take(MAX_CONFIG_BYTES);
        file.read_to_string(&mut text).map_err(unreadable)?;
        Self::parse(text, path)
    }

    /// Reads a text. Errors name the file at `path`.
    pub fn parse(text: String, path: &Path) -> Result<Self, ConfigError> {
        let config = Config::parse(&text, path)?;
        let line = |at: usize| place(&text, at).0;
        let resolve = |directory: &str| {
            let real = fs::canonicalize(directory).ok()?;
            let real = real.into_os_string().into_string().ok()?;
            (real != directory).then_some(real)
        };
        let dirs = BaseDirs::new();
        let home = dirs.as_ref().and_then(|dirs| dirs.home_dir().to_str());
        let origin = RuleSource {
            line: &line,
            resolve: &resolve,
            home,
        };
        let policy = Policy::compile(&config.policy, &origin).map_err(|error| {
            let (line, column) = place(&text, error.at);
            ConfigError::Parse {
                path: path.to_owned(),
                line,
                column,
                message: shown(&error.problem),
            }
        })?;
        Ok(Self {
            config,
            policy,
            text,
        })
    }
}

/// Why a file is not taken: somebody else may write to it. Root may own it, as it does where a program
/// manages settings.
fn problem_of(metadata: &Metadata) -> Option<&'static str> {
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own && metadata.uid() != 0 {
        Some("belongs to another user")
    } else if metadata.mode() & WRITABLE_BY_ALL != 0 && metadata.is_file() {
        Some("may be written by everybody; look at what is in it, then chmod o-w")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let [pipe, endless] = ["pipe", "endless"].map(|name| directory.path().join(name));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink("/dev/zero", &endless).unwrap();
        for path in [&pipe, &endless, &directory.path().to_owned()] {
            let refused = ConfigFile::load(path).unwrap_err().to_string();
            assert!(refused.ends_with("is no regular file"), "{refused}");
        }
    }

    #[test]
    fn a_file_that_everybody_may_write_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config.toml");
        fs::write(&path, "[audit]\n").unwrap();
        for (mode, is_read) in [
            (0o600, true),
            (0o644, true),
            (0o664, true),
            (0o666, false),
            (0o602, false),
        ] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let loaded = ConfigFile::load(&path);
            assert_eq!(loaded.is_ok(), is_read, "{mode:o}: {loaded:?}");
        }
        let said = ConfigFile::load(&path).unwrap_err().to_string();
        assert!(
            said.contains("config.toml may be written by everybody"),
            "{said}"
        );
    }

    #[test]
    fn a_file_that_everybody_may_replace_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (directory, own) = (place.path().join("d"), place.path().join("own"));
        for directory in [&directory, &own] {
            fs::create_dir(directory).unwrap();
        }
        let path = directory.join("config.toml");
        fs::write(&path, "[audit]\n").unwrap();
        let link = own.join("config.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(ConfigFile::load(&link).is_ok(), "a link is no fault");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        for path in [&path, &link] {
            let said = ConfigFile::load(path).unwrap_err().to_string();
            assert!(said.contains("d may be written by everybody"), "{said}");
        }
    }

    #[test]
    fn no_file_means_the_defaults() {
        let absent = ConfigFile::load(Path::new("/nonexistent/config.toml"));
        let config = absent.map(|file| file.config);
        assert_eq!(config.ok(), Some(Config::default()));
    }
}
