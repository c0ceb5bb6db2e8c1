//! What of the environment a command gets: names that pass, that are dropped, and that are set.
//!
//! Pure: variables in, variables and the names that were dropped out. Promises: what a request sets
//! by itself never comes by here, so it is never dropped; of what is dropped only the name is told.
//! It must not know which front asks, or where variables come from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde::{Deserialize, Deserializer, de};

use crate::glob::{Case, Glob, fits};

/// Names that hold secrets, by custom; in any case. Each with why it is here.
///
/// `SSH_AUTH_SOCK` is not: an agent at the other end signs, and gives no key away; without it
/// `git push` does not work. `GIT_ASKPASS` and `SSH_ASKPASS` name programs.
pub(crate) const SECRET_NAMES: [(&str, &str); 33] = [
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

/// Whether a name holds a secret, by custom.
pub(crate) fn is_secret_name(name: &str) -> bool {
    SECRET_NAMES
        .iter()
        .any(|(pattern, _)| fits(pattern, name, Case::Ignored))
}

/// What is done with variables whose names tell of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secrets {
    /// They are left out.
    Drop,
    /// They pass as others do.
    Pass,
}

/// The name of a variable that may be set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariableName(String);

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            let said = "a variable's name may not be empty, nor hold = or NUL";
            return Err(de::Error::custom(said));
        }
        Ok(Self(name))
    }
}

/// The value of a variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableValue(String);

impl<'de> Deserialize<'de> for VariableValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = String::deserialize(deserializer)?;
        if value.contains('\0') {
            return Err(de::Error::custom("a variable's value may not hold NUL"));
        }
        Ok(Self(value))
    }
}

/// `env` of a profile or of a front.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvSpec {
    /// Absent: as the front has it.
    pub secrets: Option<Secrets>,
    /// Names that pass although `secrets` or `drop` name them.
    pub pass: Vec<Glob>,
    /// Names that are left out.
    pub drop: Vec<Glob>,
    /// Where it is given, nothing but these passes.
    pub only: Option<Vec<Glob>>,
    /// Set on top; the request's own variables win.
    pub set: BTreeMap<VariableName, VariableValue>,
}

/// One way to decide about names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Filter {
    secrets: Secrets,
    pass: Vec<Glob>,
    drop: Vec<Glob>,
    only: Option<Vec<Glob>>,
}

impl Filter {
    fn passes(&self, name: &str) -> bool {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.fits(name, Case::Counts));
        if self.only.as_deref().is_some_and(|only| !named(only)) {
            return false;
        }
        if named(&self.pass) {
            return true;
        }
        !named(&self.drop) && (self.secrets == Secrets::Pass || !is_secret_name(name))
    }
}

/// What a command's environment is made by. Of several, a name passes that passes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvRules {
    filters: Vec<Filter>,
    set: BTreeMap<String, String>,
}

/// An environment after the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filtered {
    /// What is left.
    pub env: BTreeMap<OsString, OsString>,
    /// Names that were left out, in their order.
    pub dropped: Vec<String>,
    /// What is set on top.
    pub set: BTreeMap<String, String>,
}

impl EnvRules {
    /// A front's, and on top of it a profile's: what the profile says of secrets and `only` takes
    /// the place of what the front says, its lists are added to the front's.
    pub fn of(default: Secrets, front: &EnvSpec, profile: &EnvSpec) -> Self {
        let both = |front: &[Glob], profile: &[Glob]| [front, profile].concat();
        let filter = Filter {
            secrets: profile.secrets.or(front.secrets).unwrap_or(default),
            pass: both(&front.pass, &profile.pass),
            drop: both(&front.drop, &profile.drop),
            only: profile.only.clone().or_else(|| front.only.clone()),
        };
        let set = front.set.iter().chain(&profile.set);
        Self {
            filters: vec![filter],
            set: set
                .map(|(name, value)| (name.0.clone(), value.0.clone()))
                .collect(),
        }
    }

    /// Both together: a name passes that passes both; what both set is as the first has it.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        for filter in other.filters {
            if !self.filters.contains(&filter) {
                self.filters.push(filter);
            }
        }
        for (name, value) in other.set {
            self.set.entry(name).or_insert(value);
        }
        self
    }

    /// Whether a variable of this name passes. One that is not UTF-8 is looked at as far as it is.
    pub fn passes(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        self.filters.iter().all(|filter| filter.passes(&name))
    }

    /// Goes through an environment.
    pub fn apply(&self, base: BTreeMap<OsString, OsString>) -> Filtered {
        let mut dropped = Vec::new();
        let mut env = BTreeMap::new();
        for (name, value) in base {
            if self.passes(&name) {
                env.insert(name, value);
            } else {
                dropped.push(name.to_string_lossy().into_owned());
            }
        }
        Filtered {
            env,
            dropped,
            set: self.set.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(toml: &str) -> EnvSpec {
        toml::from_str(toml).unwrap()
    }

    fn left(rules: &EnvRules, names: &[&str]) -> Vec<String> {
        let base = names.iter().map(|name| (name.into(), "v".into())).collect();
        let filtered = rules.apply(base);
        assert_eq!(filtered.dropped.len() + filtered.env.len(), names.len());
        let left = filtered
            .env
            .into_keys()
            .map(|name| name.into_string().unwrap());
        let mut names: Vec<String> = left.chain(filtered.set.into_keys()).collect();
        names.sort();
        names
    }

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

    #[test]
    fn a_profile_stands_on_its_front() {
        let names = ["PATH", "X_TOKEN", "Y_TOKEN", "SSH_AUTH_SOCK"];
        let none = EnvSpec::default();
        let drop = EnvRules::of(Secrets::Drop, &none, &none);
        assert_eq!(left(&drop, &names), ["PATH", "SSH_AUTH_SOCK"]);
        let pass = EnvRules::of(Secrets::Pass, &none, &none);
        assert_eq!(
            left(&pass, &names),
            ["PATH", "SSH_AUTH_SOCK", "X_TOKEN", "Y_TOKEN"]
        );

        let front = spec("drop = ['SSH_*']");
        let release = spec("pass = ['X_TOKEN']\nset = { CI = '1' }");
        let rules = EnvRules::of(Secrets::Drop, &front, &release);
        assert_eq!(left(&rules, &names), ["CI", "PATH", "X_TOKEN"]);
        let only = spec("only = ['PATH', '*_TOKEN']");
        let rules = EnvRules::of(Secrets::Drop, &front, &only);
        assert_eq!(left(&rules, &names), ["PATH"]);
        let all = spec("secrets = 'pass'");
        let rules = EnvRules::of(Secrets::Drop, &front, &all);
        assert_eq!(left(&rules, &names), ["PATH", "X_TOKEN", "Y_TOKEN"]);
    }

    #[test]
    fn of_several_the_strictest_holds_for_each_name() {
        let none = EnvSpec::default();
        let x = EnvRules::of(
            Secrets::Drop,
            &none,
            &spec("pass = ['X_TOKEN']\nset.A = '1'"),
        );
        let y = EnvRules::of(Secrets::Pass, &none, &spec("drop = ['PATH']\nset.A = '2'"));
        let names = ["HOME", "PATH", "X_TOKEN", "Y_TOKEN"];
        for rules in [x.clone().merge(y.clone()), y.clone().merge(x.clone())] {
            assert_eq!(left(&rules, &names), ["A", "HOME", "X_TOKEN"]);
        }
        let merged = x.clone().merge(y).apply(BTreeMap::new());
        assert_eq!(merged.set.get("A").map(String::as_str), Some("1"));
        assert_eq!(x.clone().merge(x.clone()), x);
    }

    #[test]
    fn bad_names_are_refused() {
        for toml in [
            "set = { 'A=B' = '1' }",
            "set = { '' = '1' }",
            "drop = ['']",
            "onyl = []",
        ] {
            assert!(toml::from_str::<EnvSpec>(toml).is_err(), "{toml}");
        }
    }
}
