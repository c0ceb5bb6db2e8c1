//! What is wrong with the params of a request. rmcp takes a request whose params do not fit its method for
//! one of an unknown method.

use rmcp::model::{
    CallToolRequestParams, CustomRequest, InitializeRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why the params do not fit the method. `None`: it is none of those that need some.
pub(super) fn problem_with_params(request: &CustomRequest) -> Option<String> {
    let method = request.method.as_str();
    let problem_in = match method {
        "initialize" => problem_in::<InitializeRequestParams>,
        "tools/call" => problem_in::<CallToolRequestParams>,
        "resources/read" => problem_in::<ReadResourceRequestParams>,
        "resources/subscribe" => problem_in::<SubscribeRequestParams>,
        "resources/unsubscribe" => problem_in::<UnsubscribeRequestParams>,
        _ => return None,
    };
    let problem = match &request.params {
        None => "there are none".to_owned(),
        Some(params) => problem_in(params),
    };
    Some(format!("bad params of {method}: {problem}"))
}

fn problem_in<T: DeserializeOwned>(params: &Value) -> String {
    let read: Result<T, _> = serde_path_to_error::deserialize(params);
    let error = read.err().map(|error| error.to_string());
    error.unwrap_or_else(|| "they do not fit".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_member_that_does_not_fit_is_named() {
        for (method, params, problem) in [
            ("tools/call", None, Some("there are none")),
            ("tools/call", Some(json!({})), Some("missing field `name`")),
            (
                "initialize",
                Some(json!({ "capabilities": {} })),
                Some("missing field `protocolVersion`"),
            ),
            (
                "tools/call",
                Some(json!({ "name": "x", "arguments": [] })),
                Some("arguments: invalid type: sequence, expected a map"),
            ),
            ("no/such", None, None),
        ] {
            let said = problem_with_params(&CustomRequest::new(method, params));
            let want = problem.map(|problem| format!("bad params of {method}: {problem}"));
            assert_eq!(said, want);
        }
    }
}
