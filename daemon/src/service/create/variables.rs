//! The variables of a request, as the gate sees them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use termd_proto::terminal::{CreateTerminal, Owner};

use crate::service::descent::agent_environment;
use crate::terminal::lifecycle::launch::Creator;
use termd_policy::program::{is_git_setting, is_program_variable};

/// Variables that a shell changes with each command, and that make no program run another one. They
/// count where the command names them.
const PLACE_VARIABLES: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// The shell of agents, beside termd. What it runs is judged.
const TERMD_SHELL: &str = "termd-shell";

/// The variables of a request, each list sorted.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// What is judged and shown, and what a rule for always is for: what the call sets, and of what
    /// the front hands on the variables that make programs run others or that the command names.
    pub(super) judged: Vec<(String, String)>,
    /// What an approval is for: besides these, everything that the front hands on.
    pub(super) all: Vec<(String, String)>,
}

impl Variables {
    /// The variables of a request. An agent's front may hand on any environment (`base_env`), of
    /// which counts what neither the daemon nor the agent's own process has been started with: those
    /// are what a person has set. A person's front hands on the person's own.
    pub(super) fn of(options: &CreateTerminal, owner: &Owner) -> Self {
        let words = Words::of(options);
        let counts = |name: &str| {
            let is_place = PLACE_VARIABLES.contains(&name) && !words.name(name);
            !is_place && Creator::Agent.hands_on(OsStr::new(name))
        };
        let handed_on = if let (Some(base_env), Some(agent)) = (&options.base_env, owner.agent()) {
            let persons = agent_environment(&agent);
            let is_known = |name: &String, value: &String| {
                let has_same = |known: Option<&String>| known == Some(value);
                has_same(persons.get(name))
                    || has_same(std::env::var(name).ok().as_ref())
                    || (name == "SHELL" && is_termd_shell(value))
            };
            // What one of them means, the others say.
            let mut settings = base_env.iter().filter(|(name, _)| is_git_setting(name));
            let has_own_settings = settings.any(|(name, value)| !is_known(name, value))
                || options.env.keys().any(|name| is_git_setting(name));
            let pairs = base_env.iter().filter(|(name, value)| {
                let is_own = !is_known(name, value) || has_own_settings && is_git_setting(name);
                counts(name) && is_own
            });
            pairs.collect()
        } else {
            Vec::new()
        };
        let is_judged = |name: &str| is_program_variable(name) || words.name(name);
        let judged = handed_on.iter().filter(|(name, _)| is_judged(name));
        Self {
            judged: with(judged.copied(), &options.env),
            all: with(handed_on.iter().copied(), &options.env),
        }
    }
}

/// Whether a path leads to termd's own shell, which an agent that calls it has as its `SHELL`.
fn is_termd_shell(path: &str) -> bool {
    let own = std::env::current_exe().map(|termd| termd.with_file_name(TERMD_SHELL));
    let own = own.and_then(fs::canonicalize).ok();
    own.is_some() && fs::canonicalize(path).ok() == own
}

/// Handed on variables, and over them those that the call sets.
fn with<'a>(
    handed_on: impl Iterator<Item = (&'a String, &'a String)>,
    set: &'a BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let mut variables: BTreeMap<&String, &String> = handed_on.collect();
    variables.extend(set);
    let pairs = variables.into_iter();
    pairs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The texts of a command.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn of(options: &'a CreateTerminal) -> Self {
        let words = options.command.iter().chain(&options.args);
        Self(words.map(String::as_str).collect())
    }

    /// Whether a text holds this name, in whatever way.
    fn name(&self, name: &str) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut parts = self.0.iter().flat_map(|text| text.split(|c| !is_part(c)));
        parts.any(|part| part == name)
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::terminal::{Agent, Front};

    use super::*;

    fn owner(front: Front) -> Owner {
        Owner {
            front,
            uid: 1000,
            pid: 1,
            exe: None,
            session: None,
            client: None,
            agent: None,
            terminal: None,
        }
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn names(pairs: &[(String, String)]) -> Vec<&str> {
        pairs.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn what_an_agents_front_hands_on_counts_where_it_is_not_the_persons() {
        let path = std::env::var("PATH").unwrap();
        let options = CreateTerminal {
            command: Some("echo $WHERE".to_owned()),
            env: map(&[("SET", "1")]),
            base_env: Some(map(&[
                ("BASH_ENV", "./x"),
                ("BASH_FUNC_ls%%", "() { :; }"),
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "alias.st"),
                ("GIT_CONFIG_VALUE_0", "!./x"),
                ("WHERE", "/"),
                ("OTHER", "1"),
                ("TERMD_OTHER", "1"),
                ("PATH", &path),
                // These make no difference, or termd sets them itself.
                ("PWD", "/a"),
                ("_", "/bin/x"),
                ("TERM", "dumb"),
                ("PAGER", "./x"),
                ("SYSTEMD_PAGER", "./x"),
                ("TERMD_TERMINAL", "term_aaaaaaaaaaaa"),
                ("NOTIFY_SOCKET", "/x"),
            ])),
            ..CreateTerminal::default()
        };
        for front in [Front::Mcp, Front::Acp, Front::Shell] {
            let variables = Variables::of(&options, &owner(front));
            let judged = [
                "BASH_ENV",
                "BASH_FUNC_ls%%",
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_VALUE_0",
                "SET",
                "WHERE",
            ];
            assert_eq!(names(&variables.judged), judged);
            let all = [
                "BASH_ENV",
                "BASH_FUNC_ls%%",
                "GIT_CONFIG_COUNT",
                "GIT_CONFIG_KEY_0",
                "GIT_CONFIG_VALUE_0",
                "OTHER",
                "SET",
                "TERMD_OTHER",
                "WHERE",
            ];
            assert_eq!(names(&variables.all), all);
        }
        let persons = Variables::of(&options, &owner(Front::Cli));
        assert_eq!(names(&persons.all), ["SET"]);
        // An agent's `termctl` hands on what the agent has exported.
        let agents = Owner {
            agent: Some(Box::new(Agent {
                front: Front::Mcp,
                client: None,
                pid: 1,
                started: 0,
                aliases: Vec::new(),
            })),
            ..owner(Front::Cli)
        };
        assert_eq!(Variables::of(&options, &agents).judged.len(), 7);
    }
}
