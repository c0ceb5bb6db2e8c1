//! `termctl setup`: adds `termctl mcp` to the settings of MCP clients, or termd's shells or its hooks to
//! those of agents.
//! Never starts the daemon.

mod hooks;
mod report;
mod shell;

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};
use termd_client::escape::escaped;

use super::Context;
use crate::args::{SetupArgs, ToolsetArg};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::{self, Action, Arguments, CLIENTS, Client, Places, Scope, Server, SetupError};
use crate::usage_error::UsageError;
use report::Report;

pub(super) fn run(context: Context, args: &SetupArgs) -> Result<ExitCode, CliError> {
    if args.shell {
        return shell::run(context, args);
    }
    if args.hooks {
        return hooks::run(context, args);
    }
    let places = places()?;
    let scope = if args.project {
        Scope::Project
    } else {
        Scope::User
    };
    let server = server(args)?;
    let action = args.action();
    let chosen = chosen(args, &places, scope)?;
    if chosen.is_empty() {
        match action {
            Action::Add => {
                return Err(UsageError::NoMcpClient {
                    known: setup::names(),
                }
                .into());
            }
            Action::Remove => {
                output::note("no MCP client was found, so there is nothing to remove");
            }
        }
    }
    if args.print {
        return print(context, &chosen, &server);
    }
    let mut report = Report::new(context);
    for (client, path) in chosen {
        let outcome = setup::apply(client, &path, scope, &server, action);
        // A client that was found, not named, and that must be edited by hand, is no failure.
        let is_hint = args.clients.is_empty() && matches!(outcome, Err(SetupError::ByHand { .. }));
        report.add(client.name, &path, outcome, is_hint)?;
    }
    report.finish()
}

/// The user's directories, and the project's.
pub(super) fn places() -> Result<Places, CliError> {
    let project = env::current_dir()
        .map_err(|error| CliError::Io("cannot tell the current directory", error))?;
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    Ok(Places::of_environment(variable, project).ok_or(SetupError::NoHome)?)
}

/// The clients to set up, each with its file: those that are named, else those that are found. No file
/// occurs twice.
fn chosen(
    args: &SetupArgs,
    places: &Places,
    scope: Scope,
) -> Result<Vec<(&'static Client, PathBuf)>, CliError> {
    let named = || args.clients.iter().map(|name| name.0);
    let found = || CLIENTS.iter().filter(|client| client.is_there(places));
    let mut pairs = Vec::new();
    if args.clients.is_empty() {
        pairs.extend(found().filter_map(|client| Some((client, client.file(places, scope)?))));
    } else {
        for client in named() {
            let file = client.file(places, scope);
            pairs.push((client, file.ok_or(SetupError::NoProject(client.name))?));
        }
    }
    let mut seen = HashSet::new();
    pairs.retain(|(_, path)| seen.insert(path.clone()));
    Ok(pairs)
}

fn print(
    context: Context,
    chosen: &[(&Client, PathBuf)],
    server: &Server,
) -> Result<ExitCode, CliError> {
    if context.json {
        let row = |(client, path): &(&Client, PathBuf)| json!({ "client": client.name, "file": path, "text": setup::fragment(client.format, server) });
        let rows: Vec<Value> = chosen.iter().map(row).collect();
        output::print_json(&json!({ "clients": rows }))?;
        return Ok(ExitCode::OK);
    }
    for (client, path) in chosen {
        note_file(client.name, path);
        output::print(setup::fragment(client.format, server).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

/// Names a file on standard error, so that the text alone can be piped into it.
fn note_file(client: &str, path: &Path) {
    output::note(&format!(
        "{client}: {}",
        escaped(&path.display().to_string())
    ));
}

fn server(args: &SetupArgs) -> Result<Server, CliError> {
    let command = installation()?.command()?;
    let words = |tools: &[ToolsetArg]| {
        let names = tools.iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        ["mcp".to_owned(), "--tools".to_owned(), names.join(",")].to_vec()
    };
    let arguments = if args.tools.is_empty() {
        Arguments::Initial(words(&[ToolsetArg::Lean]))
    } else {
        Arguments::Set(words(&args.tools))
    };
    let env = args.env.iter();
    Ok(Server {
        name: args.name.0.clone(),
        command,
        args: arguments,
        env: env
            .map(|set| (set.name.clone(), set.value.clone()))
            .collect(),
    })
}

/// The paths of this program.
#[derive(Debug)]
pub(super) struct Installation {
    /// The path by which it was called, which may be a link: one in a package manager's profile
    /// outlives its target.
    called: PathBuf,
    /// The file that runs.
    running: PathBuf,
}

impl Installation {
    /// The absolute path for settings.
    fn command(&self) -> Result<String, UsageError> {
        let path = self.called.clone().into_os_string().into_string();
        path.map_err(|path| UsageError::ProgramNotUtf8(path.into()))
    }

    /// Both paths, the one for settings first.
    pub(super) fn programs(&self) -> [&Path; 2] {
        [&self.called, &self.running]
    }
}

pub(super) fn installation() -> Result<Installation, SetupError> {
    let called = env::args_os().next().unwrap_or_default();
    find_installation(&called).map_err(SetupError::NoProgram)
}

fn find_installation(called: &OsString) -> std::io::Result<Installation> {
    let running = env::current_exe()?;
    let called = Path::new(called);
    let candidates: Vec<PathBuf> = if called.components().count() > 1 {
        vec![std::path::absolute(called)?]
    } else {
        let path = env::var_os("PATH").unwrap_or_default();
        let absolute = env::split_paths(&path).filter(|folder| folder.is_absolute());
        absolute.map(|folder| folder.join(called)).collect()
    };
    let is_this = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|real| real == running);
    let called = candidates.into_iter().find(is_this);
    Ok(Installation {
        called: called.unwrap_or_else(|| running.clone()),
        running,
    })
}
