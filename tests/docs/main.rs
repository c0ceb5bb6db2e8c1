//! The commands of the README and the docs run as written, and the page of the command line has
//! each verb and option that termctl has.
//!
//! A block fenced as `sh` is run. A block that builds something (`cargo`), and what is fenced
//! otherwise, is only shown.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).expect(path)
}

/// A user who has just installed termd: an empty home, and both binaries on `PATH`.
struct NewUser {
    root: TempDir,
}

impl NewUser {
    fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("td")
            .tempdir_in("/tmp")
            .unwrap();
        for folder in ["home", "run", "work"] {
            let mut builder = DirBuilder::new();
            builder
                .mode(0o700)
                .create(root.path().join(folder))
                .unwrap();
        }
        Self { root }
    }

    fn command(&self, program: &str) -> Command {
        let binaries = Path::new(TERMCTL).parent().unwrap();
        let is_built = binaries.join("termd").exists();
        assert!(
            is_built,
            "termd is not beside termctl: cargo build -p termd"
        );
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", binaries.display()),
            )
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .current_dir(self.path("work"))
            .stdin(Stdio::null());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.command(program)
            .args(arguments)
            .output()
            .expect(program)
    }
}

/// Stops the daemon, if one was started.
impl Drop for NewUser {
    fn drop(&mut self) {
        let status = self.run(TERMCTL, &["--no-start", "status", "--json"]);
        let Ok(status) = serde_json::from_slice::<serde_json::Value>(&status.stdout) else {
            return;
        };
        let pid = status["daemon"]["keeper_pid"].as_i64().unwrap();
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        let keeper = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let deadline = Timespec::try_from(Duration::from_secs(20)).unwrap();
        let ended = poll(&mut [PollFd::new(&keeper, PollFlags::IN)], Some(&deadline)).unwrap();
        if !std::thread::panicking() {
            assert_eq!(ended, 1, "the daemon did not end");
        }
    }
}

/// The blocks of a page that are run.
fn runnable(page: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    for part in page.split("\n```sh\n").skip(1) {
        let block = part.split("\n```").next().unwrap();
        if !block.contains("cargo ") {
            blocks.push(block);
        }
    }
    blocks
}

/// Runs the blocks of a page in order, in one shell that ends at the first failure.
fn run_page(path: &str, prepare: impl FnOnce(&NewUser)) {
    let page = read(path);
    let blocks = runnable(&page);
    assert!(!blocks.is_empty(), "{path} has no block that is run");
    let user = NewUser::new();
    prepare(&user);
    let started = Instant::now();
    let script = blocks.join("\n");
    let output = user.run("/bin/bash", &["-euxo", "pipefail", "-c", &script]);
    assert!(
        output.status.success(),
        "{path}: {} after {:?}\n{}\n{}",
        output.status,
        started.elapsed(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

fn is_installed(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let version = Command::new(program).arg("--version").output();
        let is_there = version.is_ok();
        if !is_there {
            eprintln!("SKIP: {program} is not installed");
        }
        is_there
    })
}

/// Two clients that `termctl setup` finds.
fn install_clients(user: &NewUser) {
    fs::create_dir_all(user.path("home/.cursor")).unwrap();
    fs::create_dir_all(user.path("home/.config/zed")).unwrap();
}

/// Something for the database to hold.
fn run_something(user: &NewUser) {
    let run = user.run(TERMCTL, &["run", "--", "true"]);
    assert!(run.status.success(), "{run:?}");
}

#[test]
fn the_readme_runs_as_written() {
    run_page("README.md", install_clients);
}

#[test]
fn the_pages_of_the_command_line_run_as_written() {
    run_page("docs/guide.md", |_| {});
    run_page("docs/termctl.md", |_| {});
    run_page("docs/setup.md", install_clients);
}

#[test]
fn the_chain_can_be_checked_without_termd() {
    if is_installed(&["python3", "sqlite3", "sha256sum"]) {
        run_page("docs/audit.md", run_something);
        run_page("docs/database.md", run_something);
    }
}

/// The blocks of a page that are a part of `config.toml`.
fn configurations(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.split("\n```toml\n").skip(1);
    let blocks = blocks.map(|part| part.split("\n```").next().unwrap());
    // approved.toml begins with a comment, a table of expectations with its defaults.
    blocks.filter(|block| !block.starts_with('#') && !block.starts_with("[default]"))
}

#[test]
fn each_example_of_the_configuration_is_valid() {
    let user = NewUser::new();
    let file = user.path("work/config.toml");
    let mut checked = 0;
    for path in [
        "README.md",
        "docs/attention.md",
        "docs/database.md",
        "docs/policy.md",
        "docs/profiles.md",
    ] {
        for example in configurations(&read(path)) {
            checked += 1;
            // A rule may name a profile of another page.
            let mut text = example.to_owned();
            if text.contains("profile = \"build\"") {
                text.push_str("\n[policy.profiles.build]\ntimeout = \"1h\"\n");
            }
            fs::write(&file, text).unwrap();
            let arguments = [
                "policy",
                "check",
                "--config",
                file.to_str().unwrap(),
                "--",
                "true",
            ];
            let check = user.run(TERMCTL, &arguments);
            let error = String::from_utf8_lossy(&check.stderr);
            assert!(check.status.success(), "{path}: {error}\n{example}");
        }
    }
    assert!(checked >= 6, "{checked}");
}

/// The options that a verb's help defines.
fn options(help: &str) -> BTreeSet<String> {
    let definitions = help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-'));
    let mut options: BTreeSet<String> = definitions
        .filter_map(|line| long_options(line).next())
        .collect();
    for common in [
        "--help",
        "--version",
        "--json",
        "--no-start",
        "--utc",
        "--color",
    ] {
        options.remove(common);
    }
    options
}

/// The words of a text that begin with two dashes and a letter.
fn long_options(text: &str) -> impl Iterator<Item = String> {
    text.split("--").skip(1).filter_map(|rest| {
        let is_part = |letter: &char| letter.is_ascii_lowercase() || *letter == '-';
        let name: String = rest.chars().take_while(is_part).collect();
        (!name.is_empty()).then(|| format!("--{name}"))
    })
}

/// The words that stand first on the lines of a help's lists of verbs.
fn verbs(help: &str) -> Vec<&str> {
    let lists = help.split("\nOptions").next().unwrap_or_default();
    let lines = lists.lines().filter_map(|line| line.strip_prefix("  "));
    lines
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[test]
fn each_verb_and_option_is_on_its_page() {
    let user = NewUser::new();
    let help = |verb: &[&str]| {
        let output = user.run(TERMCTL, &[verb, &["--help"]].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let page = read("docs/termctl.md");
    let own_pages = [
        ("setup", read("docs/setup.md")),
        ("acp", read("docs/acp.md")),
    ];
    let all = help(&[]);
    assert!(verbs(&all).len() > 20, "{all}");
    for verb in verbs(&all) {
        let own_page = own_pages.iter().find(|(name, _)| *name == verb);
        let section = own_page.map_or_else(
            || {
                let is_its = |section: &&str| {
                    let heading = section.lines().next().unwrap_or_default();
                    heading.split(", ").any(|name| name == verb)
                };
                let mut sections = page.split("\n### ").skip(1);
                sections
                    .find(is_its)
                    .unwrap_or_else(|| panic!("no section for {verb}"))
            },
            |(_, page)| page,
        );
        let documented: BTreeSet<String> = long_options(section).collect();
        let mut defined = options(&help(&[verb]));
        for below in verbs(&help(&[verb])) {
            defined.extend(options(&help(&[verb, below])));
        }
        let missing: Vec<&String> = defined.difference(&documented).collect();
        assert!(missing.is_empty(), "{verb}: not on its page: {missing:?}");
    }
}
