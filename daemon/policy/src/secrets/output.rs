//! Secrets in what a command prints, which a model is not to see.
//!
//! Two kinds are known: the values of variables whose names or shapes tell of a secret, and texts with the
//! shape of a service's token, a private key or an address with a password. What a command line's grammar
//! would tell is not looked for: output has none.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::redact::{Redactor, hidden_in};
use super::secret_names::is_secret_variable;
use super::shapes::is_secret_value;
use super::variable_uses::VariableUses;

/// The shortest value that is looked for, in bytes. Shorter ones are parts of other words.
const MIN_VALUE_BYTES: usize = 6;
/// Most bytes of values that are kept. An environment has a few hundred; a certificate store may have
/// more, and each read would look for all of it.
const MAX_VALUES_BYTES: usize = 16 * 1024;

/// The secrets of an environment: names and values.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSecrets(Vec<(String, String)>);

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

impl KnownSecrets {
    /// The secrets of an environment, up to a bound. A value of letters or digits alone, such as
    /// `POSTGRES_PASSWORD=postgres`, is a word like any other and is not one.
    pub fn of<'a>(environment: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let is_secret = |name: &str, value: &str| {
            value.len() >= MIN_VALUE_BYTES
                && classes(value) > 1
                && (is_secret_variable(name) || is_secret_value(value))
        };
        let mut room = MAX_VALUES_BYTES;
        let mut secrets: Vec<_> = environment
            .filter(|(name, value)| is_secret(name, value))
            .filter(|(_, value)| match room.checked_sub(value.len()) {
                Some(left) => {
                    room = left;
                    true
                }
                None => false,
            })
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // A longer value may hold a shorter one.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(secrets)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with each of the values as `[secret NAME]`.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (name, value) in &self.0 {
            if text.contains(value) {
                text = Cow::Owned(text.replace(value, &format!("[secret {name}]")));
            }
        }
        text
    }
}

/// How many kinds of characters a value has: lower case, upper case, digits, others.
fn classes(value: &str) -> usize {
    let has = |is: fn(char) -> bool| usize::from(value.contains(is));
    has(|c| c.is_ascii_lowercase())
        + has(|c| c.is_ascii_uppercase())
        + has(|c| c.is_ascii_digit())
        + has(|c| !c.is_ascii_alphanumeric())
}

impl Redactor {
    /// A command's output with each text that has the shape of a secret as `[secret]`.
    pub fn output<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let finding: Finding = self.shapes_in(text);
        let hidden = hidden_in(text, &finding, &VariableUses::default());
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        for range in hidden {
            shown.push_str(text.get(from..range.start).unwrap_or_default());
            shown.push_str("[secret]");
            from = range.end;
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownSecrets {
        KnownSecrets::of(
            [
                ("API_TOKEN", "hunter2"),
                ("LONG_TOKEN", "hunter2-and-more"),
                ("PASSWORD", "abc12"),
                ("POSTGRES_PASSWORD", "postgres"),
                ("HOME", "/home/me"),
                ("DATABASE_URL", "postgres://me:s3cret-word@host/db"),
            ]
            .into_iter(),
        )
    }

    #[test]
    fn values_are_replaced_by_their_names() {
        for (text, shown) in [
            ("", ""),
            ("token: hunter2!\n", "token: [secret API_TOKEN]!\n"),
            ("hunter2-and-more", "[secret LONG_TOKEN]"),
            ("abc12 postgres /home/me", "abc12 postgres /home/me"),
            (
                "url postgres://me:s3cret-word@host/db",
                "url [secret DATABASE_URL]",
            ),
        ] {
            assert_eq!(known().hide(text), shown);
        }
        let names = format!("{:?}", known());
        assert!(!names.contains("hunter2"), "{names}");
    }

    #[test]
    fn a_large_environment_is_cut() {
        let value = "aB3/".repeat(750);
        let names: Vec<String> = (0..20).map(|number| format!("N{number}_TOKEN")).collect();
        let pairs = names.iter().map(|name| (name.as_str(), value.as_str()));
        assert_eq!(KnownSecrets::of(pairs).0.len(), MAX_VALUES_BYTES / 3_000);
    }

    #[test]
    fn shapes_are_found_in_output() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let text = format!("remote: {token}\nrm -rf x; ls --password 12345678\n");
        assert_eq!(
            Redactor::default().output(&text),
            "remote: [secret]\nrm -rf x; ls --password 12345678\n"
        );
        assert!(matches!(
            Redactor::default().output("plain\n"),
            Cow::Borrowed(_)
        ));
    }
}
