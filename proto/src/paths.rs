//! Where the socket is: one rule for the daemon and all of its clients. Pure: the caller looks at
//! the environment and the file system.

use std::path::{Path, PathBuf};

/// Names the socket in place of every rule here; for tests and for a second daemon.
pub const SOCKET_VARIABLE: &str = "TERMD_SOCKET";

/// What the rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct SocketPlaces<'a> {
    /// The value of [`SOCKET_VARIABLE`], if it is set and not empty.
    pub explicit: Option<&'a Path>,
    /// `$XDG_RUNTIME_DIR`, if it is set and absolute.
    pub runtime_dir: Option<&'a Path>,
    /// `/run/user/UID`, if it is there: a cron job has no `$XDG_RUNTIME_DIR` and means this one.
    pub user_runtime_dir: Option<&'a Path>,
    /// `$XDG_STATE_HOME`, or `~/.local/state`: on machines without a login manager.
    pub state_home: &'a Path,
}

impl SocketPlaces<'_> {
    /// The socket's path. Its directory belongs to termd alone, and is never `/tmp`.
    pub fn socket_path(&self) -> PathBuf {
        match (self.explicit, self.runtime_dir.or(self.user_runtime_dir)) {
            (Some(path), _) => path.to_owned(),
            (None, Some(runtime)) => runtime.join("termd/termd.sock"),
            (None, None) => self.state_home.join("termd/run/termd.sock"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_that_is_there_wins() {
        let all = SocketPlaces {
            explicit: Some(Path::new("/x/s")),
            runtime_dir: Some(Path::new("/run/r")),
            user_runtime_dir: Some(Path::new("/run/user/7")),
            state_home: Path::new("/h/.local/state"),
        };
        assert_eq!(all.socket_path(), Path::new("/x/s"));
        let no_explicit = SocketPlaces {
            explicit: None,
            ..all
        };
        assert_eq!(
            no_explicit.socket_path(),
            Path::new("/run/r/termd/termd.sock")
        );
        let cron = SocketPlaces {
            runtime_dir: None,
            ..no_explicit
        };
        assert_eq!(
            cron.socket_path(),
            Path::new("/run/user/7/termd/termd.sock")
        );
        let bare = SocketPlaces {
            user_runtime_dir: None,
            ..cron
        };
        assert_eq!(
            bare.socket_path(),
            Path::new("/h/.local/state/termd/run/termd.sock")
        );
    }
}
