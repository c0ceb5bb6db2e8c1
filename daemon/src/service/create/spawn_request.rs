//! What the keeper is asked to start.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::terminal::lifecycle::agents::TerminalAgents;
use crate::terminal::lifecycle::launch::Launch;
use crate::terminal::lifecycle::record::Record;
use termd_keeper::protocol::confinement::Confinement;
use termd_keeper::protocol::message::SpawnRequest;

pub(super) fn spawn_request(
    launch: Launch,
    record: &Record,
    confinement: Confinement,
) -> SpawnRequest {
    let variable = |(name, value): (OsString, OsString)| {
        let mut bytes = name.into_vec();
        bytes.push(b'=');
        bytes.extend(value.into_vec());
        bytes
    };
    SpawnRequest {
        id: record.id.clone(),
        program: launch.program.into_os_string().into_vec(),
        argv: launch.argv.into_iter().map(String::into_bytes).collect(),
        env: launch.env.into_iter().map(variable).collect(),
        cwd: launch.cwd.into_os_string().into_vec(),
        cols: record.cols,
        rows: record.rows,
        notes: record.to_notes(&TerminalAgents::default()),
        stdio: record.stdio,
        stdin: record.stdin,
        confinement,
        pause: None,
        file: None,
    }
}
