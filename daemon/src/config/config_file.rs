//! `config.toml`, read whole and compiled.

use std::fs;
use std::io;
use std::path::Path;

use super::error::{ConfigError, place, shown};
use super::settings::Config;
use termd_policy::{Policy, RuleSource};

/// The longest file, in bytes. The file is read whole.
pub(super) const MAX_CONFIG_BYTES: u64 = 4 << 20;

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
        match fs::metadata(path) {
            Ok(metadata) if metadata.len() > MAX_CONFIG_BYTES => {
                return Err(unreadable(io::ErrorKind::FileTooLarge.into()));
            }
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Self::parse(String::new(), path);
            }
            Ok(_) | Err(_) => {}
        }
        let text = fs::read_to_string(path).map_err(unreadable)?;
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
        let origin = RuleSource {
            line: &line,
            resolve: &resolve,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_means_the_defaults() {
        let absent = ConfigFile::load(Path::new("/nonexistent/config.toml"));
        let config = absent.map(|file| file.config);
        assert_eq!(config.ok(), Some(Config::default()));
    }
}
