//! Where the output of programs comes from.

use super::kind::base_name;
use crate::word_list::is_listed;

/// Programs whose output comes from a network, or out of an encoding.
const FETCHERS: &str = "
    curl wget wget2 fetch aria2c http https xh lynx nc ncat netcat socat ftp tftp openssl
    uudecode";
/// Programs that print settings for a shell to evaluate.
const ENVIRONMENT_PRINTERS: &str = "
    ssh-agent direnv pyenv rbenv nodenv goenv brew starship zoxide fnm mise conda opam dircolors
    keychain docker-machine minikube luarocks register-python-argcomplete lesspipe resize atuin
    fzf gh thefuck tput micromamba";

/// Whether a shell text names a program that fetches data, or decodes hidden data.
pub(crate) fn fetches(raw: &str) -> bool {
    let words = raw.split(|c: char| c.is_whitespace() || "|;&()<>`$\"'".contains(c));
    let mut names = words.map(base_name);
    names.any(is_fetcher)
        || raw.contains("base64 -d")
        || raw.contains("base64 --d")
        || raw.contains("/dev/tcp/")
}

/// Whether the output of a program comes from a network, or out of an encoding.
fn is_fetcher(name: &str) -> bool {
    is_listed(name, FETCHERS)
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
    plain && (completes || is_listed(name, ENVIRONMENT_PRINTERS))
}
