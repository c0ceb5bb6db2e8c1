//! What is a secret by its shape or by what stands right before it: tokens of well-known services,
//! keys, headers, addresses with a password, fields and assignments. Pure; regular expressions of
//! the kind that is matched in linear time.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::secret_names::{is_value, names_key, names_secret_variable};

/// Tokens that their services mark. From the services' documentation of their formats.
const TOKENS: &str = r"(?x)(?-u:\b)(?:
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
  | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}  # SendGrid
  | do[opr]_v1_[a-f0-9]{64}                # DigitalOcean
  | dckr_pat_[A-Za-z0-9_-]{20,}
  | hv[sb]\.[A-Za-z0-9_-]{20,}             # Vault
  | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # JSON Web Token (RFC 7519)
  | AGE-SECRET-KEY-1[A-Z0-9]{50,}
)";

/// What each pattern's group 1 holds is the secret, if the rest of the table agrees.
const PATTERNS: [(&str, Check); 9] = [
    // RFC 7468: the body of a private key, also of one that is cut off.
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
    // name=value: a variable's, a connection string's, an address's.
    (
        r#"[A-Za-z0-9_.-]+=((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s&;,|<>()'"`])+)"#,
        Check::Name,
    ),
];

/// When what a pattern found is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Always,
    /// Unless it is a reference to one, or no secret at all.
    Value,
    /// Where letters and digits are mixed, as in what was made at random.
    Mixed,
    /// Where the name before it names one.
    Name,
}

fn tokens() -> Option<&'static Regex> {
    static TOKENS_ONCE: OnceLock<Option<Regex>> = OnceLock::new();
    TOKENS_ONCE.get_or_init(|| Regex::new(TOKENS).ok()).as_ref()
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

/// Nothing shorter is found without a `:` or a `=`: an argv may have a million short words.
const SHORTEST: usize = 16;

/// Adds where secrets stand in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    if text.len() < SHORTEST && !text.contains([':', '=']) {
        return;
    }
    if let Some(tokens) = tokens() {
        found.extend(tokens.find_iter(text).map(|token| token.range()));
    }
    for (pattern, check) in patterns() {
        // Groups cost more than to look whether there are any.
        if !pattern.is_match(text) {
            continue;
        }
        for captures in pattern.captures_iter(text) {
            let (Some(whole), Some(secret)) = (captures.get(0), captures.get(1)) else {
                continue;
            };
            let name = text
                .get(whole.start()..secret.start())
                .map(|before| before.trim_end_matches('='))
                .unwrap_or_default();
            let is_secret = match check {
                Check::Always => true,
                Check::Value => is_value(secret.as_str()),
                Check::Mixed => is_mixed(secret.as_str()),
                Check::Name => is_value(secret.as_str()) && is_secret_name(name, secret.as_str()),
            };
            if is_secret {
                found.push(secret.range());
            }
        }
    }
}

/// Of `--db.password`, `?access_token`, `PGPASSWORD`.
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
        assert!(tokens().is_some());
        assert_eq!(patterns().len(), PATTERNS.len());
    }
}
