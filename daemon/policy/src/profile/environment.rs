//! The environment of a command: variables that pass, that are dropped, and that are set.
//!
//! Variables that a request sets itself never come by here, so they are never dropped.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde::{Deserialize, Deserializer, de};

use crate::glob::{Case, Glob};
use crate::secrets::secret_names::is_secret_variable;
use crate::secrets::shapes::is_secret_value;

/// What is done with variables whose names tell of a secret, or whose values are tokens or addresses with
/// a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretVariables {
    /// They are dropped.
    Drop,
    /// They pass as others do.
    Pass,
}

/// The name of a variable that is set.
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
    /// Absent: as the client's kind has it.
    pub secrets: Option<SecretVariables>,
    /// Names that pass although `secrets` or `drop` name them.
    pub pass: Vec<Glob>,
    /// Names that are dropped.
    pub drop: Vec<Glob>,
    /// If given, only these names pass.
    pub only: Option<Vec<Glob>>,
    /// Variables that are set. Those of the request itself win.
    pub set: BTreeMap<VariableName, VariableValue>,
}

/// One filter of names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Filter {
    /// Absent: as the creator of the command has it.
    secrets: Option<SecretVariables>,
    pass: Vec<Glob>,
    drop: Vec<Glob>,
    only: Option<Vec<Glob>>,
}

impl Filter {
    fn passes(&self, name: &str, value: &str, by_default: SecretVariables) -> bool {
        let named = |globs: &[Glob]| globs.iter().any(|glob| glob.fits(name, Case::Counts));
        if self.only.as_deref().is_some_and(|only| !named(only)) {
            return false;
        }
        if named(&self.pass) {
            return true;
        }
        !named(&self.drop)
            && (self.secrets.unwrap_or(by_default) == SecretVariables::Pass
                || !(is_secret_variable(name) || is_secret_value(value)))
    }
}

/// The rules that a command's environment is made by. A name passes that passes every filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvRules {
    filters: Vec<Filter>,
    set: BTreeMap<String, String>,
}

/// An environment after the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilteredEnv {
    /// The variables that pass.
    pub env: BTreeMap<OsString, OsString>,
    /// The names that are dropped, in order.
    pub dropped: Vec<String>,
    /// The variables that are set.
    pub set: BTreeMap<String, String>,
}

impl EnvRules {
    /// The rules of a client's kind together with those of a profile. `secrets` and `only` of the profile
    /// replace those of the kind; the lists of the profile are added.
    pub fn of(front: &EnvSpec, profile: &EnvSpec) -> Self {
        let both = |front: &[Glob], profile: &[Glob]| [front, profile].concat();
        let filter = Filter {
            secrets: profile.secrets.or(front.secrets),
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

    /// Two rules together. A name passes that passes both. A variable that both set has the first value.
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

    /// Whether a variable of this name passes with this value. `by_default` is what is done with secrets
    /// where nothing is written. Bytes that are not UTF-8 are replaced first.
    pub fn passes(&self, name: &OsStr, value: &OsStr, by_default: SecretVariables) -> bool {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let mut filters = self.filters.iter();
        filters.all(|filter| filter.passes(&name, &value, by_default))
    }

    /// Applies the rules to an environment.
    pub fn apply(
        &self,
        base: BTreeMap<OsString, OsString>,
        by_default: SecretVariables,
    ) -> FilteredEnv {
        let mut dropped = Vec::new();
        let mut env = BTreeMap::new();
        for (name, value) in base {
            if self.passes(&name, &value, by_default) {
                env.insert(name, value);
            } else {
                dropped.push(name.to_string_lossy().into_owned());
            }
        }
        FilteredEnv {
            env,
            dropped,
            set: self.set.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SecretVariables::{Drop, Pass};
    use super::*;

    fn spec(toml: &str) -> EnvSpec {
        toml::from_str(toml).unwrap()
    }

    fn left(rules: &EnvRules, by_default: SecretVariables, names: &[&str]) -> Vec<String> {
        let base = names.iter().map(|name| (name.into(), "v".into())).collect();
        let filtered = rules.apply(base, by_default);
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
    fn a_profile_stands_on_its_front() {
        let names = ["PATH", "X_TOKEN", "Y_TOKEN", "SSH_AUTH_SOCK"];
        let none = EnvSpec::default();
        let bare = EnvRules::of(&none, &none);
        assert_eq!(left(&bare, Drop, &names), ["PATH", "SSH_AUTH_SOCK"]);
        assert_eq!(
            left(&bare, Pass, &names),
            ["PATH", "SSH_AUTH_SOCK", "X_TOKEN", "Y_TOKEN"]
        );

        let front = spec("drop = ['SSH_*']");
        let release = spec("pass = ['X_TOKEN']\nset = { CI = '1' }");
        let rules = EnvRules::of(&front, &release);
        assert_eq!(left(&rules, Drop, &names), ["CI", "PATH", "X_TOKEN"]);
        let only = spec("only = ['PATH', '*_TOKEN']");
        let rules = EnvRules::of(&front, &only);
        assert_eq!(left(&rules, Drop, &names), ["PATH"]);
        let all = spec("secrets = 'pass'");
        let rules = EnvRules::of(&front, &all);
        assert_eq!(left(&rules, Drop, &names), ["PATH", "X_TOKEN", "Y_TOKEN"]);
    }

    #[test]
    fn a_value_tells_of_a_secret_too() {
        let none = EnvSpec::default();
        let rules = EnvRules::of(&none, &none);
        for (name, value, passes) in [
            ("HTTPS_PROXY", "http://proxy:3128", true),
            ("HTTPS_PROXY", "http://me:hunter2@proxy:3128", false),
            ("PIP_INDEX_URL", "https://pypi.org/simple", true),
            (
                "PIP_INDEX_URL",
                "https://abcdefghij0123456789@h/simple",
                false,
            ),
            ("POSTGRES_URL", "postgres://localhost/db", true),
            ("POSTGRES_URL", "postgres://u:p@localhost/db", false),
            ("AMQP_URL", "amqp://u:p@h", false),
            ("GIT_URL", "ssh://git@github.com/a/b", true),
            (
                "ANYTHING",
                "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
                false,
            ),
            (
                "MY_PATH",
                "/opt/ghp_abcdefghijklmnopqrstuvwxyz0123456789",
                true,
            ),
            ("PATH", "/usr/bin:/bin", true),
            ("LS_COLORS", "rs=0:di=01;34:ln=01;36:*.tar=01;31", true),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef",
                true,
            ),
        ] {
            assert_eq!(
                rules.passes(name.as_ref(), value.as_ref(), Drop),
                passes,
                "{name}={value}"
            );
        }
        let pass = EnvRules::of(&none, &spec("pass = ['HTTPS_PROXY']"));
        assert!(pass.passes("HTTPS_PROXY".as_ref(), "http://u:p@h".as_ref(), Drop));
    }

    #[test]
    fn of_several_the_strictest_holds_for_each_name() {
        let none = EnvSpec::default();
        let x = EnvRules::of(&none, &spec("pass = ['X_TOKEN']\nset.A = '1'"));
        let y = EnvRules::of(
            &none,
            &spec("secrets = 'pass'\ndrop = ['PATH']\nset.A = '2'"),
        );
        let names = ["HOME", "PATH", "X_TOKEN", "Y_TOKEN"];
        for rules in [x.clone().merge(y.clone()), y.clone().merge(x.clone())] {
            assert_eq!(left(&rules, Drop, &names), ["A", "HOME", "X_TOKEN"]);
        }
        let merged = x.clone().merge(y).apply(BTreeMap::new(), Drop);
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
