//! ACP's JSON Schema, version 1.
//!
//! The schema allows members that it does not name. termd writes none (apart from `_meta`), so the
//! definitions of [`CLOSED`] are closed here and a misspelled optional member is found.

use std::collections::HashMap;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

/// The base address of the definitions.
const PLACE: &str = "https://agentclientprotocol.com/schema.v1.json";
/// Definitions of what termd writes alone.
const CLOSED: [&str; 10] = [
    "CreateTerminalResponse",
    "TerminalOutputResponse",
    "TerminalExitStatus",
    "WaitForTerminalExitResponse",
    "KillTerminalResponse",
    "ReleaseTerminalResponse",
    "RequestPermissionRequest",
    "PermissionOption",
    "CancelRequestNotification",
    "Error",
];

/// Methods of drafts that the schema lacks, and the methods that they resemble.
const DRAFTS: [(&str, &str); 1] = [("session/fork", "session/new")];

/// The reader of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    ToClient,
    ToAgent,
}

impl Direction {
    /// The schema's word for the party that answers a method.
    fn side(self) -> &'static str {
        match self {
            Self::ToClient => "client",
            Self::ToAgent => "agent",
        }
    }

    /// The reader of the answer.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::ToClient => Self::ToAgent,
            Self::ToAgent => Self::ToClient,
        }
    }
}

/// The part of a method that a definition describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Params,
    Result,
}

struct Schema {
    schemas: Schemas,
    /// By the answering party, the method, and the part.
    methods: HashMap<(String, String, Part), SchemaIndex>,
    error: SchemaIndex,
    id: SchemaIndex,
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut text: Value =
        serde_json::from_str(include_str!("../reference/schema.v1.json")).unwrap();
    for name in CLOSED {
        let definition = text["$defs"][name].as_object_mut().unwrap();
        assert!(definition.contains_key("properties"), "{name}");
        definition.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    let mut compiler = Compiler::new();
    compiler.add_resource(PLACE, text.clone()).unwrap();
    let mut schemas = Schemas::new();
    let mut compiled = |name: &str| {
        let place = format!("{PLACE}#/$defs/{name}");
        compiler.compile(&place, &mut schemas).unwrap()
    };
    let mut methods = HashMap::new();
    for (name, definition) in text["$defs"].as_object().unwrap() {
        let (Some(method), Some(side)) = (
            definition["x-method"].as_str(),
            definition["x-side"].as_str(),
        ) else {
            continue;
        };
        let part = if name.ends_with("Response") {
            Part::Result
        } else {
            Part::Params
        };
        let index = compiled(name);
        methods.insert((side.to_owned(), method.to_owned(), part), index);
    }
    let (error, id) = (compiled("Error"), compiled("RequestId"));
    Schema {
        schemas,
        methods,
        error,
        id,
    }
});

impl Schema {
    fn check(&self, index: SchemaIndex, value: &Value) -> Result<(), String> {
        let checked = self.schemas.validate(value, index);
        checked.map_err(|error| format!("{error:#}"))
    }

    fn method(&self, answers: Direction, method: &str, part: Part) -> Option<SchemaIndex> {
        ["protocol", answers.side()].iter().find_map(|side| {
            let key = ((*side).to_owned(), method.to_owned(), part);
            self.methods.get(&key).copied()
        })
    }
}

/// Whether this is a message of ACP v1 to that reader. `answered_method` is the method that an
/// answer belongs to. A method that begins with `_` may have any params.
pub(crate) fn validate(
    direction: Direction,
    message: &Value,
    answered_method: Option<&str>,
) -> Result<(), String> {
    let schema = &*SCHEMA;
    if message["jsonrpc"] != "2.0" {
        return Err("jsonrpc is not \"2.0\"".to_owned());
    }
    // An answer repeats the id of its request, whatever its type.
    if answered_method.is_none()
        && let Some(id) = message.get("id")
    {
        schema.check(schema.id, id)?;
    }
    let Some(method) = message.get("method") else {
        return validate_answer(direction, message, answered_method);
    };
    let method = method.as_str().ok_or("a method that is no string")?;
    only(message, &["jsonrpc", "id", "method", "params"])?;
    if method.starts_with('_') {
        return Ok(());
    }
    let draft = DRAFTS.iter().find(|(draft, _)| *draft == method);
    let method = draft.map_or(method, |(_, like)| like);
    let index = schema
        .method(direction, method, Part::Params)
        .ok_or_else(|| format!("{method} is not for the {}", direction.side()))?;
    let is_notification = method == "session/update" || method.starts_with("$/");
    if is_notification == message.get("id").is_some() {
        return Err(format!("{method}: request and notification mixed up"));
    }
    schema.check(index, message.get("params").unwrap_or(&Value::Null))
}

fn validate_answer(
    direction: Direction,
    message: &Value,
    answered_method: Option<&str>,
) -> Result<(), String> {
    only(message, &["jsonrpc", "id", "result", "error"])?;
    match (
        message.get("id"),
        message.get("result"),
        message.get("error"),
    ) {
        (Some(_), None, Some(error)) => SCHEMA.check(SCHEMA.error, error),
        (Some(_), Some(result), None) => {
            let method = answered_method.ok_or("answers no request")?;
            match SCHEMA.method(direction.other(), method, Part::Result) {
                Some(index) => SCHEMA.check(index, result),
                None if method.starts_with('_') => Ok(()),
                None => Err(format!("a result of {method}, which is no method")),
            }
        }
        _ => Err("neither a request nor an answer".to_owned()),
    }
}

fn only(message: &Value, names: &[&str]) -> Result<(), String> {
    let members = message.as_object().ok_or("no object")?;
    match members.keys().find(|name| !names.contains(&name.as_str())) {
        Some(stray) => Err(format!("a stray member: {stray}")),
        None => Ok(()),
    }
}

/// Fails the test unless the message is valid.
#[track_caller]
pub(crate) fn assert_valid(direction: Direction, message: &Value, answered_method: Option<&str>) {
    if let Err(error) = validate(direction, message, answered_method) {
        panic!("{error}\nin {message}");
    }
}

#[test]
fn messages_as_the_page_of_the_protocol_shows_them_are_valid() {
    use Direction::{ToAgent, ToClient};
    let create = json!({ "jsonrpc": "2.0", "id": 5, "method": "terminal/create", "params": {
        "sessionId": "sess_1", "command": "npm", "args": ["test"],
        "env": [{ "name": "NODE_ENV", "value": "test" }], "cwd": "/home", "outputByteLimit": 1,
    } });
    assert_valid(ToClient, &create, None);
    let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": 5, "result": result });
    let answers = [
        ("terminal/create", json!({ "terminalId": "t" })),
        (
            "terminal/output",
            json!({ "output": "", "truncated": false, "exitStatus": { "exitCode": 0, "signal": null } }),
        ),
        (
            "terminal/wait_for_exit",
            json!({ "exitCode": null, "signal": "SIGKILL" }),
        ),
        ("terminal/kill", json!({})),
        ("terminal/release", json!({ "_meta": { "termd": {} } })),
    ];
    for (method, result) in answers {
        assert_valid(ToAgent, &answer(result), Some(method));
    }
    let update = json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
        "sessionId": "s",
        "update": { "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t",
            "content": [{ "type": "terminal", "terminalId": "t" }] },
    } });
    assert_valid(ToClient, &update, None);
}

#[test]
fn what_is_wrong_is_seen() {
    use Direction::{ToAgent, ToClient};
    let output = Some("terminal/output");
    let table = [
        (ToAgent, output, json!({ "id": 1, "result": {} }), "jsonrpc"),
        (
            ToAgent,
            None,
            json!({ "jsonrpc": "2.0", "id": {}, "result": {} }),
            "want",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "result": {} }),
            "neither",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "output": "" } }),
            "truncated",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "output": "", "truncated": false, "exit": 1 } }),
            "exit",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "output": "", "truncated": false, "exitStatus": { "exitCode": -1 } } }),
            "exitCode",
        ),
        (
            ToAgent,
            None,
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            "no request",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1.5, "message": "" } }),
            "code",
        ),
        (
            ToAgent,
            output,
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1 } }),
            "message",
        ),
        (
            ToAgent,
            None,
            json!({ "jsonrpc": "2.0", "id": 1, "method": "terminal/kill", "params": {} }),
            "not for",
        ),
        (
            ToClient,
            None,
            json!({ "jsonrpc": "2.0", "id": 1, "method": "terminal/kill", "params": {} }),
            "sessionId",
        ),
        (
            ToClient,
            None,
            json!({ "jsonrpc": "2.0", "id": 1, "method": "session/update", "params": {} }),
            "mixed up",
        ),
        (
            ToClient,
            None,
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": {
                "sessionUpdate": "tool_call", "title": "t",
            } } }),
            "toolCallId",
        ),
        (
            ToClient,
            None,
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": {
                "sessionUpdate": "tool_call_update", "toolCallId": "c",
                "content": [{ "type": "content", "content": { "type": "text" } }],
            } } }),
            "text",
        ),
        (
            ToClient,
            None,
            json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "id": 1 } }),
            "requestId",
        ),
    ];
    for (direction, answered_method, message, want) in table {
        let error = validate(direction, &message, answered_method).unwrap_err();
        assert!(error.contains(want), "{message}: {error}");
    }
}
