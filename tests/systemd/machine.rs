//! A machine for tests: a real systemd as PID 1 in private namespaces, on an overlay of the root
//! file system, with one lingering user who has a real `systemctl --user`.
//!
//! Nothing of the machine is left when it is dropped. Its processes end with its PID 1, its mounts
//! with their namespace and its files with a tmpfs; its cgroup is removed here. Where this computer
//! lacks something, [`Machine::boot`] says what.
//!
//! **Invariant:** the module knows nothing of termd. The caller installs what is in the user's
//! home.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// The lingering user, who does not exist on the real machine.
const USER: &str = "termd-tester";
/// A boot takes a third of a second, and more on a loaded machine.
const BOOT_DEADLINE: Duration = Duration::from_mins(1);
/// For one command inside, in seconds, as timeout(1) takes it.
const COMMAND_DEADLINE_SECONDS: &str = "60";
/// How long the kernel may need to release the cgroups after the end of their last process.
const CGROUP_DEADLINE: Duration = Duration::from_secs(10);
/// The pause between two looks at a condition without an event.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The prefix of a machine's cgroup, before the process id.
const CGROUP_PREFIX: &str = "termd-test.";

/// Why there is no machine.
#[derive(Debug)]
pub(crate) enum BootError {
    /// This computer lacks something, so the tests are skipped.
    Unable(String),
    /// The machine should have booted and did not.
    Failed(String),
}

/// A booted machine. Dropping it removes it.
pub(crate) struct Machine {
    /// `unshare`, which waits for PID 1. It ends after every process of the machine.
    supervisor: Child,
    /// The machine's PID 1, as seen from outside.
    pid1: Option<Pid>,
    cgroup: PathBuf,
    /// The user's id inside the machine.
    uid: String,
    state: TempDir,
}

impl Machine {
    /// Boots a machine. `install` fills the home of its user.
    pub(crate) fn boot(install: impl FnOnce(&Path) -> io::Result<()>) -> Result<Self, BootError> {
        let cgroup_root = cgroup_root_of_able_computer()?;
        remove_what_crashed_runs_left(&cgroup_root);
        let state = prepare_state(install)
            .map_err(|error| BootError::Failed(format!("preparing the machine: {error}")))?;
        let notify = UnixDatagram::bind(state.path().join("share/notify"))
            .map_err(|error| BootError::Failed(format!("binding the notify socket: {error}")))?;
        let cgroup = make_cgroup(&cgroup_root).map_err(|error| {
            BootError::Unable(format!("no cgroup in {}: {error}", cgroup_root.display()))
        })?;
        let supervisor = start_supervisor(state.path(), &cgroup);
        let supervisor = match supervisor {
            Ok(child) => child,
            Err(error) => {
                let _ = fs::remove_dir(&cgroup);
                return Err(BootError::Failed(format!("starting unshare: {error}")));
            }
        };
        let mut machine = Self {
            supervisor,
            pid1: None,
            cgroup,
            uid: String::new(),
            state,
        };
        machine.wait_until_booted(&notify)?;
        machine.uid = machine.user_id()?;
        machine.start_user_manager()?;
        Ok(machine)
    }

    /// Runs a program as the lingering user, with the environment of a login.
    pub(crate) fn as_user<S: AsRef<OsStr>>(&self, argv: &[S]) -> Output {
        let runtime = format!("XDG_RUNTIME_DIR=/run/user/{}", self.uid);
        let bus = format!(
            "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/{}/bus",
            self.uid
        );
        let home = format!("HOME=/home/{USER}");
        let path = format!("PATH=/home/{USER}/.cargo/bin:/usr/local/bin:/usr/bin:/bin");
        let names = [format!("USER={USER}"), format!("LOGNAME={USER}")];
        let mut command = self.inside();
        command
            .args([
                "setpriv",
                "--reuid",
                USER,
                "--regid",
                USER,
                "--init-groups",
                "--",
            ])
            .args(["env", "-i", "TERM=xterm", &runtime, &bus, &home, &path])
            .args(names)
            .args(argv);
        run(&mut command)
    }

    /// Runs a program inside as root.
    pub(crate) fn as_root<S: AsRef<OsStr>>(&self, argv: &[S]) -> Output {
        run(self.inside().args(argv))
    }

    /// The user's home, as seen inside the machine.
    pub(crate) fn home() -> PathBuf {
        Path::new("/home").join(USER)
    }

    fn inside(&self) -> Command {
        let pid1 = self.pid1.map_or(0, |pid| pid.as_raw_nonzero().get());
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=5", COMMAND_DEADLINE_SECONDS])
            .args(["nsenter", "--target", &pid1.to_string(), "--all"])
            .args(["env", "-i", "--chdir=/"])
            .arg("PATH=/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null());
        command
    }

    /// Waits until PID 1 sends READY=1 to its `NOTIFY_SOCKET`: everything is started.
    fn wait_until_booted(&mut self, notify: &UnixDatagram) -> Result<(), BootError> {
        let set_up = self.state.path().join("share/set-up");
        let failed = |what: String| BootError::Failed(what);
        notify
            .set_read_timeout(Some(LOOK_AGAIN))
            .map_err(|error| failed(format!("the notify socket: {error}")))?;
        let deadline = Instant::now() + BOOT_DEADLINE;
        let mut message = [0; 4096];
        while Instant::now() < deadline {
            if self.pid1.is_none() {
                self.pid1 = only_child(&self.supervisor);
                if self.pid1.is_some() {
                    // Its cgroup is the root of the machine's. The kernel delegates no controllers
                    // as long as a process is in it beside PID 1, which moves to a cgroup of its
                    // own. Tests that need controllers check for them.
                    let _ = take_back(&self.supervisor);
                }
            }
            if let Ok(length) = notify.recv(&mut message)
                && message[..length]
                    .split(|byte| *byte == b'\n')
                    .any(|line| line == b"READY=1")
            {
                return Ok(());
            }
            if let Ok(Some(status)) = self.supervisor.try_wait() {
                let log = self.log();
                // Before boot.sh is done, a failure means that this computer refuses something.
                return Err(if set_up.exists() {
                    failed(format!("systemd ended ({status}):\n{log}"))
                } else {
                    BootError::Unable(format!(
                        "namespaces, mounts or the user could not be made: {}",
                        log.trim()
                    ))
                });
            }
        }
        Err(failed(format!(
            "not booted after {BOOT_DEADLINE:?}:\n{}",
            self.log()
        )))
    }

    fn user_id(&self) -> Result<String, BootError> {
        let output = self.as_root(&["id", "-u", USER]);
        let uid = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && !uid.is_empty() {
            Ok(uid)
        } else {
            Err(BootError::Failed(format!(
                "no user {USER} inside: {output:?}"
            )))
        }
    }

    /// Lingering starts the user manager as well. Starting it again waits until it runs.
    fn start_user_manager(&self) -> Result<(), BootError> {
        let unit = format!("user@{}.service", self.uid);
        let output = self.as_root(&["systemctl", "start", &unit]);
        if output.status.success() {
            return Ok(());
        }
        let journal = self.as_root(&["journalctl", "--no-pager", "-n", "50"]);
        Err(BootError::Failed(format!(
            "{unit} does not start: {}\n{}",
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&journal.stdout),
        )))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.state.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The end of PID 1 ends its namespace. The kernel kills the remaining processes and only
        // then reports the end of PID 1.
        match self.pid1 {
            Some(pid) => drop(kill_process(pid, Signal::KILL)),
            None => drop(self.supervisor.kill()),
        }
        let _ = self.supervisor.wait();
        let deadline = Instant::now() + CGROUP_DEADLINE;
        while let Err(error) = remove_cgroup(&self.cgroup) {
            if Instant::now() > deadline {
                let cgroup = self.cgroup.display();
                // A panic in drop would hide the test's own.
                let _ = writeln!(io::stderr(), "{cgroup} could not be removed: {error}");
                return;
            }
            thread::park_timeout(LOOK_AGAIN);
        }
    }
}

/// The cgroup2 mount of a computer that has everything a machine needs; else the thing that it lacks.
fn cgroup_root_of_able_computer() -> Result<PathBuf, BootError> {
    let needs = |what: &str| Err(BootError::Unable(format!("needs {what}")));
    if !geteuid().is_root() {
        return needs("root");
    }
    for program in [
        "unshare",
        "nsenter",
        "setpriv",
        "timeout",
        "flock",
        "useradd",
        "getent",
        "systemctl",
        "systemd-analyze",
        "journalctl",
        "dbus-daemon",
        "perl",
    ] {
        let on_path = std::env::var_os("PATH").is_some_and(|path| {
            std::env::split_paths(&path)
                .chain(["/usr/sbin".into(), "/sbin".into()])
                .any(|directory| directory.join(program).is_file())
        });
        if !on_path {
            return needs(program);
        }
    }
    for (what, places) in [
        (
            "systemd",
            &["/usr/lib/systemd/systemd", "/lib/systemd/systemd"][..],
        ),
        (
            "dbus-user-session",
            &["/usr/lib/systemd/user/dbus.socket"][..],
        ),
    ] {
        if !places.iter().any(|place| Path::new(place).exists()) {
            return needs(what);
        }
    }
    let pam = fs::read_to_string("/etc/pam.d/systemd-user").unwrap_or_default()
        + &fs::read_to_string("/etc/pam.d/common-session").unwrap_or_default();
    if !pam.contains("pam_systemd.so") {
        return needs("libpam-systemd");
    }
    let filesystems = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !filesystems.lines().any(|line| line.ends_with("\toverlay")) {
        return needs("overlayfs");
    }
    cgroup2_mount().map_or_else(|| needs("a cgroup2 mount"), Ok)
}

fn cgroup2_mount() -> Option<PathBuf> {
    fs::read_to_string("/proc/self/mounts")
        .unwrap_or_default()
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&"cgroup2"))
        .map(|fields| PathBuf::from(fields[1]))
}

fn prepare_state(install: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<TempDir> {
    let state = tempfile::Builder::new().prefix("termd-test").tempdir()?;
    for directory in ["lay", "root", "share", "install"] {
        fs::create_dir(state.path().join(directory))?;
    }
    install(&state.path().join("install"))?;
    Ok(state)
}

fn make_cgroup(root: &Path) -> io::Result<PathBuf> {
    // Two machines of one test process need different cgroups.
    let name = tempfile::Builder::new()
        .prefix(&format!("{CGROUP_PREFIX}{}.", std::process::id()))
        .tempdir_in(root)?;
    Ok(name.keep())
}

fn start_supervisor(state: &Path, cgroup: &Path) -> io::Result<Child> {
    let log = fs::File::create(state.join("log"))?;
    let boot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/systemd/boot.sh");
    Command::new("sh")
        .args(["-c", r#"echo $$ >"$0/cgroup.procs" && exec "$@""#])
        .arg(cgroup)
        // The machine ends with the test.
        .args(["setpriv", "--pdeathsig", "KILL", "--"])
        .args([
            "unshare",
            "--mount",
            "--propagation=private",
            "--uts",
            "--ipc",
            "--net",
        ])
        .args(["--cgroup", "--pid", "--fork", "--kill-child=KILL", "--"])
        .arg("sh")
        .arg(boot)
        .arg(state)
        .arg(USER)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

fn only_child(parent: &Child) -> Option<Pid> {
    let id = parent.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).ok()?;
    // Before `unshare` is executed there are no children.
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

/// Moves a process into the cgroup of this one. Its cgroup namespace stays the same.
fn take_back(process: &Child) -> io::Result<()> {
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let root = cgroup2_mount().ok_or(io::ErrorKind::NotFound)?;
    let procs = root.join(own.unwrap_or_default()).join("cgroup.procs");
    fs::write(procs, process.id().to_string())
}

fn run(command: &mut Command) -> Output {
    command.output().expect("timeout(1) starts")
}

fn remove_cgroup(cgroup: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cgroup)?.flatten() {
        if entry.file_type()?.is_dir() {
            remove_cgroup(&entry.path())?;
        }
    }
    fs::remove_dir(cgroup)
}

/// Removes the cgroups of tests that were killed by SIGKILL. Their process ids are in the names.
fn remove_what_crashed_runs_left(cgroup_root: &Path) {
    for entry in fs::read_dir(cgroup_root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(CGROUP_PREFIX))
            .and_then(|rest| rest.split('.').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = remove_cgroup(&entry.path());
        }
    }
}
