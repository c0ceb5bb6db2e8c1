//! What clients hear that wait for a termd that cannot serve.
//!
//! systemd closes the connections of those that no termd answers, so a client would hear nothing. The
//! next connection starts termd again.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_keeper::InheritedFds;
use termd_proto::ErrorKind;
use termd_proto::code::START_FAILED;

/// How long one client's requests are waited for. It has sent them already, most likely.
const CLIENT_LIMIT: Duration = Duration::from_millis(500);
/// How long all of them together are.
const LIMIT: Duration = Duration::from_secs(3);
/// Requests of a client are read up to this length, in bytes. A greeting and a call are short.
const MAX_REQUESTS: usize = 64 * 1024;

/// The socket at which clients wait: the one that systemd passed, if it did, or a server's.
#[derive(Debug)]
pub struct Activation(Option<UnixListener>);

impl Activation {
    /// Shares the socket with the keeper, which takes it over. Call it before the keeper runs.
    pub fn share() -> Self {
        Self(termd_keeper::activation_socket().map(UnixListener::from))
    }

    /// Shares the socket that a keeper passed to its server.
    pub fn share_inherited(inherited: &InheritedFds) -> Self {
        Self(inherited.listener.try_clone().ok().map(UnixListener::from))
    }

    /// Answers every client that waits by why there is no daemon.
    pub fn refuse(self, reason: &str) {
        let Some(listener) = self.0 else { return };
        if listener.set_nonblocking(true).is_err() {
            return;
        }
        let give_up_at = Instant::now() + LIMIT;
        while let Ok((client, _)) = listener.accept() {
            if Instant::now() < give_up_at {
                // A client that has gone needs no answer.
                let _ = answer(client, reason);
            }
        }
    }
}

fn answer(mut client: UnixStream, reason: &str) -> std::io::Result<()> {
    client.set_read_timeout(Some(CLIENT_LIMIT))?;
    client.set_write_timeout(Some(CLIENT_LIMIT))?;
    let mut requests = vec![0; MAX_REQUESTS];
    let length = client.read(&mut requests)?;
    client.write_all(&answers(requests.get(..length).unwrap_or_default(), reason))
}

/// An error for each request.
fn answers(requests: &[u8], reason: &str) -> Vec<u8> {
    let error = json!({
        "code": START_FAILED,
        "message": format!("termd cannot start: {reason} (`journalctl --user -u termd` is its log)"),
        "data": { "kind": ErrorKind::StartFailed },
    });
    let ids = requests.split(|&byte| byte == b'\n').filter_map(|line| {
        let request: Value = serde_json::from_slice(line).ok()?;
        request.get("id").cloned()
    });
    let answers = ids.map(|id| json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    answers
        .flat_map(|answer| format!("{answer}\n").into_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_that_has_an_id_is_answered() {
        let requests =
            b"{\"id\":\"a\",\"method\":\"x\"}\n{\"method\":\"y\"}\nnonsense\n{\"id\":7}\n";
        let said = String::from_utf8(answers(requests, "a \"bad\" line\n2")).unwrap();
        let said: Vec<Value> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!((&said[0]["id"], &said[1]["id"]), (&json!("a"), &json!(7)));
        for answer in said {
            assert_eq!(answer["error"]["data"]["kind"], "start_failed");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("a \"bad\" line\n2"), "{message}");
        }
    }
}
