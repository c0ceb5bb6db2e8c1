#![allow(dead_code)]

use super::*;

#[derive(JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1))]
    session_id: String,
    #[schemars(range(min = 1, max = 100), extend("default" = 24))]
    rows: u16,
    press_enter: Option<bool>,
    mode: Option<Mode>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum Mode {
    Auto,
    Diff,
}

fn schema() -> InputSchema {
    InputSchema::of::<Arguments>()
}

#[test]
fn bad_arguments_are_told_how_to_mend_them() {
    let table = [
        (json!({}), "'session_id' is required"),
        (json!({ "session_id": null }), "'session_id' is required"),
        (json!({ "session_id": "" }), "'session_id' may not be empty"),
        (
            json!({ "sesion_id": "a" }),
            "there is no parameter 'sesion_id': did you mean 'session_id'?",
        ),
        (
            json!({ "session_id": "a", "zzzzzzzzz": 1 }),
            "there is no parameter 'zzzzzzzzz'; there are: session_id, mode, press_enter, rows",
        ),
        (
            json!({ "session_id": "a", "rows": "5" }),
            "'rows' has to be of type integer, not string",
        ),
        (
            json!({ "session_id": "a", "rows": 5.5 }),
            "'rows' has to be of type integer, not number",
        ),
        (
            json!({ "session_id": "a", "rows": 0 }),
            "'rows' has to be from 1 to 100",
        ),
        (
            json!({ "session_id": "a", "mode": "x" }),
            "'mode' has to be one of: auto diff",
        ),
    ];
    for (arguments, want) in table {
        let Value::Object(mut arguments) = arguments else {
            unreachable!()
        };
        let error = schema().check(&mut arguments).unwrap_err();
        assert_eq!(error.to_string(), want);
    }
}

#[test]
fn defaults_are_filled_in_and_nulls_taken_out() {
    let Value::Object(mut arguments) = json!({ "session_id": "a", "rows": 30.0, "mode": null })
    else {
        unreachable!()
    };
    schema().check(&mut arguments).unwrap();
    assert_eq!(json!(arguments), json!({ "session_id": "a", "rows": 30 }));
    arguments.remove("rows");
    schema().check(&mut arguments).unwrap();
    assert_eq!(arguments["rows"], 24);
}

#[test]
fn a_null_that_says_something_is_kept_and_lists_have_bounds() {
    #[derive(JsonSchema)]
    struct Arguments {
        #[schemars(extend("default" = 0))]
        code: Option<i64>,
        #[schemars(length(min = 1, max = 2))]
        items: Option<Vec<String>>,
    }
    let schema = InputSchema::of::<Arguments>();
    let check = |arguments: Value| {
        let Value::Object(mut arguments) = arguments else {
            unreachable!()
        };
        let checked = schema.check(&mut arguments);
        checked
            .map(|()| json!(arguments))
            .map_err(|error| error.to_string())
    };
    assert_eq!(check(json!({ "code": null })), Ok(json!({ "code": null })));
    assert_eq!(check(json!({})), Ok(json!({ "code": 0 })));
    assert_eq!(check(json!({ "items": null })), Ok(json!({ "code": 0 })));
    let table = [
        (
            json!({ "code": "1" }),
            "'code' has to be of type integer, not string",
        ),
        (json!({ "items": [] }), "'items' has to have 1 to 2 items"),
        (
            json!({ "items": ["a", "b", "c"] }),
            "'items' has to have 1 to 2 items",
        ),
    ];
    for (arguments, want) in table {
        assert_eq!(check(arguments), Err(want.to_owned()));
    }
}

#[test]
fn a_schema_is_as_short_as_a_model_reads_it() {
    /// One of two.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    enum Word {
        /// The first.
        One,
        /// The second.
        Two,
    }
    #[derive(JsonSchema)]
    #[schemars(transparent, extend("default" = 5))]
    struct Seconds(#[schemars(range(min = 0, max = 9))] u64);
    /// Not shown.
    #[derive(JsonSchema)]
    struct Arguments {
        /// A text
        /// of two lines
        text: Option<String>,
        word: Word,
        other: Option<Word>,
        /// Off unless said
        #[schemars(extend("default" = false))]
        flag: bool,
        #[schemars(flatten)]
        more: More,
    }
    #[derive(JsonSchema)]
    struct More {
        /// Most seconds
        timeout: Seconds,
        #[schemars(extend("default" = null))]
        pattern: Option<String>,
        env: Option<std::collections::BTreeMap<String, String>>,
        any: Option<Map<String, Value>>,
        list: Vec<Item>,
    }
    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    struct Item {
        id: String,
    }
    let mut schema = InputSchema::of::<Arguments>();
    schema.set_default("word", "two".into());
    let want = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["list"],
        "properties": {
            "text": { "type": "string", "description": "A text of two lines" },
            "word": {
                "type": "string", "enum": ["one", "two"], "default": "two",
                "description": "One of two.",
            },
            "other": {
                "type": "string", "enum": ["one", "two"], "description": "One of two.",
            },
            "flag": { "type": "boolean", "default": false, "description": "Off unless said" },
            "timeout": {
                "type": "integer", "minimum": 0, "maximum": 9, "default": 5,
                "description": "Most seconds",
            },
            "pattern": { "type": ["string", "null"] },
            "env": { "type": "object", "additionalProperties": { "type": "string" } },
            "any": { "type": "object" },
            "list": {
                "type": "array",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["id"],
                    "properties": { "id": { "type": "string" } },
                },
            },
        },
    });
    assert_eq!(json!(schema.0), want);
    let shown = json!(schema.to_json());
    assert!(shown.get("additionalProperties").is_none());
    let timeout = json!({ "type": "integer", "default": 5, "description": "Most seconds" });
    assert_eq!(shown["properties"]["timeout"], timeout);
    let word = json!({ "enum": ["one", "two"], "default": "two", "description": "One of two." });
    assert_eq!(shown["properties"]["word"], word);
    let flag = json!({ "type": "boolean", "description": "Off unless said" });
    assert_eq!(shown["properties"]["flag"], flag);
}
