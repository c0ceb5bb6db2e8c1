//! Texts before and after, as tables.

use super::clients::{CLIENTS, Format};
use super::*;

const ALL_JSON: [Format; 6] = [
    Format::McpServers,
    Format::TypedMcpServers,
    Format::CopilotMcpServers,
    Format::VsCodeServers,
    Format::ZedContextServers,
    Format::OpenCodeMcp,
];

fn server() -> Server {
    Server {
        name: "termd".to_owned(),
        command: "/opt/termctl".to_owned(),
        args: Arguments::Set(vec!["mcp".to_owned()]),
        env: Vec::new(),
    }
}

#[track_caller]
fn added(format: Format, text: &str) -> Edited {
    edit(format, text, &server(), Action::Add).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

#[track_caller]
fn removed(format: Format, text: &str) -> Edited {
    edit(format, text, &server(), Action::Remove).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

#[track_caller]
fn fault(format: Format, text: &str) -> String {
    edit(format, text, &server(), Action::Add)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_file_that_is_not_there_or_empty_gets_the_entry_alone() {
    let want = [
        (
            Format::McpServers,
            r#"{
  "mcpServers": {
    "termd": {
      "command": "/opt/termctl",
      "args": ["mcp"]
    }
  }
}
"#,
        ),
        (
            Format::VsCodeServers,
            r#"{
  "servers": {
    "termd": {
      "type": "stdio",
      "command": "/opt/termctl",
      "args": ["mcp"]
    }
  }
}
"#,
        ),
        (
            Format::OpenCodeMcp,
            r#"{
  "mcp": {
    "termd": {
      "type": "local",
      "command": ["/opt/termctl", "mcp"],
      "enabled": true
    }
  }
}
"#,
        ),
        (
            Format::CodexToml,
            "[mcp_servers.termd]\ncommand = \"/opt/termctl\"\nargs = [\"mcp\"]\n",
        ),
    ];
    for (format, text) in want {
        for nothing in ["", "\n"] {
            let edited = added(format, nothing);
            assert_eq!(edited.text.trim_start(), text, "{format:?}");
            assert_eq!(edited.change, Change::Added);
        }
    }
}

/// Before and after, byte for byte.
#[test]
fn everything_else_stays_as_it_is() {
    let table = [
        (
            "a neighbour",
            Format::McpServers,
            "{\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" }\n    }\n}",
            "{\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" },\n        \"termd\": {\n            \"command\": \"/opt/termctl\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}",
        ),
        (
            "comments, trailing commas, order, tabs, odd spacing",
            Format::ZedContextServers,
            "// Zed settings\n{\n\t\"theme\" :  \"One\", // mine\n\t/* before */\n\t\"context_servers\": {\n\t\t\"b\": { \"command\": \"b\", }, // b\n\t\t\"a\": { \"command\": \"a\", },\n\t},\n\t\"vim_mode\":true,\n}\n// end\n",
            "// Zed settings\n{\n\t\"theme\" :  \"One\", // mine\n\t/* before */\n\t\"context_servers\": {\n\t\t\"b\": { \"command\": \"b\", }, // b\n\t\t\"a\": { \"command\": \"a\", },\n\t\t\"termd\": {\n\t\t\t\"command\": \"/opt/termctl\",\n\t\t\t\"args\": [\"mcp\"],\n\t\t},\n\t},\n\t\"vim_mode\":true,\n}\n// end\n",
        ),
        (
            "a comment behind the last member",
            Format::VsCodeServers,
            "{\n  \"inputs\": [] // none\n}\n",
            "{\n  \"inputs\": [], // none\n  \"servers\": {\n    \"termd\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/termctl\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
        ),
        (
            "a byte order mark and CRLF",
            Format::McpServers,
            "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
            "\u{feff}{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"termd\": {\r\n      \"command\": \"/opt/termctl\",\r\n      \"args\": [\"mcp\"]\r\n    }\r\n  }\r\n}\r\n",
        ),
        (
            "TOML with comments",
            Format::CodexToml,
            "# mine\nmodel = \"o\"  # best\n\n[mcp_servers.b]\ncommand = 'b'\n",
            "# mine\nmodel = \"o\"  # best\n\n[mcp_servers.b]\ncommand = 'b'\n\n[mcp_servers.termd]\ncommand = \"/opt/termctl\"\nargs = [\"mcp\"]\n",
        ),
        (
            "TOML without a newline at its end",
            Format::CodexToml,
            "model = \"o\"",
            "model = \"o\"\n\n[mcp_servers.termd]\ncommand = \"/opt/termctl\"\nargs = [\"mcp\"]",
        ),
        (
            "TOML with servers in one line",
            Format::CodexToml,
            "mcp_servers = { b = { command = \"b\" } } # all\n",
            "mcp_servers = { b = { command = \"b\" } , termd = { command = \"/opt/termctl\", args = [\"mcp\"] } } # all\n",
        ),
    ];
    for (what, format, before, after) in table {
        let edited = added(format, before);
        assert_eq!(edited.text, after, "{what}");
        assert_eq!(edited.change, Change::Added, "{what}");
    }
}

#[test]
fn doing_it_twice_is_doing_it_once() {
    for format in ALL_JSON.into_iter().chain([Format::CodexToml]) {
        let once = added(format, "").text;
        let twice = added(format, &once);
        assert_eq!(
            twice,
            Edited::unchanged(Change::AlreadyThere, &once),
            "{format:?}"
        );
    }
}

/// What is added is taken out again, to the byte, where the container was there before.
#[test]
fn removing_undoes_adding() {
    let table = [
        (
            Format::McpServers,
            "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n",
        ),
        (
            Format::ZedContextServers,
            "{\n  // servers\n  \"context_servers\": {\n    \"a\": { \"command\": \"a\", },\n  },\n}\n",
        ),
        (
            Format::VsCodeServers,
            "{\n\t\"servers\": {\n\t\t\"a\": {\"type\": \"http\", \"url\": \"u\"}\n\t},\n\t\"inputs\": []\n}",
        ),
        (
            Format::CodexToml,
            "# a\nmodel = \"o\"\n\n[mcp_servers.b]\ncommand = 'b' # b\n",
        ),
        (Format::CodexToml, "model = \"o\""),
        (
            Format::CodexToml,
            "model = \"o\"\r\n[a]\r\nb = \"\"\"\r\nc\"\"\" # d\r\n",
        ),
        (
            Format::ZedContextServers,
            "{\n  // a\n  \"theme\": \"b\"\n}\n",
        ),
        (Format::McpServers, "{\n  \"a\": 1\n}\n"),
    ];
    for (format, before) in table {
        let with = added(format, before).text;
        let without = removed(format, &with);
        assert_eq!(without.change, Change::Removed);
        assert_eq!(without.text, before);
        assert_eq!(
            removed(format, before),
            Edited::unchanged(Change::NotThere, before)
        );
    }
    for format in ALL_JSON.into_iter().chain([Format::CodexToml]) {
        assert_eq!(removed(format, ""), Edited::unchanged(Change::NotThere, ""));
    }
}

#[test]
fn an_entry_of_an_older_termctl_is_mended_and_keeps_what_its_owner_added() {
    let table = [
        (
            Format::McpServers,
            r#"{"mcpServers": {"termd": {"disabled": true, "command": "/old/termctl", "args": ["mcp"], "autoApprove": ["session_list"]}}}"#,
            r#"{"mcpServers": {"termd": {"disabled": true, "command": "/opt/termctl", "args": ["mcp"], "autoApprove": ["session_list"]}}}"#,
        ),
        (
            Format::OpenCodeMcp,
            r#"{"mcp": {"termd": {"type": "local", "command": ["/old/termctl", "mcp"], "enabled": false}}}"#,
            r#"{"mcp": {"termd": {"type": "local", "command": ["/opt/termctl", "mcp"], "enabled": false}}}"#,
        ),
        (
            Format::CodexToml,
            "[mcp_servers.termd]\nstartup_timeout_sec = 3\ncommand = \"/old/termctl\" # here\nargs = [\"mcp\"]\n\n[x]\ny = 1\n",
            "[mcp_servers.termd]\nstartup_timeout_sec = 3\ncommand = \"/opt/termctl\" # here\nargs = [\"mcp\"]\n\n[x]\ny = 1\n",
        ),
    ];
    for (format, before, after) in table {
        let edited = added(format, before);
        assert_eq!(edited.change, Change::Updated);
        assert_eq!(edited.text, after);
    }
}

#[test]
fn variables_are_added_to_those_that_are_there() {
    let with_env = Server {
        env: vec![("K".to_owned(), "a\"b\\c".to_owned())],
        ..server()
    };
    let before = r#"{"mcpServers": {"termd": {"command": "/opt/termctl", "args": ["mcp"], "env": {"MINE": "1"}}}}"#;
    let edited = edit(Format::McpServers, before, &with_env, Action::Add).unwrap();
    let value: serde_json::Value = serde_json::from_str(&edited.text).unwrap();
    let env = &value["mcpServers"]["termd"]["env"];
    assert_eq!(env["MINE"], "1");
    assert_eq!(env["K"], "a\"b\\c");
    let again = edit(Format::McpServers, &edited.text, &with_env, Action::Add).unwrap();
    assert_eq!(again.change, Change::AlreadyThere);
    // Without --env nothing is said of variables.
    assert_eq!(
        added(Format::McpServers, &edited.text).change,
        Change::AlreadyThere
    );

    let codex = edit(Format::CodexToml, "", &with_env, Action::Add).unwrap();
    let again = edit(Format::CodexToml, &codex.text, &with_env, Action::Add).unwrap();
    assert_eq!(again.change, Change::AlreadyThere, "{}", codex.text);
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    let table = [
        (
            Format::McpServers,
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            "2:9: expected comma",
        ),
        (Format::McpServers, "{\n  \"a\": ", "2:8: "),
        (Format::McpServers, "{'a': 1}", "1:2: "),
        (
            Format::McpServers,
            "[]",
            "1:1: the settings are not an object",
        ),
        (
            Format::McpServers,
            "{\n  \"mcpServers\": []\n}",
            "2:17: \"mcpServers\" is not an object",
        ),
        (
            Format::ZedContextServers,
            "{\"context_servers\": {}, \"context_servers\": {}}",
            "1:25: \"context_servers\" is there twice",
        ),
        (
            Format::McpServers,
            "{\"mcpServers\": {\"termd\": {\"command\": \"/bin/other\"}}}",
            "1:26: \"termd\" is another server's entry",
        ),
        (
            Format::McpServers,
            "{\"mcpServers\": {\"termd\": {\"url\": \"https://x\"}}}",
            "1:26: \"termd\" is another server's entry",
        ),
        (Format::CodexToml, "a = 1\nb = \n", "2:"),
        (
            Format::CodexToml,
            "\nmcp_servers = 3\n",
            "2:15: mcp_servers is not a table",
        ),
        (
            Format::CodexToml,
            "[mcp_servers.termd]\ncommand = \"x\"\n",
            "\"termd\" is another server's entry",
        ),
    ];
    for (format, text, want) in table {
        let said = fault(format, text);
        assert!(said.contains(want), "{text}: {said}, not {want}");
    }
}

/// Whatever is cut off a file, there is an edit that means only the entry, or a fault; no panic.
#[test]
fn cut_texts_are_refused_or_edited_and_never_panic() {
    let zed = "// é\n{\n\t\"a\": [1, {\"b\": null,}], /* ü */ \"context_servers\": {\"x\": {\"command\": \"y\"}},\n}\n";
    let codex = "# é\na = [1, {b = 'ü'}]\n[mcp_servers]\nx = {command = \"y\"}\n[mcp_servers.z]\ncommand = \"\"\"q\"\"\"\n";
    for (format, text) in [(Format::ZedContextServers, zed), (Format::CodexToml, codex)] {
        for cut in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let part = &text[..cut];
            if let Ok(edited) = edit(format, part, &server(), Action::Add) {
                let again = added(format, &edited.text);
                assert_eq!(again.change, Change::AlreadyThere, "{part:?}");
            }
        }
    }
}

#[test]
fn each_client_has_a_name_of_its_own_and_prints_what_adding_writes() {
    let mut names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CLIENTS.len());
    for client in CLIENTS {
        let printed = fragment(client.format, &server());
        assert!(
            printed.contains("/opt/termctl") && printed.ends_with('\n'),
            "{printed}"
        );
        if client.format != Format::GooseYaml {
            assert_eq!(printed, added(client.format, "").text);
        }
    }
    let goose = fragment(Format::GooseYaml, &server());
    assert_eq!(
        goose,
        "extensions:\n  termd:\n    name: \"termd\"\n    type: \"stdio\"\n    cmd: \"/opt/termctl\"\n    args: [\"mcp\"]\n    enabled: true\n"
    );
}

/// A person who registered termctl with some sets of tools keeps them, whatever a new entry gets.
#[test]
fn an_entry_keeps_its_tools_unless_others_are_named() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let with = |args: Arguments| Server { args, ..server() };
    let initial = with(Arguments::Initial(words(&["mcp", "--tools", "lean"])));
    for (format, text, kept) in [
        (
            Format::McpServers,
            r#"{"mcpServers": {"termd": {"command": "/old/termctl", "args": ["mcp"]}}}"#,
            r#"["mcp"]"#,
        ),
        (
            Format::OpenCodeMcp,
            r#"{"mcp": {"termd": {"type": "local", "command": ["/old/termctl", "mcp", "--tools", "terminal"]}}}"#,
            r#"["/opt/termctl", "mcp", "--tools", "terminal"]"#,
        ),
        (
            Format::CodexToml,
            "[mcp_servers.termd]\ncommand = \"/old/termctl\"\nargs = [\"mcp\"]\n",
            r#"["mcp"]"#,
        ),
    ] {
        let edited = edit(format, text, &initial, Action::Add).unwrap();
        assert_eq!(edited.change, Change::Updated, "{}", edited.text);
        assert!(edited.text.contains(kept), "{}", edited.text);
        let again = edit(format, &edited.text, &initial, Action::Add).unwrap();
        assert_eq!(again.change, Change::AlreadyThere, "{}", again.text);
        let named = with(Arguments::Set(words(&["mcp", "--tools", "session"])));
        let named = edit(format, text, &named, Action::Add).unwrap();
        assert!(
            named.text.contains(r#""--tools", "session"]"#),
            "{}",
            named.text
        );
        let new = edit(format, "", &initial, Action::Add).unwrap();
        assert!(new.text.contains(r#""--tools", "lean"]"#), "{}", new.text);
    }
}
