//! Where the output of programs comes from.

use super::kind::base_name;

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
    matches!(
        name,
        "curl"
            | "wget"
            | "wget2"
            | "fetch"
            | "aria2c"
            | "http"
            | "https"
            | "xh"
            | "lynx"
            | "nc"
            | "ncat"
            | "netcat"
            | "socat"
            | "ftp"
            | "tftp"
            | "openssl"
            | "uudecode"
    )
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
    plain
        && (completes
            || matches!(
                name,
                "ssh-agent"
                    | "direnv"
                    | "pyenv"
                    | "rbenv"
                    | "nodenv"
                    | "goenv"
                    | "brew"
                    | "starship"
                    | "zoxide"
                    | "fnm"
                    | "mise"
                    | "conda"
                    | "opam"
                    | "dircolors"
                    | "keychain"
                    | "docker-machine"
                    | "minikube"
                    | "luarocks"
                    | "register-python-argcomplete"
                    | "lesspipe"
                    | "resize"
                    | "atuin"
                    | "fzf"
                    | "gh"
                    | "thefuck"
                    | "tput"
                    | "micromamba"
            ))
}
