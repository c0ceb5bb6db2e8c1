use std::ffi::OsString;

use super::*;

fn options() -> Options {
    Options {
        agent: ["/opt/bin/some-agent", "serve"]
            .map(OsString::from)
            .to_vec(),
        ..Options::default()
    }
}

fn raw(text: &str) -> &RawValue {
    serde_json::from_str(text).unwrap()
}

/// Sends `initialize` with these params; returns the params that the agent receives.
fn requested(capabilities: &Capabilities, options: &Options, params: &str) -> String {
    let line = format!("{{\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n");
    let changed =
        capabilities.requested(options, &RequestId::of(raw("0")), &line, Some(raw(params)));
    let line = changed.unwrap_or(line);
    let params = Members::of(&line).unwrap().get("params").map(RawValue::get);
    params.unwrap().to_owned()
}

#[test]
fn a_client_of_version_1_without_terminals_has_ours() {
    // The client's params; the agent's, if they differ; whether the proxy answers `terminal/*`.
    let table = [
        (
            r#"{"protocolVersion":1}"#,
            r#"{"clientCapabilities":{"terminal":true},"protocolVersion":1}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":null}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":[1]}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            true,
        ),
        (
            r#"{"clientCapabilities":{"terminal": false ,"fs":{"x":1.0}},"protocolVersion":1}"#,
            r#"{"clientCapabilities":{"terminal": true ,"fs":{"x":1.0}},"protocolVersion":1}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":"true"}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":null}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":false}}}"#,
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true,"auth":{"terminal":false}}}"#,
            true,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#,
            "",
            false,
        ),
        (
            r#"{"protocolVersion":1,"clientCapabilities":{"terminal":false,"terminal":true}}"#,
            "",
            false,
        ),
        (r#"{"protocolVersion":2,"capabilities":{}}"#, "", false),
        (
            r#"{"protocolVersion":0,"clientCapabilities":{}}"#,
            "",
            false,
        ),
        (
            r#"{"protocolVersion":"1","clientCapabilities":{}}"#,
            "",
            false,
        ),
        (
            r#"{"protocolVersion":1.5,"clientCapabilities":{}}"#,
            "",
            false,
        ),
        (r#"{"protocolVersion":null}"#, "", false),
        ("{}", "", false),
        ("[1]", "", false),
    ];
    for (params, want, is_ours) in table {
        let capabilities = Capabilities::default();
        let want = if want.is_empty() { params } else { want };
        assert_eq!(requested(&capabilities, &options(), params), want);
        assert_eq!(capabilities.answers_terminals(), is_ours, "{params}");
    }
}

#[test]
fn taking_over_changes_nothing_in_the_line() {
    let capabilities = Capabilities::default();
    let taking_over = Options {
        take_over: true,
        ..options()
    };
    let params = r#"{"protocolVersion":1,"clientCapabilities":{"terminal":true}}"#;
    assert_eq!(requested(&capabilities, &taking_over, params), params);
    assert!(capabilities.answers_terminals());
    let params = r#"{"protocolVersion":2}"#;
    assert_eq!(requested(&capabilities, &taking_over, params), params);
    assert!(!capabilities.answers_terminals());
}

#[test]
fn the_agents_answer_decides() {
    let table = [
        (Some(r#"{"protocolVersion":1}"#), true),
        (Some("{}"), true),
        (Some(r#"{"protocolVersion":2}"#), false),
        (Some(r#"{"protocolVersion":0}"#), false),
        (None, false),
    ];
    for (result, is_ours) in table {
        let (capabilities, options) = (Capabilities::default(), options());
        requested(&capabilities, &options, r#"{"protocolVersion":1}"#);
        // Another request's answer is none.
        capabilities.answered(&options, &RequestId::of(raw("1")), None);
        assert!(capabilities.answers_terminals());
        capabilities.answered(&options, &RequestId::of(raw("0")), result.map(raw));
        assert_eq!(capabilities.answers_terminals(), is_ours, "{result:?}");
        // The last initialize counts.
        requested(&capabilities, &options, r#"{"protocolVersion":1}"#);
        assert!(capabilities.answers_terminals());
    }
}

#[test]
fn the_client_is_shown_terminals_as_it_understands_them() {
    let table: [(Option<DisplayMode>, &str, DisplayMode); 6] = [
        (None, "{}", DisplayMode::Text),
        (
            None,
            r#"{"_meta":{"terminal_output":true}}"#,
            DisplayMode::Meta,
        ),
        (
            None,
            r#"{"_meta":{"terminal_output":"true"}}"#,
            DisplayMode::Text,
        ),
        (None, r#"{"_meta":null}"#, DisplayMode::Text),
        (
            Some(DisplayMode::Off),
            r#"{"_meta":{"terminal_output":true}}"#,
            DisplayMode::Off,
        ),
        (Some(DisplayMode::Meta), "{}", DisplayMode::Meta),
    ];
    for (display, announced, want) in table {
        let capabilities = Capabilities::default();
        let params = format!(r#"{{"protocolVersion":1,"clientCapabilities":{announced}}}"#);
        let options = Options {
            display,
            ..options()
        };
        requested(&capabilities, &options, &params);
        assert_eq!(capabilities.display(), want, "{display:?} {announced}");
    }
}

#[test]
fn both_are_called_by_their_names() {
    let long = "n".repeat(200);
    let long_info = format!(r#"{{"name":"{long}","version":"1"}}"#);
    let cut = "n".repeat(MAX_PARTY_CHARS);
    let both_cut = format!("{cut} for {cut}");
    let table = [
        (
            r#"{"name":"c","version":"1"}"#,
            r#"{"name":"a","title":"A","version":"2"}"#,
            "a for c",
        ),
        (r#"{"name":"c"}"#, "null", "some-agent for c"),
        ("null", r#"{"name":" ","version":"2"}"#, "some-agent"),
        ("7", r#"{"name":"a","version":null}"#, "a"),
        (long_info.as_str(), long_info.as_str(), both_cut.as_str()),
    ];
    for (client, agent, want) in table {
        let (capabilities, options) = (Capabilities::default(), options());
        requested(
            &capabilities,
            &options,
            &format!(r#"{{"protocolVersion":1,"clientInfo":{client}}}"#),
        );
        let result = format!(r#"{{"protocolVersion":1,"agentInfo":{agent}}}"#);
        let parties = capabilities.answered(&options, &RequestId::of(raw("0")), Some(raw(&result)));
        assert_eq!(parties.map(|parties| parties.name()).as_deref(), Some(want));
        assert!(want.chars().count() <= 100);
    }
}
