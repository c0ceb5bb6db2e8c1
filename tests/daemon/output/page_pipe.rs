//! `session.read` whose bytes go into a pipe that comes beside the request.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;

use serde_json::{Value, json};
use termd_test_support::{RawClient, RpcError, TestDaemon, assert_members, merged, sh};

/// More than two pipes of 64 KiB hold, on each stream.
const BYTES: usize = 150_000;

fn finished(client: &mut RawClient, script: &str, stdio: &str) -> String {
    let params = merged(&sh(script), &json!({ "stdio": stdio }));
    let id = client.create_terminal(&params);
    client.ok("session.wait", &json!({ "id": id }));
    id
}

fn pipe_read(id: &str) -> Value {
    json!({ "id": id, "encoding": "pipe" })
}

#[test]
fn each_page_is_what_base64_would_give() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = format!(
        "head -c {BYTES} /dev/urandom; head -c {BYTES} /dev/urandom >&2; head -c {BYTES} /dev/urandom"
    );
    let id = finished(&mut client, &script, "pipes");
    // A page that is read while its blocks move to the database may be shorter.
    client.wait_until_stored();
    for read in [
        json!({ "id": id, "stream": "stdout" }),
        json!({ "id": id, "stream": "stderr", "times": true }),
        json!({ "id": id, "max_lines": 100 }),
        json!({ "id": id, "until": 2 * BYTES }),
    ] {
        let mut since = json!(0);
        for page in 1.. {
            // What a pipe holds is the bound of both.
            let read = merged(&read, &json!({ "since": since, "max_bytes": 1 << 16 }));
            let expected = merged(&read, &json!({ "encoding": "base64" }));
            let expected = client.ok("session.read", &expected);
            let mut bytes = client.read_by_pipe(&merged(&read, &json!({ "max_bytes": 1 << 20 })));
            bytes.as_object_mut().unwrap().remove("written");
            assert!(bytes == expected, "page {page} of {read}");
            since = bytes["end"].clone();
            if bytes["at_end"] == true {
                assert!(page >= 2, "{read}");
                break;
            }
        }
    }
}

#[test]
fn a_read_into_a_pipe_waits_for_output() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("printf first; cat"));
    client.wait_for_text(&id, "first");
    let (mut reader, writer) = std::io::pipe().unwrap();
    let read = merged(&pipe_read(&id), &json!({ "since": 5, "wait_ms": 15_000 }));
    let waits = client.send_with_fds("session.read", &read, &[writer.as_fd()]);
    drop(writer);
    let first = client.read_by_pipe(&json!({ "id": id }));
    assert_members(&first, &json!({ "written": 5, "at_end": true }));
    client.send_text(&id, "typed\n");
    let answer = client.answer(waits)["result"].take();
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_members(&answer, &json!({ "start": 5, "end": 5 + bytes.len() }));
    assert!(!bytes.is_empty() && b"typed\r\ntyped\r\n".starts_with(&bytes));
}

#[test]
fn a_descriptor_that_is_no_empty_pipe_is_refused_and_closed() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = finished(&mut client, "printf output", "pty");
    let read = pipe_read(&id);
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let (others_reader, others_writer) = std::io::pipe().unwrap();
    let (_, readerless) = std::io::pipe().unwrap();
    let file = File::create(daemon.path("file")).unwrap();
    let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
    let ends = [writer.as_fd(), others_writer.as_fd()];
    for (what, fds) in [
        ("none", &[][..]),
        ("two", &ends[..]),
        ("a file", &[file.as_fd()][..]),
        ("a socket", &[socket.as_fd()][..]),
        ("a read end", &[others_reader.as_fd()][..]),
        ("a pipe without a reader", &[readerless.as_fd()][..]),
    ] {
        let id = client.send_with_fds("session.read", &read, fds);
        RpcError::of(&client.answer(id)).assert_invalid_in(what, "encoding");
    }
    writer.write_all(b"x").unwrap();
    let id = client.send_with_fds("session.read", &read, &[writer.as_fd()]);
    RpcError::of(&client.answer(id)).assert_invalid_in("a pipe that is not empty", "encoding");
    let command = merged(&read, &json!({ "number": 0 }));
    let id = client.send_with_fds("command.read", &command, &[writer.as_fd()]);
    RpcError::of(&client.answer(id)).assert_invalid_in("command.read", "encoding");
    let bad = merged(&read, &json!({ "since": 1, "tail_bytes": 1 }));
    let id = client.send_with_fds("session.read", &bad, &[others_writer.as_fd()]);
    RpcError::of(&client.answer(id)).assert_invalid("since");

    // Nothing was written, and nothing is open any more.
    drop((writer, others_writer));
    let mut left = String::new();
    reader.read_to_string(&mut left).unwrap();
    assert_eq!(left, "x");
    let mut others_reader = others_reader;
    assert_eq!(others_reader.read(&mut [0]).unwrap(), 0);
    assert_eq!(file.metadata().unwrap().len(), 0);
    assert_eq!(client.read_by_pipe(&read)["written"], 6);
}
