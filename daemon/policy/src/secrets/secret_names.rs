//! Names of variables, options and fields that hold secrets: one table for redaction and for the
//! environment of commands.

use crate::glob::{Case, fits};

/// What is known of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its value is a secret, wherever the name stands.
    Secret,
    /// As a variable in upper case it holds a key, and not the path of one.
    Key,
    /// It belongs to an account, or says where a secret is. Commands of agents are not given it, and its
    /// value is shown.
    Account,
    /// It looks like a secret's name and is none.
    Plain,
}

/// Names, with `_` for `-`, `.` and `:`, and between the words of `camelCase`. Of entries that fit, the
/// first holds. Each stands with its reason.
///
/// `SSH_AUTH_SOCK` is not here: the agent at the other end signs and gives no key away, and without it
/// `git push` does not work. `GIT_ASKPASS` and `SSH_ASKPASS` name programs.
const NAMES: [(&str, Kind, &str); 104] = [
    ("NO_*", Kind::Plain, "--no-password"),
    ("*NEXT_TOKEN", Kind::Plain, "pages of an answer"),
    ("*PAGE_TOKEN", Kind::Plain, "pages of an answer"),
    ("*CONTINUATION_TOKEN", Kind::Plain, "pages of an answer"),
    ("*STARTING_TOKEN", Kind::Plain, "pages of an answer"),
    ("*PAD_TOKEN", Kind::Plain, "language models"),
    ("?OS_TOKEN", Kind::Plain, "language models"),
    ("UNK_TOKEN", Kind::Plain, "language models"),
    ("MASK_TOKEN", Kind::Plain, "language models"),
    ("*PER_TOKEN", Kind::Plain, "prices and speeds"),
    ("*PUBLIC_KEY", Kind::Plain, "meant to be known"),
    ("*CACHE_KEY", Kind::Plain, "build caches"),
    ("*SORT_KEY", Kind::Plain, "databases"),
    ("*PRIMARY_KEY", Kind::Plain, "databases"),
    ("*FOREIGN_KEY", Kind::Plain, "databases"),
    ("*PARTITION_KEY", Kind::Plain, "databases"),
    ("*PASSWORD", Kind::Secret, "PGPASSWORD, --db-password"),
    ("*PASSWD", Kind::Secret, "the same, shorter"),
    ("*PASSPHRASE", Kind::Secret, "of keys"),
    ("*PASSCODE", Kind::Secret, "of devices"),
    ("*_PASS", Kind::Secret, "DB_PASS"),
    ("PASS", Kind::Secret, "--pass"),
    ("SSHPASS", Kind::Secret, "sshpass(1)"),
    ("PROXYAUTH", Kind::Secret, "socat(1)"),
    ("*STOREPASS", Kind::Secret, "keytool(1)"),
    ("*KEYPASS", Kind::Secret, "keytool(1)"),
    ("*_PWD", Kind::Secret, "MYSQL_PWD, DB_PWD"),
    ("PWD", Kind::Secret, "Pwd=, in connection strings"),
    ("PW", Kind::Secret, "--pw"),
    ("*_PW", Kind::Secret, "RESTIC_PW"),
    ("*_PSK", Kind::Secret, "wireless networks"),
    ("PSK", Kind::Secret, "wpa_supplicant.conf(5)"),
    ("*SECRET", Kind::Secret, "CLIENT_SECRET"),
    ("*SECRET_KEY_BASE", Kind::Secret, "Rails"),
    ("*TOKEN", Kind::Secret, "GITHUB_TOKEN, --token"),
    (
        "TF_TOKEN_*",
        Kind::Secret,
        "Terraform: a registry's host is in the name",
    ),
    (
        "PYPI_TOKEN_*",
        Kind::Secret,
        "poetry: a repository is in the name",
    ),
    ("*_PAT", Kind::Secret, "personal access tokens"),
    ("*APIKEY", Kind::Secret, "without an underscore"),
    ("*API_KEY", Kind::Secret, "OPENAI_API_KEY"),
    ("*ACCESSKEY", Kind::Secret, "without an underscore"),
    ("*ACCESS_KEY", Kind::Secret, "AWS_SECRET_ACCESS_KEY"),
    ("*SECRET_KEY", Kind::Secret, "Django, S3"),
    ("*SECRETKEY", Kind::Secret, "without an underscore"),
    ("*AUTH_KEY", Kind::Secret, "Tailscale"),
    ("*AUTHKEY", Kind::Secret, "Tailscale"),
    ("*ACCOUNT_KEY", Kind::Secret, "Azure's connection strings"),
    (
        "*SHARED_ACCESS_KEY",
        Kind::Secret,
        "Azure's connection strings",
    ),
    ("*ENCRYPTION_KEY", Kind::Secret, "of data at rest"),
    ("*PRIVATE_KEY", Kind::Secret, "a key's text"),
    ("*PRIVATEKEY", Kind::Secret, "without an underscore"),
    ("*PRESHARED_KEY", Kind::Secret, "wg(8)"),
    ("*KEY_DATA", Kind::Secret, "kubeconfig: client-key-data"),
    (
        "*SIGNING_KEY",
        Kind::Secret,
        "ORG_GRADLE_PROJECT_signingKey",
    ),
    ("*MASTER_KEY", Kind::Secret, "RAILS_MASTER_KEY"),
    ("*MASTERKEY", Kind::Secret, "without an underscore"),
    ("*_BEARER", Kind::Secret, "--oauth2-bearer"),
    ("BEARER", Kind::Secret, "--bearer"),
    ("JWT", Kind::Secret, "a token"),
    ("*_JWT", Kind::Secret, "CI_JOB_JWT"),
    ("*BINDPW", Kind::Secret, "LDAP"),
    ("*_COOKIE", Kind::Secret, "sessions"),
    ("COOKIE", Kind::Secret, "sessions"),
    ("BW_SESSION", Kind::Secret, "Bitwarden"),
    ("OP_SESSION*", Kind::Secret, "1Password"),
    ("*CREDENTIAL", Kind::Secret, "one"),
    (
        "*CREDENTIALS",
        Kind::Secret,
        "GOOGLE_APPLICATION_CREDENTIALS is a path",
    ),
    ("*_CREDS", Kind::Secret, "the same, shorter"),
    ("CREDS", Kind::Secret, "the same, shorter"),
    (
        "KUBE_CONFIG_DATA",
        Kind::Secret,
        "Terraform: a whole kubeconfig",
    ),
    (
        "*_TOKEN_FILE_CONTENTS",
        Kind::Secret,
        "what a file of a token holds",
    ),
    ("DOCKER_AUTH_CONFIG", Kind::Secret, "registries' logins"),
    ("AUTH", Kind::Secret, "--auth"),
    ("*SONAR_LOGIN", Kind::Secret, "a token, whatever its name"),
    ("*__AUTH", Kind::Secret, "NPM_CONFIG__AUTH"),
    ("*_KEY", Kind::Key, "STRIPE_KEY"),
    ("*_KEYS", Kind::Account, "lists of them"),
    ("*_TOKENS", Kind::Account, "lists of them"),
    (
        "*APIKEY*",
        Kind::Account,
        "with a number or a name behind it",
    ),
    (
        "*API_KEY*",
        Kind::Account,
        "with a number or a name behind it",
    ),
    ("*PRIVATE_KEY*", Kind::Account, "with a format behind it"),
    ("*ACCESS_KEY*", Kind::Account, "with an id behind it"),
    ("*SECRET*", Kind::Account, "with anything behind it"),
    ("*PASSWORD*", Kind::Account, "with anything behind it"),
    ("*PASSWD*", Kind::Account, "with anything behind it"),
    ("*PASSPHRASE*", Kind::Account, "with anything behind it"),
    ("*_AUTH", Kind::Account, "REGISTRY_AUTH"),
    ("AUTHORIZATION", Kind::Account, "a whole header"),
    ("*_JWT_V?", Kind::Account, "GitLab's older ones"),
    (
        "SESSION_ID",
        Kind::Account,
        "of a login, where nothing else is said",
    ),
    ("*OAUTH*REFRESH*", Kind::Account, "tokens that make others"),
    ("STRIPE_*", Kind::Account, "its keys: STRIPE_SK"),
    ("TELEGRAM_BOT", Kind::Account, "a bot's token"),
    (
        "*CONNECTION_STRING*",
        Kind::Account,
        "databases; their passwords are found by name",
    ),
    ("*_DSN", Kind::Account, "addresses with a password in them"),
    ("*DATABASE_URL", Kind::Account, "the same"),
    ("REDIS_URL", Kind::Account, "the same"),
    ("*MONGO*_UR?", Kind::Account, "the same"),
    ("*_WEBHOOK", Kind::Account, "the same as its address"),
    (
        "*_WEBHOOK_URL",
        Kind::Account,
        "who knows the address may write there",
    ),
    (
        "AWS_*",
        Kind::Account,
        "Amazon: keys, session tokens, profiles",
    ),
    ("AZURE_*", Kind::Account, "Microsoft: clients and tenants"),
    (
        "VAULT_*",
        Kind::Account,
        "HashiCorp: tokens and their server",
    ),
    ("GH_ENTERPRISE_*", Kind::Account, "GitHub's other servers"),
];
/// Directories of a shell.
const DIRECTORIES: [&str; 3] = ["PWD", "OLDPWD", "OLD_PWD"];
/// Names of parameters in the query of an address whose long values are secrets.
const QUERY_NAMES: [&str; 9] = [
    "sig",
    "signature",
    "key",
    "code",
    "hmac",
    "X-Amz-Signature",
    "X-Amz-Security-Token",
    "X-Goog-Signature",
    "X-Goog-Credential",
];
/// The longest name that is looked up, in bytes. Longer ones are no names.
const MAX_NAME_BYTES: usize = 128;

/// Whether an option or a field of this name (without dashes before it) holds a secret.
/// `--no-password`, `--password-file` and `--token-type` do not.
pub(super) fn names_secret(name: &str) -> bool {
    kind(name, &normal(name)) == Some(Kind::Secret)
}

/// Whether a variable of this name holds a secret if this is its value.
pub(super) fn variable_has_secret(name: &str, value: &str) -> bool {
    match kind(name, &normal(name)) {
        Some(Kind::Secret) => true,
        Some(Kind::Key) => name.ends_with("_KEY") && !value.starts_with('.'),
        Some(Kind::Account | Kind::Plain) | None => false,
    }
}

/// Whether a query's parameter of this name holds a secret.
pub(super) fn names_secret_parameter(name: &str) -> bool {
    QUERY_NAMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a variable of this name is kept from commands, by custom.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let is_kept = |normal: &str| kind(name, normal).is_some_and(|kind| kind != Kind::Plain);
    // The words of `camelCase` count, and so does the name as it stands.
    let (words, whole) = (normal(name), name.to_ascii_uppercase());
    is_kept(&words) || (whole != words && is_kept(&whole))
}

fn kind(name: &str, normal: &str) -> Option<Kind> {
    if name.len() > MAX_NAME_BYTES || DIRECTORIES.contains(&name) {
        return None;
    }
    let known = NAMES
        .iter()
        .find(|(glob, _, _)| fits(glob, normal, Case::Counts));
    known.map(|(_, kind, _)| *kind)
}

/// A name in upper case, with `_` between its words.
fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    let mut before = ' ';
    for character in name.chars() {
        if character.is_ascii_uppercase() && before.is_ascii_lowercase() {
            normal.push('_');
        }
        before = character;
        normal.push(match character {
            '-' | '.' | ':' => '_',
            other => other.to_ascii_uppercase(),
        });
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_tell_secrets_from_the_rest() {
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
            "npm_config__authToken",
            "MONGO_URI",
            "VAULT_ADDR",
            "TOKEN",
            "GPG_PASSPHRASE",
            "DB_PASS",
            "SLACK_WEBHOOK_URL",
            "SSHPASS",
            "BW_SESSION",
            "OP_SESSION_my",
            "KUBE_CONFIG_DATA",
            "TF_TOKEN_app_terraform_io",
            "ORG_GRADLE_PROJECT_signingKey",
            "ORG_GRADLE_PROJECT_signingPassword",
            "PRIVATEKEY",
            "ACCESSKEY",
            "CONNECTION_STRING",
            "MY_CREDS",
            "COOKIE",
            "JWT",
            "CI_JOB_JWT",
            "CI_JOB_JWT_V2",
            "BEARER",
            "AUTHORIZATION",
            "SESSION_ID",
            "SLACK_WEBHOOK",
            "STRIPE_SK",
            "MASTERKEY",
            "TELEGRAM_BOT",
            "LDAP_BINDPW",
            "OAUTH_REFRESH",
        ] {
            assert!(is_secret_variable(secret), "{secret}");
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
            "XDG_SESSION_ID",
            "KEYBOARD",
            "AUTHOR",
            "CARGO_HOME",
            "HTTP_PROXY",
            "PIP_INDEX_URL",
            "DBUS_SESSION_BUS_ADDRESS",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "COMPASS",
            "POSTGRES_URL",
            "TERM_SESSION_ID",
            "AUTO_REFRESH",
            "BEARER_FORMAT",
            "WEBHOOK_PORT",
        ] {
            assert!(!is_secret_variable(plain), "{plain}");
        }
    }

    #[test]
    fn options_and_fields_are_told_by_their_last_word() {
        for secret in [
            "password",
            "db-password",
            "client_secret",
            "clientSecret",
            "spring.datasource.password",
            "_authToken",
            "storepass",
            "oauth2-bearer",
            "pypi-token.pypi",
        ] {
            assert!(names_secret(secret), "{secret}");
        }
        for plain in [
            "no-password",
            "password-file",
            "token-type",
            "secret-name",
            "next-token",
            "key",
            "",
        ] {
            assert!(!names_secret(plain), "{plain}");
        }
    }
}
