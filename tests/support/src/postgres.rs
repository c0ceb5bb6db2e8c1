//! A `PostgreSQL` server for tests of `psql`.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::skip::skip;

/// The user that runs the server where the test is root: `nobody`. `PostgreSQL` refuses to run as
/// root.
const NOBODY: u32 = 65_534;

/// A server that listens on a socket in its own directory until it is dropped.
#[derive(Debug)]
pub struct Postgres {
    directory: TempDir,
    programs: PathBuf,
}

impl Postgres {
    /// Starts a server. Prints why the test is skipped where `PostgreSQL` is not installed.
    pub fn start(test: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skip(
                test,
                "PostgreSQL's initdb, pg_ctl and psql are not installed",
            );
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        if rustix::process::geteuid().is_root() {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let postgres = Self {
            directory,
            programs,
        };
        let data = postgres.directory.path().join("data");
        let data = data.to_str().unwrap();
        postgres.run("initdb", &["-D", data, "-U", "tester", "-A", "trust", "-N"]);
        let socket = format!("-c listen_addresses= -k {}", postgres.host());
        let log = format!("{}/log", postgres.host());
        postgres.run(
            "pg_ctl",
            &["-D", data, "-w", "-o", &socket, "-l", &log, "start"],
        );
        Some(postgres)
    }

    /// The value for `psql -h`.
    pub fn host(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    fn run(&self, program: &str, args: &[&str]) {
        let mut command = Command::new(self.programs.join(program));
        command.args(args).current_dir(self.directory.path());
        command.env("HOME", self.directory.path());
        // The server that pg_ctl leaves behind would hold a pipe open.
        let output = self.directory.path().join("output");
        let file = File::options()
            .append(true)
            .create(true)
            .open(&output)
            .unwrap();
        command.stdin(Stdio::null());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let status = command.status().unwrap();
        let output = fs::read_to_string(output).unwrap();
        assert!(status.success(), "{program}: {status}\n{output}");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.directory.path().join("data");
        self.run(
            "pg_ctl",
            &["-D", data.to_str().unwrap(), "-m", "immediate", "stop"],
        );
    }
}

/// The folder of the server's programs: on PATH, or Debian's.
fn programs() -> Option<PathBuf> {
    let on_path = std::env::split_paths(&std::env::var_os("PATH")?).collect::<Vec<_>>();
    let debians = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debians = debians.flatten().map(|version| version.path().join("bin"));
    let has = |directory: &PathBuf, program: &str| directory.join(program).is_file();
    on_path.iter().find(|directory| has(directory, "psql"))?;
    on_path
        .iter()
        .cloned()
        .chain(debians)
        .find(|directory| has(directory, "initdb") && has(directory, "pg_ctl"))
}
