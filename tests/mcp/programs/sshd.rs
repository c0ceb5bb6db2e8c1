//! A local sshd of this user, on a free port and with keys of its own.

use std::fs::{self, File, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use termd_test_support::{is_installed, is_root, skip, wait_until};

/// Where distributions put sshd, which needs to be named by its whole path.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"];

pub(crate) struct Sshd {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Sshd {
    /// Starts one. Prints why the test is skipped where that is not possible.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let folders = FOLDERS.map(|folder| PathBuf::from(folder).join("sshd"));
        let Some(program) = folders.into_iter().find(|path| path.is_file()) else {
            skip(test, "sshd is not installed");
            return None;
        };
        if !is_installed("ssh", test) || !is_installed("ssh-keygen", test) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(keygen.arg(path(key)).status().unwrap().success());
        }
        fs::copy(path("user.pub"), path("authorized_keys")).unwrap();
        fs::set_permissions(path("authorized_keys"), Permissions::from_mode(0o600)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = port.local_addr().unwrap().port();
        let shown = folder.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nPidFile none\n\
             AuthorizedKeysFile {shown}/authorized_keys\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
        );
        fs::write(path("config"), config).unwrap();
        if is_root() && !Path::new("/run/sshd").exists() {
            // sshd drops its privileges there. Its package's service creates the folder.
            fs::create_dir("/run/sshd").unwrap();
        }
        let log = File::create(path("log")).unwrap();
        let mut sshd = Command::new(program);
        sshd.args(["-D", "-e", "-f"]).arg(path("config"));
        let child = sshd.stdin(Stdio::null()).stderr(log).spawn().unwrap();
        let mut sshd = Self {
            folder,
            port,
            child,
        };
        let mut ended = None;
        wait_until("sshd listens or ends", || {
            ended = sshd.child.try_wait().unwrap();
            ended.is_some() || TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        if let Some(status) = ended {
            let log = fs::read_to_string(sshd.folder.path().join("log")).unwrap();
            skip(
                test,
                format_args!("sshd does not run here: {status}: {log}"),
            );
            return None;
        }
        Some(sshd)
    }

    /// The command line that logs in.
    pub(crate) fn login(&self) -> String {
        let folder = self.folder.path().display();
        let user = rustix::process::geteuid().as_raw();
        let output = Command::new("id").args(["-un", &user.to_string()]).output();
        let user = String::from_utf8(output.unwrap().stdout).unwrap();
        format!(
            "ssh -tt -F none -i {folder}/user -p {} -o StrictHostKeyChecking=no \
             -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR {}@127.0.0.1",
            self.port,
            user.trim(),
        )
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
