use super::*;

#[test]
fn three_kinds_and_the_rest() {
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}"#,
            "request 1 a/b",
        ),
        (
            r#" { "method" : "a\/b" , "id" : null } "#,
            "request null a/b",
        ),
        (r#"{"id":"\u0061","method":"x"}"#, r#"request "a" x"#),
        (
            r#"{"id":18446744073709551617,"method":"x"}"#,
            "request 18446744073709551617 x",
        ),
        (r#"{"id":1,"id":2,"method":"x"}"#, "request 2 x"),
        (r#"{"method":"x","params":[1]}"#, "notification x"),
        (
            r#"{"id":{"a":1},"result":null}"#,
            r#"response {"a":1} true"#,
        ),
        (
            r#"{"id":7,"error":{"code":1,"message":""}}"#,
            "response 7 false",
        ),
        (r#"{"id":7}"#, "other"),
        (r#"{"id":7,"method":5}"#, "other"),
        (r#"[{"id":1,"method":"x"}]"#, "other"),
        ("7", "other"),
        ("", "not json"),
        ("hello", "not json"),
        (r#"{"id":7"#, "not json"),
        (r#"{"id":7} x"#, "not json"),
    ];
    for (line, want) in table {
        let got = match Message::read(line) {
            Ok(Message::Request { id, method, .. }) => {
                format!("request {} {method}", id.as_json())
            }
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response { id, result }) => {
                format!("response {} {}", id.as_json(), result.is_some())
            }
            Ok(Message::Other) => "other".to_owned(),
            Err(NotJson) => "not json".to_owned(),
        };
        assert_eq!(got, want, "{line}");
    }
}

#[test]
fn a_part_is_found_where_it_stands() {
    let line = r#"{"a": {"b" :  [1, 2] }}"#;
    let a = Members::of(line).unwrap().get("a").unwrap();
    let b = Members::of(a.get()).unwrap().get("b").unwrap();
    assert_eq!(&line[span(line, b).unwrap()], "[1, 2]");
    assert_eq!(span("another", b), None);
}

#[test]
fn a_control_is_seen_wherever_it_stands() {
    for length in 0..20 {
        for at in 0..length {
            for other in [' ', '~', '\u{7f}', '\u{80}', '\u{ff}'] {
                for byte in (0..0x80_u8).filter(|byte| !matches!(byte, b'"' | b'\\')) {
                    let mut text = vec![other; length];
                    text[at] = char::from(byte);
                    let text: String = text.into_iter().collect();
                    let is_json = Message::read(&format!("\"{text}\"")).is_ok();
                    assert_eq!(is_json, byte >= b' ', "{byte} at {at} of {length}");
                }
            }
        }
    }
}

#[test]
fn what_is_json_and_what_is_not() {
    for (text, is_json) in [
        ("7", true),
        (" -0.5e+10\r\n", true),
        ("01", false),
        ("-", false),
        ("1.", false),
        (".5", false),
        ("1e", false),
        ("+1", false),
        ("truex", false),
        ("tru", false),
        ("nullnull", false),
        (r#""\ud800""#, true),
        (r#""\u12g4""#, false),
        (r#""\u123"#, false),
        (r#""\x""#, false),
        ("\"a\tb\"", false),
        ("\"a\u{7f}é\"", true),
        (r#""a"#, false),
        ("[1,2,[],{}]", true),
        ("[1,]", false),
        ("[,1]", false),
        ("[1 2]", false),
        ("[}", false),
        (r#"{"a":1,}"#, false),
        (r#"{"a" : {"b":[{}]} , "c":null}"#, true),
        (r"{1:2}", false),
        (r#"{"a"}"#, false),
        (r#"{"a":1]"#, false),
        ("", false),
        ("\u{feff}1", false),
        ("\u{a0}1", false),
    ] {
        assert_eq!(Message::read(text).is_ok(), is_json, "{text:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Message::read(&deep).is_ok() && Message::read(&deep[1..]).is_err());
}

#[test]
fn parts_are_found() {
    let text = r#" {"a\u0062" : [ 1 ,{"x":[]}, "]," ] ,"b":{}} "#;
    let members = Members::of(text).unwrap();
    let names: Vec<&String> = members.0.keys().collect();
    assert_eq!(names, ["ab", "b"]);
    let array = elements(members.get("ab").unwrap()).unwrap();
    let array: Vec<&str> = array.into_iter().map(RawValue::get).collect();
    assert_eq!(array, ["1", r#"{"x":[]}"#, r#""],""#]);
    assert!(elements(members.get("b").unwrap()).is_none());
    let empty = serde_json::from_str(" [ ] ").unwrap();
    assert_eq!(elements(empty).unwrap().len(), 0);
}

/// Texts that nearly are JSON: pieces of it in any order, some without their end.
#[test]
fn members_are_read_of_objects_alone() {
    const PIECES: [&str; 36] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\t",
        "\"",
        "\"a\"",
        "\"\\u00e9\"",
        "\\",
        "\\\"",
        "\\n",
        "\\u12",
        "é",
        "\u{1}",
        "0",
        "-",
        "17",
        ".",
        "e",
        "E+",
        "1.5e-3",
        "true",
        "false",
        "null",
        "nul",
        "\"k\":",
        "{\"k\":1}",
        "[1,2]",
        "{}",
        "[]",
        "{\"k\":",
        "[\"\\\\\",",
    ];
    // Knuth's constants: the same texts in each run.
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % bound
    };
    let mut valid = 0;
    for _ in 0..300_000 {
        let text: String = (0..=below(9))
            .map(|_| PIECES[below(PIECES.len())])
            .collect();
        let value: Option<&RawValue> = serde_json::from_str(&text).ok();
        assert_eq!(Message::read(&text).is_ok(), value.is_some(), "{text:?}");
        let is_object = value.is_some_and(|value| value.get().starts_with('{'));
        assert_eq!(Members::of(&text).is_some(), is_object, "{text:?}");
        if let Some(value) = value {
            assert_eq!(&text[span(&text, value).unwrap()], text.trim(), "{text:?}");
            valid += 1;
        }
    }
    assert!(valid > 10_000, "{valid} of them are JSON");
}
