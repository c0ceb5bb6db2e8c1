//! `termctl setup`: adds `termctl mcp` to the settings of MCP clients. Never starts the daemon.

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

pub(super) fn run(context: Context, args: &SetupArgs) -> Result<ExitCode, CliError> {
    let project = env::current_dir()
        .map_err(|error| CliError::Io("cannot tell the current directory", error))?;
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let places = Places::of_environment(variable, project).ok_or(SetupError::NoHome)?;
    let scope = if args.project {
        Scope::Project
    } else {
        Scope::User
    };
    let server = server(args)?;
    let action = if args.remove {
        Action::Remove
    } else {
        Action::Add
    };
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
    let mut code = ExitCode::OK;
    let mut rows = Vec::new();
    for (client, path) in chosen {
        let shown = escaped(&path.display().to_string());
        let outcome = setup::apply(client, &path, scope, &server, action);
        // A client that was found, not named, and that must be edited by hand, is no failure.
        let is_hint = args.clients.is_empty() && matches!(outcome, Err(SetupError::ByHand { .. }));
        match &outcome {
            Err(_) if is_hint => {}
            Err(_) => code = ExitCode::FAILED,
            Ok(_) => {}
        }
        if context.json {
            rows.push(row(client, &path, &outcome));
            continue;
        }
        match outcome {
            Ok(done) => {
                let backup = done.backup.map_or_else(String::new, |backup| {
                    format!("; what it was: {}", escaped(&backup.display().to_string()))
                });
                let line = format!(
                    "{}: {} ({shown}{backup})\n",
                    client.name,
                    done.change.phrase()
                );
                output::print(line.as_bytes())?;
            }
            Err(error) => output::note(&escaped(&error.to_string())),
        }
    }
    if context.json {
        output::print_json(&json!({ "clients": rows }))?;
    }
    Ok(code)
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
        // On standard error, so that the text alone can be piped into a file.
        output::note(&format!(
            "{}: {}",
            client.name,
            escaped(&path.display().to_string())
        ));
        output::print(setup::fragment(client.format, server).as_bytes())?;
    }
    Ok(ExitCode::OK)
}

fn row(client: &Client, path: &Path, outcome: &Result<setup::Outcome, SetupError>) -> Value {
    let (change, backup, error) = match outcome {
        Ok(done) => (done.change.as_str(), done.backup.as_deref(), None),
        Err(error @ SetupError::ByHand { .. }) => ("by_hand", None, Some(error.to_string())),
        Err(error) => ("failed", None, Some(error.to_string())),
    };
    json!({ "client": client.name, "file": path, "change": change, "backup": backup, "error": error })
}

fn server(args: &SetupArgs) -> Result<Server, CliError> {
    let called = env::args_os().next().unwrap_or_default();
    let program = program(&called).map_err(SetupError::NoProgram)?;
    let command = program
        .into_os_string()
        .into_string()
        .map_err(|path| UsageError::ProgramNotUtf8(path.into()))?;
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

/// The absolute path of this program. Prefers the path by which it was called, which may be a link:
/// one in a package manager's profile outlives its target.
fn program(called: &OsString) -> std::io::Result<PathBuf> {
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
    Ok(candidates.into_iter().find(is_this).unwrap_or(running))
}
