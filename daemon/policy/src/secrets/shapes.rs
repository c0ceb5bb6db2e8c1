//! Secrets by their shape or by the text right before them: tokens of well-known services, keys, headers,
//! addresses with a password, fields and assignments.
//!
//! `regex` finds one match in linear time. To find all matches in linear time, no pattern may look far
//! beyond the end of its match, nor begin a long match that does not end.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::assignments::assignments;
use super::secret_names::{is_value, names_key, names_secret_variable};

/// Tokens with a mark of their service, by the services' documentation. Those with a dot inside are
/// patterns of their own: a search for one of them would look far ahead while it finds the others.
const TOKENS: [&str; 3] = [
    r"(?x)(?-u:\b)(?:
    gh[pousr]_[A-Za-z0-9]{30,}             # GitHub
  | github_pat_[A-Za-z0-9_]{22,}
  | gl(?:pat|dt|rt|cbt|ptt|ft|oas)-[A-Za-z0-9_-]{20,}  # GitLab
  | xox[abeoprs]-[A-Za-z0-9-]{10,}         # Slack
  | xapp-[0-9]-[A-Za-z0-9-]{10,}
  | sk-[A-Za-z0-9_-]{20,}                  # OpenAI, Anthropic
  | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)  # AWS
  | AIza[A-Za-z0-9_-]{35}                  # Google
  | ya29\.[A-Za-z0-9_-]{20,}
  | npm_[A-Za-z0-9]{36}
  | pypi-[A-Za-z0-9_-]{32,}
  | hf_[A-Za-z0-9]{30,}                    # Hugging Face
  | [rs]k_(?:live|test)_[A-Za-z0-9]{16,}   # Stripe
  | do[opr]_v1_[a-f0-9]{64}                # DigitalOcean
  | dckr_pat_[A-Za-z0-9_-]{20,}
  | hv[sb]\.[A-Za-z0-9_-]{20,}             # Vault
  | AGE-SECRET-KEY-1[A-Z0-9]{50,}
)",
    // SendGrid
    r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    // JSON Web Token (RFC 7519)
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
];

/// Patterns whose group 1 is the secret, if the check agrees.
const PATTERNS: [(&str, Check); 8] = [
    // RFC 7468: the body of a private key, which may be cut off.
    (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----((?s:.+?))(?:-----END|\z)",
        Check::Always,
    ),
    // RFC 9110 §11.6.2: the scheme stays.
    (
        r#"(?i)(?-u:\b)(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:[a-z][a-z0-9-]{0,30}[ \t]+)?([^'"\s][^'"\r\n]*)"#,
        Check::Value,
    ),
    (
        r#"(?i)(?-u:\b)(?:x-[a-z-]{0,30}(?:key|token|secret)|api-key|apikey|private-token|job-token|set-cookie|cookie):[ \t]*([^'"\s][^'"\r\n]*)"#,
        Check::Value,
    ),
    // RFC 6750, outside its header.
    (
        r"(?i)(?-u:\b)bearer[ \t]+([A-Za-z0-9._~+/=-]{16,})",
        Check::Mixed,
    ),
    // RFC 3986 §3.2.1: user:password@ before a host.
    (
        r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@'"?#]*:([^\s/'"?#]+)@"#,
        Check::Value,
    ),
    // A token alone before the host.
    (
        r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{0,30}://([^\s/:@'"?#]{20,})@"#,
        Check::Mixed,
    ),
    // A field of JSON.
    (
        r#"(?i)["'](?:[a-z0-9]+[_-])*?(?:password|passwd|passphrase|secret|token|api_?key|access_?key|secret_?key|private_?key|credentials?)["']\s*:\s*"((?:[^"\\]|\\.)+)""#,
        Check::Value,
    ),
    // A double-quoted field inside a quoted string: each quote has a backslash.
    (
        r#"(?i)\\"(?:[a-z0-9]+[_-])*?(?:password|passwd|passphrase|secret|token|api_?key|access_?key|secret_?key|private_?key)\\"\s*:\s*\\"([^"\\]+)\\""#,
        Check::Value,
    ),
];

/// When the text that a pattern finds is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Always,
    /// If it can be a secret ([`is_value`]).
    Value,
    /// If it mixes letters and digits, as random text does.
    Mixed,
}

fn tokens() -> &'static [Regex] {
    static ONCE: OnceLock<Vec<Regex>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let compiled = TOKENS.iter().map(|pattern| Regex::new(pattern).ok());
        compiled.flatten().collect()
    })
}

fn patterns() -> &'static [(Regex, Check)] {
    static ONCE: OnceLock<Vec<(Regex, Check)>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let compiled = PATTERNS
            .iter()
            .filter_map(|(pattern, check)| Some((Regex::new(pattern).ok()?, *check)));
        compiled.collect()
    })
}

/// The shortest secret without a `:` or a `=`. An argv may have a million shorter words.
const MIN_BYTES: usize = 16;

/// Adds the ranges of secrets in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.len() < MIN_BYTES && !text.contains([':', '=']) {
        return;
    }
    for tokens in tokens() {
        found.extend(tokens.find_iter(text).map(|token| token.range()));
    }
    for (pattern, check) in patterns() {
        // Captures cost more than a search for any match.
        if !pattern.is_match(text) {
            continue;
        }
        for captures in pattern.captures_iter(text) {
            let Some(secret) = captures.get(1) else {
                continue;
            };
            let is_secret = match check {
                Check::Always => true,
                Check::Value => is_value(secret.as_str()),
                Check::Mixed => is_mixed(secret.as_str()),
            };
            if is_secret {
                found.push(secret.range());
            }
        }
    }
    for assigned in assignments(text) {
        let (Some(name), Some(value)) = (text.get(assigned.name), text.get(assigned.value.clone()))
        else {
            continue;
        };
        if is_value(value) && is_secret_name(name, value) {
            found.push(assigned.value);
        }
    }
}

/// Whether a name such as `--db.password`, `access_token` or `PGPASSWORD` names a secret.
fn is_secret_name(name: &str, value: &str) -> bool {
    let bare = name.trim_start_matches('-');
    names_secret_variable(bare) || (bare.len() == name.len() && names_key(bare, value))
}

fn is_mixed(text: &str) -> bool {
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    digits && letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(tokens().len(), TOKENS.len());
        assert_eq!(patterns().len(), PATTERNS.len());
    }
}
