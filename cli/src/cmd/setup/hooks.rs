//! `termctl setup --hooks`: the hooks by which agents ask the gate.

use std::path::PathBuf;

use serde_json::json;

use super::{installation, note_file, places, report::Report};
use crate::args::SetupArgs;
use crate::cmd::Context;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::setup::{self, Action, CLIENTS, Client, HookEntry, Places, SetupError};
use crate::usage_error::UsageError;

type Chosen = (&'static Client, &'static HookEntry, PathBuf);

pub(super) fn run(context: Context, args: &SetupArgs) -> Result<ExitCode, CliError> {
    let chosen = chosen(args, &places()?)?;
    let termctl = installation()?.command()?;
    if args.print {
        return print(context, &chosen, &termctl);
    }
    let mut report = Report::new(context);
    for (client, entry, path) in chosen {
        let outcome = entry.apply(&path, &termctl, args.action());
        report.add(client.name, &path, outcome, false)?;
    }
    report.finish()
}

/// The clients that are meant, with their files: those that are named, else those that are found.
fn chosen(args: &SetupArgs, places: &Places) -> Result<Vec<Chosen>, CliError> {
    let with_hooks = |client: &'static Client| {
        let entry = HookEntry::of(client)?;
        Some((client, entry, entry.file(places)?))
    };
    if args.clients.is_empty() {
        let found = CLIENTS.iter().filter(|client| client.is_there(places));
        let found: Vec<Chosen> = found.filter_map(with_hooks).collect();
        if found.is_empty() && args.action() == Action::Add {
            let known = setup::clients_with_hooks();
            return Err(UsageError::NoClientWithHooks { known }.into());
        }
        return Ok(found);
    }
    let named = args.clients.iter().map(|name| name.0);
    let named = named.map(|client| with_hooks(client).ok_or(SetupError::TakesNoHook(client.name)));
    Ok(named.collect::<Result<_, _>>()?)
}

fn print(context: Context, chosen: &[Chosen], termctl: &str) -> Result<ExitCode, CliError> {
    if context.json {
        let rows = chosen.iter().map(|(client, entry, path)| {
            json!({ "client": client.name, "file": path, "text": entry.fragment(termctl) })
        });
        output::print_json(&json!({ "clients": rows.collect::<Vec<_>>() }))?;
        return Ok(ExitCode::OK);
    }
    for (client, entry, path) in chosen {
        note_file(client.name, path);
        output::print(entry.fragment(termctl).as_bytes())?;
    }
    Ok(ExitCode::OK)
}
