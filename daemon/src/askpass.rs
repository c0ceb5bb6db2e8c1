//! The program that asks a person for the passwords of agents' commands: a link to termctl, which is
//! `termd-askpass` by that name, and the variables by which other programs find it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The link's name, below the runtime directory.
const LINK: &str = "termd-askpass";
/// The program that it leads to, beside termd.
const PROGRAM: &str = "termctl";
/// What sudo(8), ssh(1) and git(1) run to ask for a password.
const VARIABLES: [&str; 3] = ["SUDO_ASKPASS", "SSH_ASKPASS", "GIT_ASKPASS"];
/// Makes ssh(1) run it although there is a tty: an agent has no person there.
const REQUIRE: (&str, &str) = ("SSH_ASKPASS_REQUIRE", "force");

/// The program, by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Askpass(OsString);

impl Askpass {
    /// Makes the link in the runtime directory; `None` where there is no termctl beside this termd.
    pub(crate) fn install(runtime_directory: &Path) -> io::Result<Option<Self>> {
        let termd = std::env::current_exe()?;
        let termctl = termd.with_file_name(PROGRAM);
        if !termctl.is_file() {
            return Ok(None);
        }
        let link = runtime_directory.join(LINK);
        let new: PathBuf = runtime_directory.join(format!("{LINK}.new"));
        match std::fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        symlink(&termctl, &new)?;
        std::fs::rename(&new, &link)?;
        Ok(Some(Self(link.into())))
    }

    /// Sets the variables in a command's environment, where it does not set them itself; empty counts as
    /// set.
    pub(crate) fn add_to(&self, env: &mut BTreeMap<OsString, OsString>) {
        let asks_ssh = !env.contains_key(OsStr::new("SSH_ASKPASS"));
        for name in VARIABLES {
            env.entry(name.into()).or_insert_with(|| self.0.clone());
        }
        if asks_ssh {
            let (name, value) = REQUIRE;
            env.entry(name.into()).or_insert_with(|| value.into());
        }
    }

    /// Takes the variables that are termd's own out of an environment that is handed on: nobody has set
    /// them.
    pub(crate) fn take_from(&self, env: &mut BTreeMap<String, String>) {
        let is_own = |value: &String| OsStr::new(value) == self.0;
        let (require, force) = REQUIRE;
        if env.get("SSH_ASKPASS").is_some_and(is_own)
            && env.get(require).is_some_and(|value| value == force)
        {
            env.remove(require);
        }
        env.retain(|name, value| !(VARIABLES.contains(&name.as_str()) && is_own(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_stays() {
        let askpass = Askpass("/run/termd-askpass".into());
        let pairs = [("GIT_ASKPASS", ""), ("SSH_ASKPASS", "mine")];
        let pairs = pairs.map(|(name, value)| (name.into(), value.into()));
        let mut env = BTreeMap::from_iter(pairs);
        askpass.add_to(&mut env);
        let value = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(value("GIT_ASKPASS"), Some(""));
        assert_eq!(value("SSH_ASKPASS"), Some("mine"));
        assert_eq!(value("SSH_ASKPASS_REQUIRE"), None);
        assert_eq!(value("SUDO_ASKPASS"), Some("/run/termd-askpass"));
    }

    #[test]
    fn what_is_added_is_taken_out_again() {
        let askpass = Askpass("/run/termd-askpass".into());
        let mut env = BTreeMap::new();
        askpass.add_to(&mut env);
        let pairs = env.into_iter();
        let pairs =
            pairs.map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let mut env: BTreeMap<String, String> = pairs.flatten().collect();
        assert_eq!(env.len(), 4);
        env.insert("GIT_ASKPASS".to_owned(), "/tmp/termd-askpass".to_owned());
        askpass.take_from(&mut env);
        assert_eq!(env.into_keys().collect::<Vec<_>>(), ["GIT_ASKPASS"]);
    }
}
