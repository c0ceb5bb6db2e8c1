//! A small file system for the state directory of a test.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::home::Home;
use crate::process::is_root;
use crate::skip::skip;

/// A tmpfs at the state directory of a home, unmounted when it is dropped. It has to be dropped
/// after the daemon and before the home.
#[derive(Debug)]
pub struct SmallDisk {
    state: PathBuf,
}

impl SmallDisk {
    /// Mounts a tmpfs of this size, such as `3m`. Prints why the test is skipped where it cannot.
    pub fn mount(home: &Home, size: &str, test: &str) -> Option<Self> {
        if !is_root() {
            skip(test, "mounting a small disk needs root");
            return None;
        }
        let state = home.path("state");
        let options = format!("size={size},mode=0700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]);
        let output = match mount.arg(&state).output() {
            Ok(output) => output,
            Err(error) => {
                skip(test, error);
                return None;
            }
        };
        if !output.status.success() {
            skip(test, String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Some(Self { state })
    }

    /// Writes until the disk is full. Again, it takes what has become free.
    pub fn fill(&self) {
        let chunk = vec![1; 4096];
        let mut file = fs::File::options()
            .create(true)
            .append(true)
            .open(self.state.join("filler"))
            .unwrap();
        while std::io::Write::write_all(&mut file, &chunk).is_ok() {}
    }

    /// Leaves at most this many bytes free.
    pub fn leave(&self, bytes: u64) {
        let space = rustix::fs::statvfs(&self.state).unwrap();
        let free = space.f_bavail * space.f_frsize;
        let filler = vec![1; usize::try_from(free - bytes).unwrap()];
        fs::write(self.state.join("filler"), filler).unwrap();
    }

    /// Removes what [`fill`](Self::fill) or [`leave`](Self::leave) wrote.
    pub fn empty(&self) {
        fs::remove_file(self.state.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.state).status();
    }
}
