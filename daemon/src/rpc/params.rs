//! A call's params as its method's struct, or which of them is wrong. Pure.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::RpcError;
use super::limits::DETAIL_SHOWN_CHARS;

/// Reads the params of a call: an object. An array would be taken for the struct's fields in their
/// order, of which nobody is told.
///
/// The error names the param by its path, such as `env[0].value`; `params` is the whole.
pub fn read<M: DeserializeOwned>(raw: &str) -> Result<M, RpcError> {
    if !raw.trim_start().starts_with('{') {
        return Err(RpcError::unreadable_params(
            "params",
            "an object is expected",
        ));
    }
    let mut json = serde_json::Deserializer::from_str(raw);
    let params = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        bad_param(&path, &error.into_inner())
    })?;
    json.end().map_err(|error| bad_param(".", &error))?;
    Ok(params)
}

/// Reads a member of the params, named by its path, that the method's struct leaves as JSON.
pub fn read_member<M: DeserializeOwned>(member: &str, json: &Value) -> Result<M, RpcError> {
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = format!("{member}.{}", error.path());
        bad_param(&path, &error.into_inner())
    })
}

fn bad_param(path: &str, error: &serde_json::Error) -> RpcError {
    let text = error.to_string();
    let detail = text
        .rsplit_once(" at line ")
        .map_or(&*text, |split| split.0);
    // serde is at the object around a field that is missing or stands there twice.
    let name = ["missing field `", "duplicate field `"]
        .iter()
        .find_map(|prefix| detail.strip_prefix(prefix)?.split('`').next());
    let field = match (path, name) {
        (".", Some(name)) => name.to_owned(),
        (".", None) => "params".to_owned(),
        (path, Some(name)) => format!("{path}.{name}"),
        (path, None) => path.to_owned(),
    };
    RpcError::unreadable_params(&shorten(&field), &shorten(detail))
}

/// Bounds a text of the peer's and takes control characters out: it may be shown on a tty.
fn shorten(text: &str) -> String {
    let shown = text.chars().take(DETAIL_SHOWN_CHARS);
    shown
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use termd_proto::acp::EnvVariable;
    use termd_proto::id::Label;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only whether it reads matters")]
    struct Create {
        command: String,
        args: Option<Vec<String>>,
        env: Option<Vec<EnvVariable>>,
        label: Option<Label>,
        cols: Option<u16>,
    }

    /// The field and the detail of the error.
    fn refused(params: &str) -> (String, String) {
        let error = read::<Create>(params).unwrap_err();
        let text = |key: &str| error.data[key].as_str().unwrap().to_owned();
        (text("field"), text("detail"))
    }

    #[test]
    fn the_field_is_named() {
        let table = [
            ("{}", "command"),
            (r#"{"args":[]}"#, "command"),
            (r#"{"command":5}"#, "command"),
            (r#"  {"command":5}"#, "command"),
            (r#"{"command":null}"#, "command"),
            (r#"{"command":["ls","-l"]}"#, "command"),
            (r#"{"command":{"a":1}}"#, "command"),
            (r#"{"command" : 5.5 , "cols":1}"#, "command"),
            (r#"{"command":"ü","cols":"80"}"#, "cols"),
            (r#"{"command":"a","cols":70000}"#, "cols"),
            (r#"{"command":"a","cols":-1,"label":"b"}"#, "cols"),
            (r#"{"cols":80.5,"command":"a"}"#, "cols"),
            (r#"{"command":"a","args":"-l"}"#, "args"),
            (r#"{"command":"a","args":{"x":1}}"#, "args"),
            (r#"{"command":"a","args":["-l",5]}"#, "args[1]"),
            (r#"{"command":"a","args":[["-l"]]}"#, "args[0]"),
            (
                r#"{"command":"a","env":[{"name":"A","value":"1"},{"name":"B"}]}"#,
                "env[1].value",
            ),
            (
                r#"{"command":"a","env":[{"name":"A","value":1}]}"#,
                "env[0].value",
            ),
            (r#"{"command":"a","env":["A=1"]}"#, "env[0]"),
            (
                r#"{"command":"a","env":[{"name":1,"value":"1"}], "cols":1}"#,
                "env[0].name",
            ),
            (r#"{"command":"a","label":"a/b"}"#, "label"),
            (r#"{"command":"a","label":"a/b" , "cols":80}"#, "label"),
            (r#"{"label":"","command":"a"}"#, "label"),
            (r#"{"command":"a","command":"b"}"#, "command"),
            ("[]", "params"),
            (r#"["true", []]"#, "params"),
            (r#" [{"command":"a"}]"#, "params"),
            ("null", "params"),
            ("1", "params"),
            (r#"{"command":"a"} x"#, "params"),
        ];
        for (params, field) in table {
            let (found, detail) = refused(params);
            assert_eq!(found, field, "{params}: {detail}");
            assert!(!detail.contains("column"), "{params}: {detail}");
        }
    }

    #[test]
    fn long_values_and_control_characters_are_not_repeated() {
        let params = format!(r#"{{"command":"a","cols":"{}"}}"#, "x".repeat(10_000));
        assert_eq!(refused(&params).1.chars().count(), DETAIL_SHOWN_CHARS);
        let detail = refused("{\"command\":\"a\",\"label\":\"\\u001b[31m\"}").1;
        assert!(!detail.contains('\u{1b}'), "{detail}");
    }
}
