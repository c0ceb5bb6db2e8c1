//! A terminal of a person's: a PTY whose slave a program gets as its controlling tty, and whose
//! master the test holds.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use crate::support::{DEADLINE, Deadline, Process, wait_readable};

/// The PTY and what was seen on it.
pub(crate) struct Pty {
    master: File,
    /// Kept open, so that the end of one program is not the end of the PTY.
    slave: File,
    seen: Vec<u8>,
}

impl Pty {
    /// A fresh one of this size.
    pub(crate) fn open(cols: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master: OwnedFd = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap())
            .open(Path::new(std::ffi::OsStr::from_bytes(name.as_bytes())))
            .unwrap();
        let pty = Self {
            master: master.into(),
            slave,
            seen: Vec::new(),
        };
        pty.resize(cols, rows);
        pty
    }

    /// Sets the size; the program in the foreground gets SIGWINCH.
    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.master, size).unwrap();
    }

    /// Runs a program in a session of its own with this as its controlling tty. `setsid(1)` runs
    /// it in its own place, so that the child's pid is the program's.
    pub(crate) fn spawn(&self, program: &Command) -> Child {
        let mut setsid = Command::new("setsid");
        setsid.arg("--ctty").arg(program.get_program());
        setsid.args(program.get_args()).env_clear();
        for (name, value) in program.get_envs() {
            if let Some(value) = value {
                setsid.env(name, value);
            }
        }
        setsid.env("TERM", "xterm-256color");
        if let Some(directory) = program.get_current_dir() {
            setsid.current_dir(directory);
        }
        let slave = || Stdio::from(self.slave.try_clone().unwrap());
        (setsid.stdin(slave()).stdout(slave()).stderr(slave()))
            .spawn()
            .unwrap()
    }

    /// Types.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).unwrap();
    }

    /// Reads until this text was seen after what earlier calls were shown; all of it.
    #[track_caller]
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        let deadline = Deadline::after(DEADLINE);
        loop {
            let seen = String::from_utf8_lossy(&self.seen).into_owned();
            if let Some(at) = seen.find(text) {
                let shown = seen[..at + text.len()].to_owned();
                self.seen = seen.as_bytes()[at + text.len()..].to_vec();
                return shown;
            }
            assert!(
                wait_readable(&self.master, deadline),
                "never showed {text:?}: {seen:?}"
            );
            self.read_some();
        }
    }

    /// What is there to be read and was shown to no call yet.
    pub(crate) fn read_now(&mut self) -> String {
        while wait_readable(&self.master, Deadline::after(std::time::Duration::ZERO)) {
            self.read_some();
        }
        String::from_utf8_lossy(&std::mem::take(&mut self.seen)).into_owned()
    }

    fn read_some(&mut self) {
        let mut chunk = [0; 8192];
        let count = self.master.read(&mut chunk).unwrap();
        self.seen.extend_from_slice(&chunk[..count]);
    }

    /// Waits for a program's end, reading what it writes meanwhile so that it never blocks on it.
    #[track_caller]
    pub(crate) fn wait(&mut self, child: &mut Child) -> ExitStatus {
        let process = Process::must(child.id().into());
        let deadline = Deadline::after(DEADLINE);
        while !process.ends_by(Deadline::after(std::time::Duration::from_millis(5))) {
            assert!(!deadline.passed(), "it never ended: {:?}", self.read_now());
            while wait_readable(&self.master, Deadline::after(std::time::Duration::ZERO)) {
                self.read_some();
            }
        }
        child.wait().unwrap()
    }

    /// The tty's modes, to be compared.
    pub(crate) fn modes(&self) -> String {
        format!("{:?}", tcgetattr(&self.slave).unwrap())
    }
}
