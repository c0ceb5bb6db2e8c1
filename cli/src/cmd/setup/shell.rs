//! `termctl setup --shell`: the links to termd's shells, and each client's entry for them.

use std::collections::HashSet;
use std::env;
use std::path::PathBuf;

use serde_json::json;
use termd_client::escape::escaped;

use super::{installation, note_file, places, report::Report};
use crate::args::SetupArgs;
use crate::cmd::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::{
    self, Action, CLIENTS, Client, Outcome, Places, SetupError, ShellEntry, Shells,
};
use crate::usage_error::UsageError;

/// The name of the links in reports.
const SHELLS: &str = "shells";
/// What remains to be done after an entry.
const NEXT_STEPS: &str =
    "start the agents again: those that run keep their shell; then `termctl doctor` tries each";

/// What a removal from single clients leaves.
const LINKS_STAY: &str = "the links to termd's shells stay, for other clients; `--remove` without `--client` takes them out";

pub(super) fn run(context: Context, args: &SetupArgs) -> Result<ExitCode, CliError> {
    let places = places()?;
    let shell = env::var_os("SHELL").map(PathBuf::from);
    let shells = Shells::of(&places, shell.as_deref());
    let installation = installation()?;
    let termctl = installation.command()?;
    let chosen = chosen(args, &places)?;
    if args.print {
        return print(context, &chosen, &shells, &termctl);
    }
    let mut report = Report::new(context);
    let action = args.action();
    if action == Action::Add {
        let program = setup::program_beside(&installation.programs())?;
        let linked = shells.link(&program).map(outcome);
        report.add(SHELLS, &shells.folder, linked, false)?;
        if !report.is_ok() {
            return report.finish();
        }
    }
    for (client, entry, path) in chosen {
        let outcome = entry.apply(&path, &shells, &termctl, action);
        if let (Ok(_), Action::Add, Some(hint)) = (&outcome, action, entry.hint(&path)) {
            output::note(&escaped(&hint));
        }
        report.add(client.name, &path, outcome, false)?;
    }
    if action == Action::Add && report.is_ok() {
        output::note(NEXT_STEPS);
    }
    // A client that still has the entry needs the links, and so does one that was not named.
    if action == Action::Remove && report.is_ok() {
        if args.clients.is_empty() {
            report.add(SHELLS, &shells.folder, shells.unlink().map(outcome), false)?;
        } else {
            output::note(LINKS_STAY);
        }
    }
    report.finish()
}

fn outcome(change: setup::Change) -> Outcome {
    Outcome {
        change,
        backup: None,
    }
}

/// The clients that are meant, with their files: those that are named, else those that are found.
fn chosen(
    args: &SetupArgs,
    places: &Places,
) -> Result<Vec<(&'static Client, &'static ShellEntry, PathBuf)>, CliError> {
    let with_shell = |client: &'static Client| {
        let entry = ShellEntry::of(client)?;
        Some((client, entry, entry.file(places)?))
    };
    let mut chosen = Vec::new();
    if args.clients.is_empty() {
        let found = CLIENTS.iter().filter(|client| client.is_there(places));
        chosen.extend(found.filter_map(with_shell));
        if chosen.is_empty() && args.action() == Action::Add {
            let known = setup::clients_with_shell_entries();
            return Err(UsageError::NoClientWithShell { known }.into());
        }
    } else {
        for name in &args.clients {
            let client = name.0;
            chosen.push(with_shell(client).ok_or(SetupError::TakesNoShell(client.name))?);
        }
    }
    let mut seen = HashSet::new();
    chosen.retain(|(.., path)| seen.insert(path.clone()));
    Ok(chosen)
}

fn print(
    context: Context,
    chosen: &[(&Client, &ShellEntry, PathBuf)],
    shells: &Shells,
    termctl: &str,
) -> Result<ExitCode, CliError> {
    let text = |entry: &ShellEntry| entry.fragment(shells, termctl);
    if context.json {
        let rows = chosen.iter().map(|(client, entry, path)| {
            json!({ "client": client.name, "file": path, "text": text(entry) })
        });
        output::print_json(&json!({ "clients": rows.collect::<Vec<_>>() }))?;
        return Ok(ExitCode::OK);
    }
    for (client, entry, path) in chosen {
        note_file(client.name, path);
        output::print(text(entry).as_bytes())?;
    }
    Ok(ExitCode::OK)
}
