//! A conversation with every method of ACP v1 passes byte for byte in both directions.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use termd_test_support::{Home, TestDaemon};

use crate::harness::proxy::AcpProxy;

/// One message a line, with its sender. The member `message` is what passes.
const CONVERSATION: &str = include_str!("conversation.jsonl");

/// Every `x-method` of ACP v1's schema, and its receiver.
const METHODS: [(&str, Party); 25] = [
    ("authenticate", Party::Agent),
    ("initialize", Party::Agent),
    ("logout", Party::Agent),
    ("session/cancel", Party::Agent),
    ("session/close", Party::Agent),
    ("session/delete", Party::Agent),
    ("session/list", Party::Agent),
    ("session/load", Party::Agent),
    ("session/new", Party::Agent),
    ("session/prompt", Party::Agent),
    ("session/resume", Party::Agent),
    ("session/set_config_option", Party::Agent),
    ("session/set_mode", Party::Agent),
    ("elicitation/complete", Party::Client),
    ("elicitation/create", Party::Client),
    ("fs/read_text_file", Party::Client),
    ("fs/write_text_file", Party::Client),
    ("session/request_permission", Party::Client),
    ("session/update", Party::Client),
    ("terminal/create", Party::Client),
    ("terminal/kill", Party::Client),
    ("terminal/output", Party::Client),
    ("terminal/release", Party::Client),
    ("terminal/wait_for_exit", Party::Client),
    ("$/cancel_request", Party::Client),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Party {
    Client,
    Agent,
}

#[derive(Debug, Deserialize)]
struct RecordedMessage<'a> {
    from: Party,
    #[serde(borrow)]
    message: &'a RawValue,
}

fn conversation() -> impl Iterator<Item = (Party, &'static str, Value)> {
    CONVERSATION.lines().map(|line| {
        let message: RecordedMessage<'_> = serde_json::from_str(line).unwrap();
        let value = serde_json::from_str(message.message.get()).unwrap();
        (message.from, message.message.get(), value)
    })
}

#[test]
fn the_conversation_has_every_method() {
    let methods: HashSet<(String, Party)> = conversation()
        .filter_map(|(from, text, _)| {
            let message: Value = serde_json::from_str(text).unwrap();
            let to = match from {
                Party::Client => Party::Agent,
                Party::Agent => Party::Client,
            };
            Some((message.get("method")?.as_str()?.to_owned(), to))
        })
        .collect();
    for (method, to) in METHODS {
        assert!(methods.contains(&(method.to_owned(), to)), "{method}");
    }
}

#[test]
fn it_passes_byte_for_byte_to_a_client_that_has_terminals() {
    let home = Home::create();
    let mut proxy = AcpProxy::spawn(&home, &[]);
    for (from, text, _) in conversation() {
        let line = format!("{text}\n");
        let (says, receiver) = match from {
            Party::Client => (&mut proxy.client, &mut proxy.agent),
            Party::Agent => (&mut proxy.agent, &mut proxy.client),
        };
        says.write(line.as_bytes());
        let received = String::from_utf8(receiver.raw().unwrap()).unwrap();
        assert_eq!(received, line);
    }
    // No daemon was started.
    assert!(!home.socket().exists());
}

#[test]
fn where_terminals_are_answered_here_all_else_passes() {
    // The proxy connects in the background after `initialize`.
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::spawn(&daemon, &[]);
    for (from, text, value) in conversation() {
        let method = value["method"].as_str().unwrap_or_default();
        let is_own = method.starts_with("terminal/")
            || value["id"].as_str().is_some_and(|id| id.starts_with("t-"))
            // The proxy itself shows a tool call that embeds a terminal.
            || value["params"]["update"]["toolCallId"] == "call_2";
        if is_own {
            continue;
        }
        let (says, receiver) = match from {
            Party::Client => (&mut proxy.client, &mut proxy.agent),
            Party::Agent => (&mut proxy.agent, &mut proxy.client),
        };
        // The client has no terminals, and the agent is told that it has.
        let without = text.replacen("\"terminal\":true", "\"terminal\":false", 1);
        says.write(format!("{without}\n").as_bytes());
        let received = String::from_utf8(receiver.raw().unwrap()).unwrap();
        assert_eq!(received, format!("{text}\n"));
    }
}
