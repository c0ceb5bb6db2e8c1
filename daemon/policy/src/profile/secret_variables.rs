//! Variables of the environment that hold secrets, by their names.

use crate::glob::{Case, fits};

/// Names that by custom hold secrets, in either case. Each stands with its reason.
///
/// `SSH_AUTH_SOCK` is not here: the agent at the other end signs and gives no key away, and without it
/// `git push` does not work. `GIT_ASKPASS` and `SSH_ASKPASS` name programs.
const SECRET_NAMES: [(&str, &str); 33] = [
    ("*_TOKEN", "GITHUB_TOKEN, NPM_TOKEN, SLACK_TOKEN"),
    ("*_TOKENS", "lists of them"),
    ("TOKEN", "bare"),
    ("*_TOKEN_FILE_CONTENTS", "what a file of a token holds"),
    ("*_PAT", "personal access tokens"),
    ("*_KEY", "OPENAI_API_KEY, SSH_PRIVATE_KEY, SECRET_KEY"),
    ("*_KEYS", "lists of them"),
    ("*APIKEY*", "APIKEY without an underscore"),
    ("*API_KEY*", "with a number or a name behind it"),
    ("*PRIVATE_KEY*", "with a format behind it"),
    ("*ACCESS_KEY*", "with an id behind it"),
    ("*SECRET*", "CLIENT_SECRET, SECRET_KEY_BASE"),
    ("*PASSWORD*", "PGPASSWORD, MYSQL_ROOT_PASSWORD"),
    ("*PASSWD*", "the same, shorter"),
    ("*PASSPHRASE*", "of keys"),
    ("*_PASS", "DB_PASS"),
    ("*_PWD", "MYSQL_PWD, DB_PWD; PWD itself is a directory"),
    ("*_CREDENTIAL", "one"),
    (
        "*_CREDENTIALS",
        "GOOGLE_APPLICATION_CREDENTIALS: where they are",
    ),
    ("*_AUTH", "NPM_CONFIG__AUTH, REGISTRY_AUTH"),
    ("*_AUTHTOKEN", "npm"),
    ("*_BEARER", "HTTP"),
    ("*_COOKIE", "sessions"),
    ("*_DSN", "addresses with a password in them"),
    ("*DATABASE_URL", "the same"),
    ("REDIS_URL", "the same"),
    ("*MONGO*_UR?", "the same"),
    ("*_WEBHOOK_URL", "who knows the address may write there"),
    ("AWS_*", "Amazon: keys, session tokens, profiles"),
    ("AZURE_*", "Microsoft: clients and tenants"),
    ("VAULT_*", "HashiCorp: tokens and their server"),
    ("GH_ENTERPRISE_*", "GitHub's other servers"),
    ("DOCKER_AUTH_CONFIG", "registries' logins"),
];

/// Whether a variable of this name holds a secret, by custom.
pub(super) fn is_secret_name(name: &str) -> bool {
    SECRET_NAMES
        .iter()
        .any(|(pattern, _)| fits(pattern, name, Case::Ignored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets_from_the_rest() {
        for secret in [
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_REGION",
            "PGPASSWORD",
            "MYSQL_PWD",
            "CLIENT_SECRET",
            "SECRET_KEY_BASE",
            "github_token",
            "DATABASE_URL",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "NPM_CONFIG__AUTH",
            "MONGO_URI",
            "VAULT_ADDR",
            "TOKEN",
            "GPG_PASSPHRASE",
            "DB_PASS",
            "SLACK_WEBHOOK_URL",
        ] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for plain in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "LESSKEY",
            "TERM",
            "XDG_RUNTIME_DIR",
            "KEYBOARD",
            "AUTHOR",
            "CARGO_HOME",
            "HTTP_PROXY",
            "DBUS_SESSION_BUS_ADDRESS",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "COMPASS",
        ] {
            assert!(!is_secret_name(plain), "{plain}");
        }
    }
}
