//! Terminals that print numbered lines, and reading what is kept of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{RawClient, merged, sh};

/// A mebibyte.
pub(crate) const MIB: u64 = 1 << 20;

/// A terminal that keeps 64 KiB of its output in memory: its id.
pub(crate) fn create(client: &mut RawClient, script: &str) -> String {
    client.create_terminal(&merged(
        &sh(script),
        &json!({ "output_byte_limit": 65_536 }),
    ))
}

/// The rows of a screen and its scrollback.
pub(crate) fn rows(client: &mut RawClient, id: &str) -> Vec<String> {
    let screen = client.ok("session.screen", &json!({ "id": id, "from_row": -10_000 }));
    let lines = screen["lines"].as_array().unwrap().iter();
    lines.map(|line| line["runs"].to_string()).collect()
}

/// The bytes of numbered lines, 8 bytes each, between two offsets.
pub(crate) fn expected(from: u64, to: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in from / 8..to.div_ceil(8) {
        let mut line = *b"0000000\n";
        let (mut left, mut at) = (number, 7);
        while left > 0 {
            at -= 1;
            line[at] += u8::try_from(left % 10).unwrap();
            left /= 10;
        }
        bytes.extend_from_slice(&line);
    }
    let skip = usize::try_from(from % 8).unwrap();
    let length = usize::try_from(to - from).unwrap();
    bytes.drain(..skip);
    bytes.truncate(length);
    bytes
}

/// A script that prints this many bytes of numbered lines.
pub(crate) fn lines(bytes: u64) -> String {
    format!("stty raw -echo; seq -w 0 9999999 | head -c {bytes}")
}

/// Reads all output: the pieces between gaps with their offsets, and the gaps.
pub(crate) fn pieces(client: &mut RawClient, id: &str) -> (Vec<(u64, Vec<u8>)>, Vec<Value>) {
    let (mut pieces, mut gaps): (Vec<(u64, Vec<u8>)>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        let page = client.ok(
            "session.read",
            &json!({ "id": id, "since": at, "max_bytes": 1 << 20, "encoding": "base64" }),
        );
        let (start, end) = (
            page["start"].as_u64().unwrap(),
            page["end"].as_u64().unwrap(),
        );
        let bytes = STANDARD.decode(page["data"].as_str().unwrap()).unwrap();
        assert_eq!(end, start + bytes.len() as u64, "{page}");
        if start > at {
            let gap = page["gap"].clone();
            assert!(gap["start"].as_u64().unwrap() <= at, "{gap}");
            assert_eq!(gap["end"], start, "{gap}");
            gaps.push(gap);
        } else {
            assert_eq!(page["gap"], Value::Null, "{}", page["start"]);
        }
        match pieces.last_mut() {
            Some((_, piece)) if start == at => piece.extend(bytes),
            _ => pieces.push((start, bytes)),
        }
        assert!(
            end > at || page["at_end"] == true,
            "the read does not advance: {at}"
        );
        at = end;
        if page["at_end"] == true {
            return (pieces, gaps);
        }
    }
}

/// Waits until nothing of any terminal is on its way to the database.
pub(crate) fn wait_until_stored(client: &mut RawClient) {
    client.wait_until_stored();
    // The list comes from the database, behind everything else that is queued for it.
    client.ok("session.list", &json!({ "scope": "all" }));
}
