//! A machine with termd installed, and helpers for its tests.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::machine::{BootError, Machine};

/// How long to wait for what takes a second or two.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// If this variable is 1, the tests fail where there is no machine.
const REQUIRE: &str = "TERMD_REQUIRE_SYSTEMD";

/// A machine with termd installed. There is one machine at a time.
pub(crate) struct Installed {
    pub(crate) machine: Machine,
    _turn: MutexGuard<'static, ()>,
}

/// Boots a machine with termd installed. `None` where this computer cannot; the reason is printed.
pub(crate) fn install() -> Option<Installed> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    match Machine::boot(put_termd_into) {
        Ok(machine) => Some(Installed {
            machine,
            _turn: turn,
        }),
        Err(BootError::Unable(reason)) => {
            assert!(
                std::env::var_os(REQUIRE).is_none(),
                "no machine to test on: {reason}"
            );
            // Written past the capture of the test harness, so that a skipped test is noticed.
            let _ = writeln!(io::stderr(), "SKIP systemd: {reason}");
            None
        }
        Err(BootError::Failed(why)) => panic!("{why}"),
    }
}

/// Installs termd into a home, like `cargo install` and two `cp`.
fn put_termd_into(home: &Path) -> io::Result<()> {
    let bin = home.join(".cargo/bin");
    fs::create_dir_all(&bin)?;
    fs::copy(env!("CARGO_BIN_EXE_termd"), bin.join("termd"))?;
    fs::copy(termctl(), bin.join("termctl"))?;
    let units = home.join(".config/systemd/user");
    fs::create_dir_all(&units)?;
    for unit in ["termd.socket", "termd.service", "termd-notifier.service"] {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../systemd")
            .join(unit);
        fs::copy(shipped, units.join(unit))?;
    }
    Ok(())
}

/// The termctl beside termd, built if only this crate's tests were requested.
fn termctl() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = Path::new(env!("CARGO_BIN_EXE_termd")).with_file_name("termctl");
        if !path.exists() {
            let mut build = Command::new(env!("CARGO"));
            build.args([
                "build",
                "--quiet",
                "--package",
                "termctl",
                "--bin",
                "termctl",
            ]);
            if path
                .parent()
                .is_some_and(|directory| directory.ends_with("release"))
            {
                build.arg("--release");
            }
            let built = build.status().expect("cargo starts");
            assert!(built.success(), "termctl could not be built");
        }
        path
    })
}

impl Installed {
    /// Runs a program as the user, which must succeed: its output.
    pub(crate) fn ok(&self, argv: &[&str]) -> String {
        let output = self.machine.as_user(argv);
        assert!(
            output.status.success(),
            "{argv:?}: {}\n{}",
            text(&output),
            self.journal()
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn enable_socket(&self) {
        self.ok(&["systemctl", "--user", "enable", "--now", "termd.socket"]);
    }

    /// Runs termctl, which must not start a termd beside systemd's.
    pub(crate) fn termctl(&self, arguments: &[&str]) -> String {
        self.ok(&[&["termctl", "--no-start"], arguments].concat())
    }

    pub(crate) fn termctl_json(&self, arguments: &[&str]) -> Value {
        let output = self.termctl(&[arguments, &["--json"]].concat());
        serde_json::from_str(&output)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output}"))
    }

    pub(crate) fn property(&self, unit: &str, name: &str) -> String {
        let output = self.ok(&["systemctl", "--user", "show", "--value", "-p", name, unit]);
        output.trim().to_owned()
    }

    pub(crate) fn server_pid(&self) -> i64 {
        number(&self.termctl_json(&["status"]), "server_pid")
    }

    pub(crate) fn pid_of(&self, terminal: &str) -> i64 {
        number(&self.termctl_json(&["show", terminal]), "pid")
    }

    /// Starts a terminal that prints `got ` and each line of input, and waits until it is ready:
    /// its id.
    pub(crate) fn create_repeater(&self) -> String {
        let script = r#"echo listening; while read -r line; do echo "got $line"; done"#;
        let id = self
            .termctl(&["create", "--", "sh", "-c", script])
            .trim()
            .to_owned();
        self.read_until(&id, "listening");
        id
    }

    /// Waits for this text in the output of a terminal.
    pub(crate) fn read_until(&self, terminal: &str, wanted: &str) {
        wait_until(&format!("`{wanted}` in {terminal}"), || {
            self.termctl(&["read", terminal]).contains(wanted)
        });
    }

    /// Checks that the terminal takes a line and answers it.
    pub(crate) fn assert_answers(&self, terminal: &str, line: &str) {
        self.termctl(&["send", terminal, "--enter", line]);
        self.read_until(terminal, &format!("got {line}"));
    }

    pub(crate) fn is_alive(&self, pid: i64) -> bool {
        self.machine
            .as_root(&["test", "-e", &format!("/proc/{pid}/exe")])
            .status
            .success()
    }

    /// The entries about termd's unit in the user's journal, whoever wrote them.
    pub(crate) fn journal(&self) -> String {
        let output = self
            .machine
            .as_user(&["journalctl", "--user", "-u", "termd", "--no-pager"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Asks until the condition holds. Each question starts a process, so the loop does not spin.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
    }
}

/// The number under this key, wherever it is in the value.
pub(crate) fn number(value: &Value, key: &str) -> i64 {
    fn find(value: &Value, key: &str) -> Option<i64> {
        match value {
            Value::Object(members) => members
                .get(key)
                .and_then(Value::as_i64)
                .or_else(|| members.values().find_map(|member| find(member, key))),
            Value::Array(items) => items.iter().find_map(|item| find(item, key)),
            _ => None,
        }
    }
    find(value, key).unwrap_or_else(|| panic!("no number {key} in {value}"))
}

pub(crate) fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
