//! Where the output of programs comes from.

use super::kind::base_name;
use super::table::ProgramTable;
use super::table::row::Prints;

/// Whether a shell text names a program that fetches data, or decodes hidden data.
pub(crate) fn fetches(raw: &str) -> bool {
    let words = raw.split(|c: char| c.is_whitespace() || "|;&()<>`$\"'".contains(c));
    let mut names = words.map(base_name);
    names.any(is_fetcher)
        || raw.contains("base64 -d")
        || raw.contains("base64 --d")
        || raw.contains("/dev/tcp/")
}

fn prints(name: &str) -> Option<Prints> {
    ProgramTable::built_in().row(name)?.prints
}

fn is_fetcher(name: &str) -> bool {
    prints(name) == Some(Prints::Fetched)
}

/// Whether a substitution is of a program that prints settings for a shell to evaluate.
pub(crate) fn prints_environment(raw: &str) -> bool {
    let inner = raw.trim_matches(['"', '$', '<', '(', ')', '`']);
    let name = inner.split_whitespace().next().map_or("", base_name);
    let plain = !inner.contains(['|', ';', '&', '<', '>', '$', '`']);
    // `kubectl completion bash`, `uv generate-shell-completion zsh`.
    let completes = inner
        .split_whitespace()
        .skip(1)
        .any(|word| word.contains("completion"));
    plain && (completes || prints(name) == Some(Prints::Settings))
}
