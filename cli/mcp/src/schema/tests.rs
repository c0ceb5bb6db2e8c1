use super::*;

fn schema() -> Schema {
    Schema::input(vec![
        Field::string("session_id", "").required().at_least(1),
        Field::integer("rows", "").between(1, 100).default(24),
        Field::boolean("press_enter", ""),
        Field::string("mode", "").one_of(&["auto", "diff"]),
    ])
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
            "there is no parameter 'zzzzzzzzz'; there are: session_id, rows, press_enter, mode",
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
        assert_eq!(schema().check(&mut arguments), Err(want.to_owned()));
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
    let schema = Schema::input(vec![
        Field::integer("code", "").or_null().default(0),
        Field::list("items", json!({ "type": "string" }), "").items_between(1, 2),
    ]);
    let check = |arguments: Value| {
        let Value::Object(mut arguments) = arguments else {
            unreachable!()
        };
        schema.check(&mut arguments).map(|()| json!(arguments))
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
