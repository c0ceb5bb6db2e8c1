//! Long output: each omission is named.

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon};

/// Reads to the end: the text of all pages.
fn drain(client: &mut McpClient, id: &str, truncation: &str) -> String {
    let mut all = String::new();
    loop {
        let page = client.call(
            "session_read",
            &json!({ "session_id": id, "truncation": truncation, "mode": "stream" }),
        );
        let text = page["output"].as_str().unwrap();
        all.push_str(
            text.strip_suffix("\n... [output truncated]")
                .unwrap_or(text),
        );
        if page["truncated"] == false && page["is_alive"] == false {
            return all;
        }
    }
}

#[test]
fn a_million_lines_are_read_whole_by_paging() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    for truncation in ["none", "tail"] {
        let id = client.create("seq 1 1000000");
        let all = drain(&mut client, &id, truncation);
        let mut lines = all.lines();
        for number in 1..=1_000_000_u32 {
            assert_eq!(
                lines.next(),
                Some(number.to_string().as_str()),
                "{truncation}"
            );
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn what_is_left_out_is_named_and_can_be_fetched() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let id = client.create("seq 1 40000");
    daemon.client().ok("session.wait", &json!({ "id": id }));
    let read = |client: &mut McpClient, arguments: Value| client.call("session_read", &arguments);
    let both = read(
        &mut client,
        json!({ "session_id": id, "offset": 0, "truncation": "head_tail" }),
    );
    let text = both["output"].as_str().unwrap();
    assert!(
        text.starts_with("1\n2\n") && text.trim_end().ends_with("\n40000"),
        "{both}"
    );
    assert!(text.contains(" lines left out] ...\n"), "{both}");
    let gap = both["omitted"][0].clone();
    let middle = read(
        &mut client,
        json!({ "session_id": id, "offset": gap["from"], "truncation": "none" }),
    );
    let bytes =
        usize::try_from(gap["to"].as_u64().unwrap() - gap["from"].as_u64().unwrap()).unwrap();
    let (head, tail) = text.split_once("\n... [").unwrap();
    let (_, tail) = tail.split_once(" ...\n").unwrap();
    // A line end is two bytes of output (CR LF) and one of text.
    assert!(
        bytes > 0 && middle["output"].as_str().unwrap().ends_with(tail),
        "{gap} {}",
        head.len()
    );
    let last = read(
        &mut client,
        json!({ "session_id": id, "offset": 0, "truncation": "tail_only" }),
    );
    let text = last["output"].as_str().unwrap();
    assert!(text.starts_with("[output truncated] ...\n") && text.ends_with("40000\n"));
    assert_eq!(last["omitted"][0]["from"], 0, "{}", last["omitted"]);
}
