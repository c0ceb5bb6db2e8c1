//! What the keeper is asked to start.

use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use super::request::CreateRequest;
use crate::keeper_client::SpawnCommand;
use crate::terminal::lifecycle::agents::TerminalAgents;
use crate::terminal::lifecycle::launch::{Launch, environment_block};
use crate::terminal::lifecycle::record::Record;
use termd_keeper::protocol::confinement::Confinement;
use termd_keeper::protocol::message::SpawnRequest;

pub(super) fn spawn_request(
    launch: Launch,
    record: &Record,
    request: &CreateRequest,
    confinement: Confinement,
) -> SpawnCommand {
    let mut argv: Vec<_> = launch.argv.into_iter().map(String::into_bytes).collect();
    if let (Some(first), Some(arg0)) = (argv.first_mut(), &request.options.arg0) {
        *first = arg0.clone().into_bytes();
    }
    let inherited = request.options.inherited.clone().unwrap_or_default();
    let fds = Arc::clone(&request.fds);
    let request = SpawnRequest {
        id: record.id.clone(),
        program: launch.program.into_os_string().into_vec(),
        argv,
        env: environment_block(launch.env),
        cwd: launch.cwd.into_os_string().into_vec(),
        cols: record.cols,
        rows: record.rows,
        notes: record.to_notes(&TerminalAgents::default()),
        stdio: record.stdio,
        stdin: record.stdin,
        stderr: request.options.stderr,
        inherited,
        confinement,
        pause: None,
        file: None,
    };
    SpawnCommand {
        request,
        inherited: fds,
    }
}
