//! The file of the agents' processes, in the state directory, for the next server.
//!
//! The file is for a server or a daemon that is killed, not for a machine that stops: processes do
//! not outlive that, and nothing is synced.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::agent_table::ServedProcess;

/// The file in the state directory.
const NAME: &str = "agents.json";
/// The longest file that is read back.
const MAX_BYTES: u64 = 16 << 20;

/// The file.
#[derive(Debug)]
pub(super) struct AgentFile {
    file: PathBuf,
    /// The boot at which the processes run (`proc_sys_kernel(5)`): pids and starts repeat at the next.
    boot: String,
}

#[derive(Serialize)]
struct Written<'a> {
    boot: &'a str,
    agents: Vec<&'a ServedProcess>,
}

#[derive(Deserialize)]
struct Kept {
    boot: String,
    agents: Vec<ServedProcess>,
}

impl AgentFile {
    pub(super) fn new(state_dir: &Path) -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            file: state_dir.join(NAME),
            boot: boot.trim().to_owned(),
        }
    }

    /// The agents of this boot; none where there is no file.
    pub(super) fn read(&self) -> Vec<ServedProcess> {
        match self.kept() {
            Ok(kept) if kept.boot == self.boot => kept.agents,
            Ok(_) => Vec::new(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::error!(%error, "the agents that an earlier server knew cannot be read");
                Vec::new()
            }
        }
    }

    fn kept(&self) -> io::Result<Kept> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.file, flags, Mode::empty())?;
        let mut text = Vec::new();
        File::from(opened).take(MAX_BYTES).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Writes the file anew, whole or not at all.
    pub(super) fn write<'a>(&self, agents: impl Iterator<Item = &'a ServedProcess>) {
        let written = Written {
            boot: &self.boot,
            agents: agents.collect(),
        };
        let replaced = serde_json::to_vec(&written).map_err(io::Error::from);
        if let Err(error) = replaced.and_then(|text| self.replace(&text)) {
            tracing::error!(%error, "the agents are not kept for the next server");
        }
    }

    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let next = self.file.with_extension("next");
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
        options.open(&next)?.write_all(text)?;
        fs::rename(next, &self.file)
    }
}
