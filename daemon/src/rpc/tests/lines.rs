//! What a line may be, and what is answered to one that is not.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::TestServer;

#[tokio::test]
async fn bad_lines_are_told_and_the_connection_goes_on() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for (line, code, kind) in [
        ("nonsense".to_owned(), -32700, "parse_error"),
        ("[".repeat(1 << 20), -32700, "parse_error"),
        ("[1,2]".to_owned(), -32600, "batch_unsupported"),
        ("{}".to_owned(), -32600, "invalid_request"),
        ("x".repeat(5 << 20), -32600, "line_too_long"),
    ] {
        client.send("\r\n \n").await;
        client.send(&line).await;
        let data = client.error(Value::Null, code, kind).await;
        if kind == "line_too_long" {
            assert_eq!(data["limit"], 4 << 20);
        }
        client.lives().await;
    }
    client
        .call("7", &format!("no\\u001b{}", "x".repeat(500)))
        .await;
    let data = client.error(json!(7), -32601, "method_not_found").await;
    let name = data["method"].as_str().unwrap();
    assert!(
        name.starts_with("no\\u{1b}xxx") && name.len() == 100,
        "{name}"
    );
    client.lives().await;
}

#[tokio::test]
async fn random_bytes_never_end_the_server() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    // A fixed xorshift: the same bytes in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut line = Vec::new();
    for _ in 0..10_000 {
        line.clear();
        for _ in 0..20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            line.push(state.to_le_bytes()[3]);
        }
        line.retain(|byte| *byte != b'\n');
        line.splice(0..0, *b"!");
        line.push(b'\n');
        client.0.get_mut().write_all(&line).await.unwrap();
        client.error(Value::Null, -32700, "parse_error").await;
    }
    client.lives().await;
}

#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for id in [
        "1",
        "-1",
        "1.50",
        "null",
        "1e400",
        "123456789012345678901234567890",
        r#""\u0061""#,
    ] {
        client.call(id, "echo").await;
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
        assert_eq!(client.line().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn every_error_has_a_kind_and_bad_params_a_field() {
    let server = TestServer::start();
    let mut client = server.connect().await;
    for (params, field) in [
        ("{}", "text"),
        (r#"{"text":5}"#, "text"),
        (r#"{"text":"a","numbers":[1,70000]}"#, "numbers[1]"),
        ("5", "params"),
    ] {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"typed","params":P}"#.replace('P', params);
        client.send(&line).await;
        let data = client.error(json!(1), -32602, "invalid_params").await;
        assert_eq!(data["field"], field, "{params}");
    }
    client.call("1", "fail").await;
    client.error(json!(1), -32050, "internal").await;
    client.call("2", "panic").await;
    client.error(json!(2), -32603, "internal").await;
    client.lives().await;
}
