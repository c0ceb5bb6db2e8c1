//! What package managers run of a `package.json`: <https://docs.npmjs.com/cli/configuring-npm/package-json>.

use serde_json::{Value, json};

use crate::shell::text::quote::quoted;

/// The scripts of one command that are read.
const MAX_SCRIPTS: usize = 3;

/// The lines of a manifest that a command of its tool runs, with the arguments that the script gets.
pub(super) fn scripts(program: &str, text: &str, operands: &[&str]) -> Vec<String> {
    let Some(manifest) = manifest(text) else {
        return Vec::new();
    };
    let verb = operands.first().copied().unwrap_or("install");
    let behind = |at: usize| operands.get(at..).unwrap_or_default();
    let (names, arguments) = match verb {
        "run" | "run-script" | "rum" => {
            let names: Vec<&str> = behind(1).iter().take(MAX_SCRIPTS).copied().collect();
            (names, behind(2))
        }
        "install" | "i" | "ci" | "add" => (vec!["install", "prepare", "prepublish"], [].as_slice()),
        "t" | "tst" => (vec!["test"], behind(1)),
        "test" | "start" | "stop" | "restart" | "pack" | "publish" | "version" => {
            (vec![verb], behind(1))
        }
        // yarn and pnpm run a script by its name alone.
        _ if program != "npm" => (vec![verb], behind(1)),
        _ => return Vec::new(),
    };
    let line = |name: &str| manifest.get("scripts")?.get(name)?.as_str();
    let with_arguments = |name: &str| {
        let around = [format!("pre{name}"), format!("post{name}")];
        let around = around
            .iter()
            .filter_map(|name| line(name))
            .map(str::to_owned);
        let own = line(name).map(|line| with_words(line.to_owned(), arguments));
        around.chain(own).collect::<Vec<_>>()
    };
    names.into_iter().flat_map(with_arguments).collect()
}

/// The lines that npx(1) runs of a manifest: the programs that it names, with the arguments behind the first word.
pub(super) fn programs(text: &str, operands: &[&str]) -> Vec<String> {
    let Some(manifest) = manifest(text) else {
        return Vec::new();
    };
    let arguments = operands.get(1..).unwrap_or_default();
    let own: Vec<&Value> = match manifest.get("bin") {
        Some(Value::Object(named)) => named.values().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let paths = own.into_iter().filter_map(Value::as_str);
    let line = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path);
        with_words(quoted(&format!("./{path}")), arguments)
    };
    paths.map(line).collect()
}

/// A manifest with the scripts of `npm pkg set scripts.NAME=LINE`.
pub(super) fn set_scripts(operands: &[&str]) -> Option<String> {
    let set = operands.strip_prefix(&["pkg", "set"])?.iter();
    let scripts = set.filter_map(|word| word.strip_prefix("scripts.")?.split_once('='));
    let scripts: serde_json::Map<String, Value> = scripts
        .map(|(name, line)| (name.to_owned(), Value::from(line)))
        .collect();
    (!scripts.is_empty()).then(|| json!({ "scripts": scripts }).to_string())
}

fn with_words(mut line: String, words: &[&str]) -> String {
    for word in words {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    line
}

fn manifest(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
