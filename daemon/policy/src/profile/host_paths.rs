//! Where things are on the host.

use std::path::{Component, Path, PathBuf};

use super::moved_settings::MovedSettings;

/// Where things are on the host, links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPaths {
    /// The user's home.
    pub home: PathBuf,
    /// The directory that the command starts in, or the root of the repository around it.
    pub workspace: PathBuf,
    /// Whether the workspace is a repository of git.
    pub is_repository: bool,
    /// The directories for temporary files that exist.
    pub temporary: Vec<PathBuf>,
    /// The user's runtime directory.
    pub runtime_dir: Option<PathBuf>,
    /// The socket of the ssh agent. The agent signs, and gives no key away.
    pub ssh_agent: Option<PathBuf>,
    /// The daemon's configuration directory.
    pub daemon_config: PathBuf,
    /// Where variables have moved settings and secrets.
    pub moved: MovedSettings,
}

impl HostPaths {
    /// A path of a configuration as an absolute one. It may be below the home (`~`) or below the
    /// workspace.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(below) => self.home.join(below),
            Err(_) => self.workspace.join(path),
        }
    }
}

/// Whether a path of a configuration can be made absolute. It may hold no `..`, which behind a link leads
/// anywhere.
pub(super) fn is_placeable(path: &Path) -> bool {
    let climbs = |part| matches!(part, Component::ParentDir);
    let foreign_home = path
        .to_str()
        .is_some_and(|text| text.starts_with('~') && text != "~" && !text.starts_with("~/"));
    !path.as_os_str().is_empty()
        && !path.as_os_str().as_encoded_bytes().contains(&0)
        && !path.components().any(climbs)
        && !foreign_home
}
