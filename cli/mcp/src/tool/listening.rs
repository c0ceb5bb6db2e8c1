//! Whether a process of a terminal listens on a TCP port, as `/proc` tells it.
//!
//! This process sees what the daemon would: both are the user's. A process of the terminal is one
//! that has the terminal's id in its environment or descends from the terminal's program. A process
//! of another user (sudo) shows neither its environment nor its sockets.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read as _;

use termd_proto::TerminalId;

/// The longest file of `/proc` that is read: some 100,000 sockets.
const MAX_BYTES: u64 = 16 << 20;
/// The most parents that are looked at on the way to the terminal's program.
const MAX_PARENTS: usize = 64;
/// The state of a listening socket in `/proc/net/tcp` (`TCP_LISTEN`).
const LISTEN: &str = "0A";

/// Whether a process of the terminal, whose program is the process `root`, listens on the port.
pub(super) fn listens(terminal: &TerminalId, root: i32, port: u16) -> bool {
    // As the program sees the network, which in a sandbox may be its own.
    let tables = ["tcp", "tcp6"].map(|name| read(&format!("/proc/{root}/net/{name}")));
    let sockets: HashSet<String> = tables
        .iter()
        .flat_map(|table| inodes(table, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return false;
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.into_iter()
        .any(|pid| holds_one(pid, &sockets) && belongs(pid, terminal, root))
}

/// The inodes of a table's sockets that listen on the port.
fn inodes(table: &str, port: u16) -> impl Iterator<Item = &str> {
    let port = format!(":{port:04X}");
    table.lines().skip(1).filter_map(move |line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let local = columns.next()?;
        let state = columns.nth(1)?;
        let inode = columns.nth(5)?;
        (local.ends_with(&port) && state == LISTEN).then_some(inode)
    })
}

fn holds_one(pid: i32, sockets: &HashSet<String>) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd"));
    files.into_iter().flatten().flatten().any(|file| {
        let target = fs::read_link(file.path());
        target.is_ok_and(|target| target.to_str().is_some_and(|it| sockets.contains(it)))
    })
}

fn belongs(pid: i32, terminal: &TerminalId, root: i32) -> bool {
    let mark = format!("TERMD_TERMINAL={terminal}");
    let environment = read(&format!("/proc/{pid}/environ"));
    if environment.split('\0').any(|variable| variable == mark) {
        return true;
    }
    let parents = std::iter::successors(Some(pid), |pid| parent(*pid));
    parents.take(MAX_PARENTS).any(|pid| pid == root)
}

fn parent(pid: i32) -> Option<i32> {
    let stat = read(&format!("/proc/{pid}/stat"));
    // The name, in brackets, may hold anything.
    let (_, behind) = stat.rsplit_once(')')?;
    let parent = behind.split_ascii_whitespace().nth(1)?;
    parent.parse().ok().filter(|parent| *parent > 1)
}

/// The text of a file; empty where it cannot be read.
fn read(path: &str) -> String {
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        bytes.clear();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_listening_sockets_of_the_port_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
                     uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 \
                     0 11 1 0 100 0 0 10 0\n   \
                     1: 0100007F:1F90 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000 \
                     0 12 1 0 100 0 0 10 0\n   \
                     2: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 \
                     0 13 1 0 100 0 0 10 0\n";
        let of = |port| inodes(table, port).collect::<Vec<_>>();
        assert_eq!(of(8080), ["11"]);
        assert_eq!(of(8081), ["13"]);
        assert!(of(80).is_empty());
    }

    #[test]
    fn a_socket_counts_for_its_own_terminal_alone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (id, this) = (TerminalId::from_random(1), std::process::id());
        let this = i32::try_from(this).unwrap();
        assert!(listens(&id, this, port));
        let mut other = std::process::Command::new("sleep")
            .arg("100")
            .spawn()
            .unwrap();
        assert!(!listens(&id, i32::try_from(other.id()).unwrap(), port));
        other.kill().unwrap();
        other.wait().unwrap();
        drop(listener);
        assert!(!listens(&id, this, port));
    }
}
