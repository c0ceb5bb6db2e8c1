//! `session.type` with `secret`: where a secret may be typed, and that it is stored nowhere.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use termd_test_support::{TestDaemon, sh, skip};

use super::typing::{try_type, type_in};

const SECRET: &str = "correct-horse-battery";

/// Checks that the secret is in no file of the daemon, not in the audit and not in the transcript.
#[track_caller]
fn assert_stored_nowhere(daemon: TestDaemon, id: &str) {
    let mut client = daemon.client();
    let transcript = String::from_utf8_lossy(&client.transcript(id)).into_owned();
    assert!(!transcript.contains(SECRET), "{transcript}");
    let audit = client.ok("audit.list", &json!({})).to_string();
    assert!(!audit.contains(SECRET), "{audit}");
    assert_eq!(daemon.files_with_text(SECRET), Vec::<PathBuf>::new());
    let home = daemon.stop();
    assert_eq!(home.files_with_text(SECRET), Vec::<PathBuf>::new());
    // Transcript blocks are compressed, so the search is proven with another text.
    assert!(
        !home.files_with_text("terminal.input").is_empty(),
        "the search itself works"
    );
}

#[test]
fn a_secret_goes_where_one_is_awaited_and_is_nowhere_afterwards() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("stty -echo; printf 'Password: '; read p; stty echo; echo; echo len ${#p}; read q; echo over"));
    client.wait_for_text(&id, "Password: ");
    type_in(
        &mut client,
        &id,
        &json!({ "text": SECRET, "secret": true, "enter": true }),
    );
    client.wait_for_text(&id, "len 21");
    // The tty echoes now.
    let secret = json!({ "text": SECRET, "secret": true, "enter": true });
    let error = try_type(&mut client, &id, &secret).unwrap_err();
    error.assert_is(-32013, "no_secret_awaited");
    assert!(!format!("{error:?}").contains(SECRET));
    type_in(&mut client, &id, &json!({ "text": "q", "enter": true }));
    client.ok("session.wait", &json!({ "id": id }));
    assert_stored_nowhere(daemon, &id);
}

#[test]
fn pythons_getpass_and_bashs_read() {
    for (program, argv) in [
        (
            "python3",
            [
                "-c",
                "import getpass; p = getpass.getpass('Password: '); print('len', len(p))",
            ],
        ),
        (
            "bash",
            ["-c", "read -s -p 'Password: ' p; echo; echo len ${#p}"],
        ),
    ] {
        if Command::new(program).arg("--version").output().is_err() {
            skip(
                "pythons_getpass_and_bashs_read",
                format!("{program} is not installed"),
            );
            continue;
        }
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let create = json!({ "command": program, "args": argv });
        let id = client.create_terminal(&create);
        client.wait_for_text(&id, "Password: ");
        let (code, kind) = (-32013, "no_secret_awaited");
        let secret = json!({ "text": SECRET, "secret": true, "enter": true });
        if program == "bash" {
            // bash reads single keys for `read -s` only in its line editor. This bash reads a line.
            type_in(&mut client, &id, &secret);
        } else if let Err(error) = try_type(&mut client, &id, &secret) {
            panic!("{code} {kind}: {error:?}");
        }
        client.wait_for_text(&id, "len 21");
        client.ok("session.wait", &json!({ "id": id }));
        assert_stored_nowhere(daemon, &id);
    }
}

/// A secret forced upon a tty that echoes is not shown, and later input is.
#[test]
fn a_forced_secret_is_not_echoed_by_the_tty() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    // The program reads the line before the tty echoes again, and waits for that.
    let id = client.create_terminal(&sh("modes() { stty -a | tr ' ' '\\n'; }; printf ready; \
         for n in 1 2 3; do read p; echo len ${#p}; done; \
         until modes | grep -qx echo; do :; done; modes | grep -x -e echo -e icanon; read q"));
    client.wait_for_text(&id, "ready");
    for _ in 0..3 {
        let before = client.ok("session.read", &json!({ "id": id }))["end"].clone();
        let forced = json!({ "text": SECRET, "secret": true, "force": true, "enter": true });
        type_in(&mut client, &id, &forced);
        let page = json!({ "id": id, "since": before, "wait_ms": 5_000 });
        assert!(client.ok("session.read", &page)["text"].is_string());
    }
    let text = client.wait_for_text(&id, "\necho");
    assert!(text.contains("icanon"), "{text}");
    type_in(&mut client, &id, &json!({ "text": "seen", "enter": true }));
    client.ok("session.wait", &json!({ "id": id }));
    let text = String::from_utf8_lossy(&client.transcript(&id)).into_owned();
    assert!(
        text.contains("seen") && text.matches("len 21").count() == 3,
        "{text}"
    );
    assert_stored_nowhere(daemon, &id);
}
