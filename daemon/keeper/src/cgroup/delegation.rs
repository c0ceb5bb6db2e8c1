//! The cgroup of the daemon's own unit, delegated by systemd (`Delegate=` in
//! systemd.resource-control(5)).

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, getxattr, open};
use termd_proto::TerminalId;

use super::{MOUNT_POINT, directory, path_in};

/// The cgroup of keeper and server below the unit's. A cgroup that hands controllers on may have no
/// process itself.
const OWN_CGROUP: &str = "daemon";
/// How the system's manager marks a delegated cgroup. Only root reads the first.
const MARKS: [&str; 2] = ["trusted.delegate", "user.delegate"];
/// How long systemd has to answer; it takes some milliseconds.
const MAX_ANSWER: Timespec = Timespec {
    tv_sec: 2,
    tv_nsec: 0,
};

/// The delegated cgroup of the daemon's unit. The keeper is in a leaf of it, beside those of the
/// terminals.
#[derive(Debug)]
pub(crate) struct Delegation {
    directory: PathBuf,
}

impl Delegation {
    /// Takes over the cgroup of the service that this process runs as, where systemd has delegated it.
    /// Ends and removes what an earlier keeper has left in it. This process must have no children.
    pub(crate) fn take() -> Option<Self> {
        let listed = fs::read_to_string("/proc/self/cgroup").ok()?;
        let unit = path_in(&listed).filter(|path| path.ends_with(".service"))?;
        let directory = PathBuf::from(format!("{MOUNT_POINT}{unit}"));
        if !has_this_process_alone(&directory) || !is_own(&directory) {
            return None;
        }
        if !is_marked(&directory) && !is_delegated_by_systemd(unit) {
            return None;
        }
        Self::take_directory(directory)
    }

    fn take_directory(directory: PathBuf) -> Option<Self> {
        let own = directory.join(OWN_CGROUP);
        // It may be there.
        let _ = fs::create_dir(&own);
        if directory::write(&own, "cgroup.procs", "0").is_err() {
            let _ = fs::remove_dir(&own);
            return None;
        }
        let this = Self { directory };
        this.remove_left_over();
        Some(this)
    }

    fn remove_left_over(&self) {
        let entries = fs::read_dir(&self.directory).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name
                .to_str()
                .is_some_and(|name| name.parse::<TerminalId>().is_ok())
            {
                directory::kill(&entry.path());
                directory::remove(&entry.path());
            }
        }
    }

    /// Makes a terminal's cgroup, and opens it for clone(2).
    pub(crate) fn create(&self, id: &TerminalId) -> rustix::io::Result<(PathBuf, OwnedFd)> {
        let path = self.directory.join(id.as_str());
        rustix::fs::mkdir(
            &path,
            Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH,
        )?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match open(&path, flags, Mode::empty()) {
            Ok(fd) => Ok((path, fd)),
            Err(errno) => {
                directory::remove(&path);
                Err(errno)
            }
        }
    }
}

fn is_marked(directory: &Path) -> bool {
    let is_set = |name: &&str| {
        let mut value = [0; 8];
        getxattr(directory, *name, &mut value).is_ok_and(|length| value.get(..length) == Some(b"1"))
    };
    MARKS.iter().any(is_set)
}

/// Asks systemd. A user's manager sets no marks.
fn is_delegated_by_systemd(unit: &str) -> bool {
    let mut systemctl = Command::new("systemctl");
    if unit.contains("/user@") {
        systemctl.arg("--user");
    }
    let name = unit.rsplit('/').next().unwrap_or(unit);
    systemctl.args(["show", "--property=Delegate", "--value", "--", name]);
    systemctl.stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = systemctl.stdout(Stdio::piped()).spawn() else {
        return false;
    };
    let answer = child.stdout.take().and_then(read_answer);
    // It may hang.
    let _ = child.kill();
    let _ = child.wait();
    answer.is_some_and(|answer| answer.trim_ascii() == b"yes")
}

/// What is there at once when anything is. systemctl writes its one line at its end.
fn read_answer(mut stdout: ChildStdout) -> Option<Vec<u8>> {
    let mut outputs = [PollFd::new(&stdout, PollFlags::IN)];
    poll(&mut outputs, Some(&MAX_ANSWER)).ok()?;
    if outputs[0].revents().is_empty() {
        return None;
    }
    let mut answer = vec![0; 64];
    let length = stdout.read(&mut answer).ok()?;
    answer.truncate(length);
    Some(answer)
}

/// What systemd delegates, it gives to the unit's user.
fn is_own(directory: &Path) -> bool {
    let uid = rustix::process::geteuid().as_raw();
    fs::metadata(directory).is_ok_and(|directory| directory.uid() == uid)
}

/// Another process would keep the cgroup from handing controllers on, and is not the daemon's.
fn has_this_process_alone(directory: &Path) -> bool {
    let listed = fs::read_to_string(directory.join("cgroup.procs"));
    listed.is_ok_and(|listed| listed.trim() == std::process::id().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_systemd_marks_or_names_is_delegated() {
        let directory = tempfile::tempdir().unwrap();
        assert!(is_own(directory.path()));
        assert!(!is_marked(directory.path()));
        assert!(!is_delegated_by_systemd(
            "/user.slice/user@1.service/no-such-unit.service"
        ));
    }

    #[test]
    fn a_cgroup_with_another_process_is_not_the_daemons() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!has_this_process_alone(directory.path()));
        let procs = directory.path().join("cgroup.procs");
        fs::write(&procs, format!("{}\n", std::process::id())).unwrap();
        assert!(has_this_process_alone(directory.path()));
        fs::write(&procs, format!("{}\n1\n", std::process::id())).unwrap();
        assert!(!has_this_process_alone(directory.path()));
    }
}
