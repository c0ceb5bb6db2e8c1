//! The works: what an agent does, and when it has what it needs.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;
use tempfile::TempDir;

use crate::agent::{Agent, Tools};
use crate::place::pause;

/// Calls after which an agent gives up reading on.
const MAX_PAGES: usize = 10;
/// The time between two looks at `top`, which draws its screen every second.
const LOOK: Duration = Duration::from_millis(1_100);
/// How often it is looked at.
const LOOKS: usize = 5;
/// Files of the directory that is listed.
const FILES: usize = 300;
/// Commits of the repository whose log is read.
const COMMITS: usize = 100;
/// The lines of the build that are errors.
const ERRORS: [u32; 5] = [500, 900, 1_300, 1_700, 2_100];
/// Lines of a page of smart-terminal-mcp's history.
const HISTORY_LINES: usize = 1_000;
/// Lines of the build.
const BUILD_LINES: u32 = 2_990;

/// One work.
pub(crate) struct Work {
    pub(crate) what: &'static str,
    /// The most tokens that a model pays for it with our tools.
    pub(crate) limit: f64,
    /// Does it. Whether the model has seen what it needs.
    pub(crate) run: fn(&mut Agent<'_>) -> anyhow::Result<bool>,
}

pub(crate) const WORKS: [Work; 6] = [
    Work {
        what: "`echo hi`",
        limit: 45.0,
        run: |agent| {
            agent.type_line("echo hi")?;
            read_on(agent, |read| read.contains("hi"))
        },
    },
    Work {
        what: "a failing build of 3,000 lines, until its five errors are seen",
        limit: 900.0,
        run: build,
    },
    Work {
        what: "`ls -la` of 300 files",
        limit: 4_000.0,
        run: |agent| {
            agent.type_line("ls -la files")?;
            read_on(agent, |read| read.contains("module-001.rs"))
        },
    },
    Work {
        what: "`top`, looked at five times",
        limit: 3_000.0,
        run: top,
    },
    Work {
        what: "`seq 1 1000000`",
        limit: 700.0,
        run: |agent| {
            agent.type_line("seq 1 1000000")?;
            read_on(agent, |read| read.contains("999999"))
        },
    },
    Work {
        what: "`git log` of 100 commits",
        limit: 2_600.0,
        run: |agent| {
            agent.type_line("git -C repository log")?;
            read_on(agent, |read| read.contains("change number 99"))
        },
    },
];

/// Runs the build, and looks for the errors that its answer does not show.
fn build(agent: &mut Agent<'_>) -> anyhow::Result<bool> {
    let is_seen = |read: &str| {
        let place = |line: &u32| read.contains(&format!("src/lib.rs:{line}:5"));
        ERRORS.iter().all(place) && read.contains("due to 5 previous errors")
    };
    agent.type_line("sh ./build.sh")?;
    read_on(agent, is_seen)
}

/// Reads on until the model has seen it: by a search where there is one.
fn read_on(agent: &mut Agent<'_>, is_seen: impl Fn(&str) -> bool) -> anyhow::Result<bool> {
    for page in 0..MAX_PAGES {
        if is_seen(&agent.read) {
            return Ok(true);
        }
        let before = agent.read.len();
        match agent.tools {
            Tools::Session if page == 0 => {
                agent.call_here("session_read", json!({ "pattern": "^error" }))?;
            }
            Tools::Terminal if page == 0 => {
                agent.call_here("terminal_read", json!({ "pattern": "^error" }))?;
            }
            Tools::Lean if page == 0 => {
                agent.call_here("term_read", json!({ "pattern": "^error" }))?;
            }
            Tools::Session | Tools::TerminalMcp => {
                agent.call_here("session_read", json!({ "mode": "stream" }))?;
            }
            Tools::SmartTerminalMcp if page == 0 => {
                agent.call_here("terminal_read", json!({}))?;
            }
            Tools::Terminal | Tools::SmartTerminalMcp => {
                let skipped = (page - 1) * HISTORY_LINES;
                let history =
                    json!({ "offset": skipped, "maxLines": HISTORY_LINES, "format": "text" });
                agent.call_here("terminal_get_history", history)?;
            }
            Tools::Lean => {
                agent.call_here("term_read", json!({}))?;
            }
        }
        if agent.read.len() == before {
            break;
        }
    }
    Ok(is_seen(&agent.read))
}

/// Starts `top`, and looks at it again while it runs.
fn top(agent: &mut Agent<'_>) -> anyhow::Result<bool> {
    match agent.tools {
        Tools::Session | Tools::TerminalMcp => {
            agent.call_here("session_send", json!({ "input": "top -d 1" }))?;
        }
        Tools::Terminal | Tools::SmartTerminalMcp => {
            agent.call_here("terminal_write", json!({ "data": "top -d 1\\r" }))?;
        }
        Tools::Lean => {
            agent.type_line("top -d 1")?;
        }
    }
    let looks = if agent.tools == Tools::Lean {
        LOOKS - 1
    } else {
        LOOKS
    };
    for _ in 0..looks {
        pause(LOOK);
        match agent.tools {
            Tools::Session => agent.call_here("session_read", json!({ "mode": "diff" }))?,
            Tools::TerminalMcp => agent.call_here("session_read", json!({ "mode": "snapshot" }))?,
            Tools::Terminal => agent.call_here("terminal_read", json!({ "view": "changes" }))?,
            Tools::SmartTerminalMcp => {
                let quick = json!({ "timeout": 1_000, "idleTimeout": 500 });
                agent.call_here("terminal_read", quick)?
            }
            Tools::Lean => agent.call_here("term_read", json!({ "view": "changes" }))?,
        };
    }
    Ok(agent.read.contains("load average"))
}

/// A directory with what the works need.
pub(crate) fn fixtures() -> anyhow::Result<TempDir> {
    let directory = tempfile::Builder::new().prefix("works").tempdir()?;
    let files = directory.path().join("files");
    fs::create_dir(&files)?;
    for number in 0..FILES {
        fs::write(
            files.join(format!("module-{number:03}.rs")),
            [0; 16].repeat(number),
        )?;
    }
    let errors = ERRORS.map(|line| line.to_string()).join("|");
    fs::write(
        directory.path().join("build.sh"),
        format!(
            "for i in $(seq 1 {BUILD_LINES}); do\n  case $i in\n    {errors}) \
             printf 'error[E0308]: mismatched types %s\\n  --> src/lib.rs:%s:5\\n\\n' $i $i ;;\n    \
             *) printf '   Compiling crate-%s v1.2.3\\n' $i ;;\n  esac\ndone\n\
             echo 'error: could not compile `x` (lib) due to 5 previous errors'; exit 101\n"
        ),
    )?;
    repository(&directory)?;
    Ok(directory)
}

/// A repository with commits as people write them.
fn repository(directory: &TempDir) -> anyhow::Result<()> {
    let path = directory.path().join("repository");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&path).args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    fs::create_dir(&path)?;
    let made = git(&["init", "--initial-branch=main"]).status();
    ensure!(made.context("git")?.success(), "git init fails");
    let mut stream = String::new();
    for number in 0..COMMITS {
        let message = format!("core: change number {number}\n");
        let at = 1_700_000_000 + number * 3_600;
        writeln!(stream, "commit refs/heads/main")?;
        writeln!(stream, "committer A Person <person@example.org> {at} +0000")?;
        writeln!(stream, "data {}\n{message}", message.len())?;
    }
    let mut import = git(&["fast-import", "--quiet"]);
    let mut import = import.stdin(Stdio::piped()).spawn()?;
    let mut input = import.stdin.take().context("no pipe to git")?;
    input.write_all(stream.as_bytes())?;
    drop(input);
    ensure!(import.wait()?.success(), "git fast-import fails");
    Ok(())
}
