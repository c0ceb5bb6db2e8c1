//! `termctl doctor`: tries whether each agent runs termd's shells. Never starts the daemon.

mod check;
mod probe;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use termd_client::{Link, StartPolicy};
use termd_proto::daemon::GetDaemonInfo;

use super::Context;
use super::setup::{installation, places};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::{self, CLIENTS, Client, Places, ShellEntry, Shells, Trial};
use crate::table::facts_as_lines;

use check::{Check, State};

/// The program of each client that takes a shell. VS Code's are called otherwise than the client.
const PROGRAMS: [(&str, &str); 6] = [
    ("claude-code", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
    ("vscode", "code"),
    ("vscode-insiders", "code-insiders"),
];

pub(super) async fn run(context: Context) -> Result<ExitCode, CliError> {
    let places = places()?;
    let shell = env::var_os("SHELL").map(PathBuf::from);
    let shells = Shells::of(&places, shell.as_deref());
    let (daemon, link) = daemon().await;
    let links = links(&shells)?;
    let mut doctor = Doctor {
        places,
        shells,
        link,
        are_links_made: links.state != State::NotSetUp,
        tried: BTreeMap::new(),
    };
    let mut checks = vec![daemon, links];
    if doctor.are_links_made {
        let bash = doctor.shells.folder.join("bash");
        checks.push(match doctor.try_shell(&bash).await {
            Ok(seen) => Check::works("shell", seen),
            Err(reason) => Check::fails("shell", reason),
        });
    }
    for (client, program) in PROGRAMS {
        checks.extend(doctor.client(client, program).await);
    }
    let is_well = checks.iter().all(|check| check.state != State::Fails);
    if context.json {
        output::print_json(&json!({ "ok": is_well, "checks": checks }))?;
    } else {
        let facts: Vec<(&str, String)> = checks
            .iter()
            .map(|check| (check.name.as_str(), check.text()))
            .collect();
        output::print(facts_as_lines(&facts).as_bytes())?;
    }
    Ok(if is_well {
        ExitCode::OK
    } else {
        ExitCode::FAILED
    })
}

/// Whether the daemon runs, and is as new as this termctl.
async fn daemon() -> (Check, Option<Link>) {
    let name = "daemon";
    let asked = async {
        let link = Link::open(StartPolicy::Never).await?;
        let info = link.repeat(&GetDaemonInfo {}).await?;
        Ok::<_, termd_client::ClientError>((link, info))
    };
    match asked.await {
        Err(error) => {
            let reason = format!(
                "{error}; `termctl list` starts it. Until it runs, agents' commands run outside of termd"
            );
            (Check::fails(name, reason), None)
        }
        Ok((link, info)) => {
            let own = env!("CARGO_PKG_VERSION");
            let check = if info.version == own {
                Check::works(name, format!("{own}, {}", info.socket))
            } else {
                let reason = format!(
                    "it is {}, and this termctl is {own}: `termctl daemon reload`",
                    info.version
                );
                Check::fails(name, reason)
            };
            (check, Some(link))
        }
    }
}

/// Whether the links lead to the `termd-shell` beside this termctl.
fn links(shells: &Shells) -> Result<Check, CliError> {
    let name = "links";
    let targets = shells.targets();
    if targets
        .iter()
        .all(|(link, _)| link.symlink_metadata().is_err())
    {
        return Ok(Check::not_set_up(
            name,
            "`termctl setup --shell` makes them",
        ));
    }
    let installation = installation()?;
    let program = match setup::program_beside(&installation.programs()) {
        Ok(program) => program,
        Err(error) => return Ok(Check::fails(name, error.to_string())),
    };
    let real = fs::canonicalize(&program).ok();
    let wrong = targets.iter().find(|(_, target)| *target != real);
    Ok(match wrong {
        None => Check::works(
            name,
            format!("{} lead to {}", shells.folder.display(), program.display()),
        ),
        Some((link, target)) => {
            let target = target.as_ref().map_or_else(
                || "leads nowhere".to_owned(),
                |target| format!("leads to {}", target.display()),
            );
            let mending = if shells.is_taken(link) {
                "it is not termctl's, and stays: move it away, and run `termctl setup --shell`"
            } else {
                "`termctl setup --shell` mends that"
            };
            let reason = format!(
                "{} {target}, not to {}: {mending}",
                link.display(),
                program.display()
            );
            Check::fails(name, reason)
        }
    })
}

/// What is known while the clients are tried.
struct Doctor {
    places: Places,
    shells: Shells,
    link: Option<Link>,
    are_links_made: bool,
    /// What became of the shells that were tried.
    tried: BTreeMap<PathBuf, Result<String, String>>,
}

impl Doctor {
    /// One client; `None` if it is neither installed nor set up.
    async fn client(&mut self, name: &str, program: &str) -> Option<Check> {
        let client: &Client = CLIENTS.iter().find(|client| client.name == name)?;
        let entry = ShellEntry::of(client)?;
        let file = entry.file(&self.places)?;
        let installed = on_path(program);
        let entered = match entry.entered(&file) {
            Ok(entered) => entered,
            Err(error) => return Some(Check::fails(name, error.to_string())),
        };
        let Some(entered) = entered else {
            let is_there = installed.is_some() || client.is_there(&self.places);
            let advice = match entry.hindrance(&file, &self.shells) {
                None => format!("`termctl setup --shell --client {name}`"),
                Some(hindrance) => format!("{}: {hindrance}", file.display()),
            };
            return is_there.then(|| Check::not_set_up(name, advice));
        };
        let tried = self
            .try_entry(entry.trial(), &entered, installed.as_deref())
            .await;
        let version = match &installed {
            None => format!("{program} is not on PATH"),
            Some(path) => match probe::version(path).await {
                Some(version) => version,
                None => format!("{} says no version", path.display()),
            },
        };
        Some(match tried {
            Ok(seen) => Check::works(name, format!("{version}; {seen}")),
            Err(reason) => Check::fails(name, format!("{version}; {reason}")),
        })
    }

    async fn try_entry(
        &mut self,
        trial: Trial,
        entered: &Path,
        installed: Option<&Path>,
    ) -> Result<String, String> {
        if !self.are_links_made {
            return Err(
                "its shell is not there: `termctl setup --shell` makes the links".to_owned(),
            );
        }
        match trial {
            Trial::Shell => self.try_shell(entered).await,
            Trial::Unseen => {
                let seen = self.try_shell(entered).await?;
                Ok(format!(
                    "{seen}; whether the client takes it cannot be seen from here"
                ))
            }
            Trial::ExecServer => {
                let path = PathBuf::from(probe::exec_server(entered).await?);
                if path.parent() == Some(&self.shells.folder) {
                    self.try_shell(&path).await
                } else {
                    let path = path.display();
                    Err(format!(
                        "its exec-server names {path}, which is no shell of termd's"
                    ))
                }
            }
            Trial::Launcher => {
                let seen = self.try_shell(&self.shells.folder.join("bash")).await?;
                let is_first = installed == Some(entered);
                let entered = entered.display();
                Ok(if is_first {
                    format!("{seen}; started by {entered}")
                } else {
                    format!(
                        "{seen}; only where it is started by {entered}, which is not first on PATH"
                    )
                })
            }
        }
    }

    async fn try_shell(&mut self, shell: &Path) -> Result<String, String> {
        if let Some(known) = self.tried.get(shell) {
            return known.clone();
        }
        let tried = probe::shell(shell, self.link.as_ref()).await;
        self.tried.insert(shell.to_owned(), tried.clone());
        tried
    }
}

/// The program of this name that comes first on PATH.
fn on_path(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let name = name.as_ref();
    let path = env::var_os("PATH")?;
    let mut candidates = env::split_paths(&path).map(|folder| folder.join(name));
    candidates.find(|path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    })
}
