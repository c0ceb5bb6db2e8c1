//! Secrets of files of settings, by the forms in which programs write them.
//!
//! They are looked for in output alone. In a command line `name = value` is a test or code.

use std::ops::Range;

use super::lazy_regex::LazyRegex;
use super::secret_names::names_secret;
use super::value::{is_dense, is_mixed, is_path, is_random, is_setting};

/// The punctuation of Django's keys (`get_random_secret_key`).
const PUNCTUATION: [char; 14] = [
    '!', '@', '#', '$', '%', '^', '&', '*', '(', '-', '_', '=', '+', ')',
];
/// Fewer kinds of punctuation may be in an address or a pattern.
const MIN_PUNCTUATION: usize = 5;

/// The form of a setting. The last group of the pattern is the secret, behind the group `name` where there
/// is one.
struct Form {
    /// A text that every match holds. To look for it costs little.
    marker: &'static str,
    pattern: LazyRegex,
    /// Whether a value of this name is a secret. The name is empty where the pattern has none.
    is_secret: fn(&str, &str) -> bool,
}

static FORMS: [Form; 17] = [
    // INI, TOML and YAML without quotes: ~/.aws/credentials, my.cnf, rclone.conf, wg(8).
    Form {
        marker: " = ",
        pattern: LazyRegex::new(
            r#"(?m)^[ \t]*(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})[ \t]+=[ \t]+([^\s'"]+)[ \t]*\r?$"#,
        ),
        is_secret: is_named_value,
    },
    // A value of YAML that a path could begin as: keys of Amazon.
    Form {
        marker: ": /",
        pattern: LazyRegex::new(
            r#"(?m)(?-u:\b)(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64}):[ \t]+(/[^\s'"]+)[ \t]*\r?$"#,
        ),
        is_secret: is_named_value,
    },
    // A block of YAML 1.2.2 (8.1), of one word.
    Form {
        marker: ": ",
        pattern: LazyRegex::new(
            r#"(?m)(?-u:\b)(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64}):[ \t]+[|>][0-9+-]{0,2}[ \t]*\r?\n[ \t]+([^\s'"]+)[ \t]*\r?$"#,
        ),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    // A value of YAML in the line behind its name, of one word.
    Form {
        marker: ":",
        pattern: LazyRegex::new(
            r#"(?m)^[ \t-]*(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64}):[ \t]*\r?\n[ \t]+([^\s'":]+)[ \t]*\r?$"#,
        ),
        is_secret: is_named_value,
    },
    // A name and a value with a tab between, as `cut`, `mysql -B` and lists print them.
    Form {
        marker: "\t",
        pattern: LazyRegex::new(
            r#"(?m)^[ \t]*(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})\t+([^\s'"/]+)[ \t]*\r?$"#,
        ),
        is_secret: is_named_value,
    },
    // A variable of a container: Kubernetes' `env`, and the same in JSON.
    Form {
        marker: "value:",
        pattern: LazyRegex::new(
            r#"(?m)(?-u:\b)name:[ \t]+["']?(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})["']?[ \t]*\r?\n[ \t]+value:[ \t]+["']?([^\s"'<>{}$]+)["']?[ \t]*\r?$"#,
        ),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    Form {
        marker: "\"value\"",
        pattern: LazyRegex::new(
            r#""name"\s*:\s*"(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})"\s*,\s*"value"\s*:\s*"([^\s"<>{}$]+)""#,
        ),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    // A constant of PHP, as in wp-config.php.
    Form {
        marker: "define(",
        pattern: LazyRegex::new(
            r#"define\([ \t]*["'](?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})["'][ \t]*,[ \t]*["']([^\s"']+)["'][ \t]*\)"#,
        ),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    // A quoted value of any characters, such as Django's 50.
    Form {
        marker: "=",
        pattern: LazyRegex::new(
            r#"(?-u:\b)(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})[ \t]*=[ \t]*["']([^\s"']{32,128})["']"#,
        ),
        is_secret: |name, value| is_field(name) && is_mixed(value) && has_punctuation(value),
    },
    // A row of a table: `| name | value |`, as psql and aws print it.
    Form {
        marker: "| ",
        pattern: LazyRegex::new(
            r"\|[ \t]+(?<name>[A-Za-z_][A-Za-z0-9_.-]{0,64})[ \t]+\|[ \t]+([^\s|`]+)[ \t]+\|",
        ),
        is_secret: is_named_value,
    },
    // A registry's login in Docker's config.json, containers-auth.json(5): base64 of `name:password`.
    Form {
        marker: "\"auth\"",
        pattern: LazyRegex::new(r#""auth"\s*:\s*"([A-Za-z0-9+/]{6,}={0,2})""#),
        is_secret: |_, value| is_base64(value),
    },
    // The same in npm's npmrc and in YAML.
    Form {
        marker: "auth",
        pattern: LazyRegex::new(
            r#"(?-u:\b)_?auth(?:[ \t]*=[ \t]*|:[ \t]+)["']?([A-Za-z0-9+/]{6,}={0,2})["']?[ \t]*(?:\r?\n|$)"#,
        ),
        is_secret: |_, value| is_base64(value),
    },
    // Elements of XML: Maven's settings.xml.
    Form {
        marker: "</",
        pattern: LazyRegex::new(r"<(?<name>[A-Za-z][A-Za-z0-9_.-]{0,64})>\s*([^<>\s$]+)\s*</"),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    // Elements of XML with the name and the value as attributes: web.config, Ant, Spring.
    Form {
        marker: "value=",
        pattern: LazyRegex::new(
            r#"(?:key|name)=["'](?<name>[A-Za-z][A-Za-z0-9_.:-]{0,64})["']\s+value=["']([^\s"'<>$]+)["']"#,
        ),
        is_secret: |name, value| is_field(name) && !is_setting(value) && !is_path(value),
    },
    // The password file of libpq (PostgreSQL 18, 32.16).
    Form {
        marker: ":5432:",
        pattern: LazyRegex::new(r"(?m)^[^:\s]+:5432:[^:\s]+:[^:\s]+:(\S+)$"),
        is_secret: |_, _| true,
    },
    // RFC 7518 §6: the private members of a JSON Web Key.
    Form {
        marker: "\"kty\"",
        pattern: LazyRegex::new(r#""(?:d|p|q|dp|dq|qi|k)"\s*:\s*"([A-Za-z0-9_-]{32,})""#),
        is_secret: |_, value| is_dense(value),
    },
    // What Amazon gives with a key's id, in lists without names: CSV, columns.
    Form {
        marker: "A",
        pattern: LazyRegex::new(
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?:[ \t,]+[0-9TZ:+-]{10,40})?[ \t,]+([A-Za-z0-9/+]{40})(?:[\s,]|$)",
        ),
        is_secret: |_, value| is_dense(value),
    },
];

/// Adds the secrets of settings in a text.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for form in &FORMS {
        if !text.contains(form.marker) {
            continue;
        }
        // Captures cost more than a search for any match.
        let Some(pattern) = form.pattern.get().filter(|pattern| pattern.is_match(text)) else {
            continue;
        };
        for captures in pattern.captures_iter(text) {
            let name = captures.name("name").map(|name| name.as_str());
            let secret = captures.get(1 + usize::from(name.is_some()));
            if let Some(secret) = secret
                && (form.is_secret)(name.unwrap_or_default(), secret.as_str())
            {
                found.push(secret.range());
            }
        }
    }
}

/// Whether a setting without quotes is a secret. In code a word of letters alone names a variable there.
fn is_named_value(name: &str, value: &str) -> bool {
    let is_value = if is_path(value) {
        is_dense(value) && !value.contains(['-', '_', '.'])
    } else {
        is_mixed(value) && !value.contains(['(', '[', '{', '$', '<'])
    };
    is_value && is_field(name)
}

fn is_field(name: &str) -> bool {
    names_secret(name) && !name.eq_ignore_ascii_case("auth")
}

/// Whether a value has as many kinds of punctuation as only random text has.
fn has_punctuation(value: &str) -> bool {
    let kinds = PUNCTUATION.iter().filter(|kind| value.contains(**kind));
    kinds.count() >= MIN_PUNCTUATION
}

/// Whether a value may be base64 and is no word.
fn is_base64(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len().is_multiple_of(4)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && (value.ends_with('=') || is_random(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_settings_are_told_from_the_rest() {
        let form = regex::Regex::new("«([^»]*)»").unwrap();
        for line in [
            // ~/.aws/credentials; the keys are those of Amazon's documentation.
            "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "aws_secret_access_key = «/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "[default]\naws_session_token = «IQoJb3JpZ2luX2VjEHoaCXVzL/X+3t5A==»\r\nregion = eu-1",
            "secret_access_key: «/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "AKIAIOSFODNN7EXAMPLE,«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
            "CREDENTIALS\tASIAIOSFODNN7EXAMPLE\t2026-05-19T18:06:10+00:00\t«wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»\tx",
            "password = «hunter2»",
            "  db.password = «s3cr3t!»",
            "pass = «obscured-1»",
            "PrivateKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»",
            "PresharedKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»",
            r#"{"auths":{"ghcr.io":{"auth": "«bWU6aHVudGVyMg==»"}}}"#,
            "//npm.example/:_auth=«bWU6aHVudGVyMg==»\n",
            "      auth: «bWU6aHVudGVyMg==»\n",
            "password: |\n  «hunter2»\nuser: me",
            "  db_password: >-\r\n    «hunter»\r\n",
            "<password>«hunter2»</password>",
            r#"<add key="password" value="«hunter»"/>"#,
            "<property name='db.password'\n value='«hunter2»'>",
            "password:\n  «hunter2»\nuser: me",
            "|  SecretAccessKey |  «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»  |",
            "+--+\n| password | «hunter2» |\n",
            "<server><password> «hunter» </password></server>",
            "db.example:5432:app:me:«hunter2»",
            r#"{"kty":"EC","d":"«jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI»"}"#,
            "SECRET_KEY = '«8m&k$2(v=x!r)q^w+t-3z_n#h*5j@c%b7y9d&f1g0s(l4p=a!»'",
            "SECRET_KEY = \"«django-insecure-k&2(v=x!rq^w+t3zn#h*5j@c%b7y9df1g0»\"",
            "define('DB_PASSWORD', '«hunter2;x»');",
            "define( \"AUTH_KEY\", \"«a&b(c)d1»\" );",
            "DB_PASSWORD\t«hunter2»\r\nDB_HOST\tdb1",
            "- name: DB_PASSWORD\n  value: «hunter»\n- name: HOST\n  value: db1",
            "  - name: \"API_TOKEN\"\r\n    value: '«abc-1»'\r\n",
            r#"{"name": "DB_PASSWORD", "value": "«hunter»"}"#,
            // No secrets.
            "max_tokens\t4k",
            "token\tsrc/token1.rs",
            "token\tstring",
            "api_key\tTEXT",
            "- name: DB_PASSWORD\n  value: $(DB_PASSWORD)",
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db1}",
            "- name: DB_PASSWORD\n  value: \"{{ .Values.password }}\"",
            r#"{"name": "password", "value": "${DB2}"}"#,
            "define('DB_PASSWORD', getenv('DB2'));",
            "define('WP_DEBUG', true);",
            "define('DB_HOST', 'db1');",
            "token_url = 'https://login.example/oauth2/v2.0/token?a=1&b=2'",
            "password = 'required|string|min:8|max:255|confirmed'",
            "token = next_token",
            "token = tokens[1]",
            "password = getpass2()",
            "api_key = os.environ",
            "secret_file = /run/secrets/Db1",
            "password = /run/secrets/Db1-password",
            "password: /run/secrets/Db1-password",
            "if token = b2 then",
            "max_tokens = 4096",
            "password = ${DB2_PASSWORD}",
            r#""auth": "required""#,
            r#""auth": "oauth2""#,
            "auth: optional\n",
            "password: |\n  of several words\n",
            "password: |\nhunter2",
            "name: |\n  hunter2\n",
            "password:\n  required\n",
            "password:\n  min_length: 8\n",
            "token:\n  type2: string\n",
            "| token | string |",
            "| Password | `DB2_PASSWORD` | the name |",
            r#"<add key="password" value="${DB2}"/>"#,
            r#"<add key="color" value="a1b2c3"/>"#,
            "password: |\n  /run/secrets/db\n",
            "author = me",
            "<password>${env.PASSWORD}</password>",
            "<token>true</token>",
            "<name>hunter2</name>",
            "src/a.rs:5432:a:b",
            "key = 12",
        ] {
            let text = line.replace(['«', '»'], "");
            let mut found = Vec::new();
            find(&text, &mut found);
            let found: Vec<_> = found.into_iter().map(|range| &text[range]).collect();
            let wanted: Vec<_> = form
                .captures_iter(line)
                .map(|found| found.get(1).unwrap().as_str())
                .collect();
            assert_eq!(found, wanted, "{line}");
        }
    }
}
