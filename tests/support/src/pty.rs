//! A person's terminal: a PTY. A program gets the slave as its controlling tty, and the test holds
//! the master.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use crate::process::Process;
use crate::wait::{DEADLINE, Deadline, wait_readable};

/// A PTY and what programs have printed on it.
#[derive(Debug)]
pub struct Pty {
    master: File,
    /// The open slave keeps the PTY alive between two programs.
    slave: File,
    /// Output that no call has returned yet.
    seen: Vec<u8>,
}

impl Pty {
    /// Opens a PTY of this size.
    pub fn open(cols: u16, rows: u16) -> Self {
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

    /// Sets the size. The program in the foreground gets SIGWINCH.
    pub fn resize(&self, cols: u16, rows: u16) {
        let size = Winsize {
            ws_row: rows,
            ws_col: cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&self.master, size).unwrap();
    }

    /// Runs a program in a session of its own with this PTY as its controlling tty. `setsid(1)`
    /// executes the program in place of itself, so the child's pid is the program's.
    pub fn spawn(&self, program: &Command) -> Child {
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

    /// Types these bytes.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.master.write_all(bytes.as_ref()).unwrap();
    }

    /// Reads up to and with this text: all output that no earlier call has returned.
    #[track_caller]
    pub fn read_until(&mut self, text: &str) -> String {
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

    /// The output so far that no earlier call has returned.
    pub fn read_now(&mut self) -> String {
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

    /// Waits for the end of a program. It reads meanwhile, so that the program never blocks on output.
    #[track_caller]
    pub fn wait(&mut self, child: &mut Child) -> ExitStatus {
        let process = Process::expect(child.id().into());
        let deadline = Deadline::after(DEADLINE);
        while !process.ends_by(Deadline::after(std::time::Duration::from_millis(5))) {
            assert!(!deadline.passed(), "it never ended: {:?}", self.read_now());
            while wait_readable(&self.master, Deadline::after(std::time::Duration::ZERO)) {
                self.read_some();
            }
        }
        child.wait().unwrap()
    }

    /// The modes of the tty, as text to compare.
    pub fn modes(&self) -> String {
        format!("{:?}", tcgetattr(&self.slave).unwrap())
    }
}
