//! Calls of libraries that remove what clouds, services and databases hold.

use super::call_effect::CallEffect;
use super::calls::Call;
use super::code_text::CodeText;
use super::fragment::Fragment;

/// Why code is dangerous that removes or stops what a cloud or a service holds.
pub(super) fn of_library(call: &Call, code: &CodeText<'_>) -> Option<String> {
    if !code.has(Fragment::IsCloud) {
        return None;
    }
    let name = call.name.trim_start_matches('_').to_lowercase();
    Fragment::Removes
        .all()
        .any(|start| name.starts_with(start))
        .then(|| format!("`{}` removes or stops what a service holds", call.name))
}

/// Why code is dangerous that empties a store. Ruby calls without brackets: `User.delete_all`.
pub(super) fn of_emptied_store(code: &CodeText<'_>) -> Option<String> {
    code.has(Fragment::EmptiesStore)
        .then(|| "it removes every row or document that it finds".to_owned())
}

/// Why a call is dangerous that empties a store or a file, or deletes over HTTP.
pub(super) fn of_store(call: &Call, code: &CodeText<'_>) -> Option<String> {
    if call.does(CallEffect::EmptiesStore) {
        return Some(format!("`{}` empties what a database holds", call.name));
    }
    let forces = |text: &String| matches!(text.as_str(), "--force" | "-f" | "--mirror");
    if call.name == "push" && call.texts.iter().any(forces) {
        return Some("it overwrites what others may have".to_owned());
    }
    let is_file = |text: &String| text.contains('.') || text.contains('/');
    if call.does(CallEffect::EmptiesFile) && call.texts.first().is_some_and(is_file) {
        return Some(format!("`{}` empties a file", call.name));
    }
    let is_far = |text: &String| {
        text.starts_with("http") && !text.contains("localhost") && !text.contains("127.0.0.1")
    };
    let is_request = ["requests", "httpx", "axios", "http", "client", "session"]
        .iter()
        .any(|library| call.path.starts_with(library));
    let names_method = || {
        ["method:'DELETE'", "method:\"DELETE\"", "method='DELETE'"]
            .iter()
            .any(|method| code.holds(method))
    };
    let deletes =
        call.texts.iter().any(is_far) && ((call.name == "delete" && is_request) || names_method());
    deletes.then(|| "it deletes what others may need".to_owned())
}
