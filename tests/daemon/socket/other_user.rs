//! Another user is refused by uid, also where the file modes allow the connection.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use termd_test_support::{TestDaemon, is_root, skip};

/// The path of the socket, for this program when it runs again as another user.
const SOCKET_VARIABLE: &str = "TERMD_TEST_STRANGER_SOCKET";
/// A user that does not run the tests (`nobody`).
const STRANGER: u32 = 65534;
/// What the other user's process prints when it got no answer.
const GOT_NOTHING: &str = "connected and got 0 bytes";

/// [`another_user_is_refused_whatever_the_modes`] runs this as another user. It is no test by
/// itself.
#[test]
fn stranger() {
    let Some(socket) = std::env::var_os(SOCKET_VARIABLE) else {
        return;
    };
    let mut stream = UnixStream::connect(socket).expect("the modes let it in");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "daemon.info" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "session.create",
                "params": { "command": "touch", "args": ["stranger-was-here"] } }),
    ];
    for request in requests {
        // The daemon may have closed the connection.
        let _ = stream.write_all(format!("{request}\n").as_bytes());
    }
    let mut got = Vec::new();
    match stream.read_to_end(&mut got) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    eprintln!(
        "connected and got {} bytes: {}",
        got.len(),
        String::from_utf8_lossy(&got)
    );
}

#[test]
fn another_user_is_refused_whatever_the_modes() {
    if !is_root() {
        return skip(
            "another_user_is_refused",
            "becoming somebody else needs root",
        );
    }
    let daemon = TestDaemon::start();
    // A copy that the other user may execute, wherever the checkout is.
    let stranger = daemon.path("stranger");
    fs::copy(std::env::current_exe().unwrap(), &stranger).unwrap();
    for (path, mode) in [
        (daemon.path(""), 0o755),
        (daemon.path("run"), 0o777),
        (daemon.path("run/termd"), 0o777),
        (daemon.socket(), 0o777),
        (stranger.clone(), 0o755),
    ] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let output = Command::new(&stranger)
        .args(["--exact", "socket::other_user::stranger", "--nocapture"])
        .env(SOCKET_VARIABLE, daemon.socket())
        .current_dir("/")
        .gid(STRANGER)
        .uid(STRANGER)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{stderr}\n{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert!(stderr.contains(GOT_NOTHING), "{stderr}");
    let list = daemon
        .client()
        .ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(list["terminals"], json!([]), "nothing ran");
    assert!(daemon.log().contains("65534"), "the refusal is in the log");
    for folder in ["run/termd", "run"] {
        fs::set_permissions(daemon.path(folder), Permissions::from_mode(0o700)).unwrap();
    }
}
