//! Which shells get the integration, and by which arguments and variables. Pure.
//!
//! Only certain interactive shells do: a bash, zsh, fish or dash without arguments other than those for an
//! interactive or a login shell. `-c`, a script, `--norc`, `--posix`, `-f` and all other arguments
//! ask for a particular shell, which is left as it is.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::files::ShellFiles;
use super::nonce::ShellNonce;

/// The nonce. Each script reads and unsets it before anything else.
pub const NONCE_VARIABLE: &str = "TERMD_SHELL_NONCE";
/// The user's `ENV`, which the integration of a login bash and of dash replaces.
const ENV_VARIABLE: &str = "TERMD_SHELL_ENV";
/// The user's `ZDOTDIR`, which the integration of zsh replaces.
const ZDOTDIR_VARIABLE: &str = "TERMD_SHELL_ZDOTDIR";
/// The user's `XDG_DATA_DIRS`, which the integration of fish replaces.
const DATA_DIRS_VARIABLE: &str = "TERMD_SHELL_XDG_DATA_DIRS";
/// The directory that was put before the user's.
const DATA_DIR_VARIABLE: &str = "TERMD_SHELL_DATA_DIR";
/// All of the variables above. One that is not set for a shell is removed from its environment.
const OUR_VARIABLES: [&str; 5] = [
    NONCE_VARIABLE,
    ENV_VARIABLE,
    ZDOTDIR_VARIABLE,
    DATA_DIRS_VARIABLE,
    DATA_DIR_VARIABLE,
];
/// The default of `XDG_DATA_DIRS` (XDG Base Directory Specification).
const DEFAULT_DATA_DIRS: &str = "/usr/local/share:/usr/share";

/// What a shell is given.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The scripts.
    pub files: &'a ShellFiles,
    /// The value that shows that a command line comes from the shell.
    pub nonce: &'a ShellNonce,
}

/// How a shell is started with the integration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// Its arguments, `argv[0]` first.
    pub argv: Vec<String>,
    /// Variables to set.
    pub env_set: Vec<(OsString, OsString)>,
    /// Variables to remove.
    pub env_unset: Vec<OsString>,
    /// Whether the shell is given the nonce, to sign its command lines. One that tells none needs none.
    pub signs_lines: bool,
}

/// How to start the shell of these arguments with the integration. `None`: it gets none.
pub fn injection(
    argv: &[String],
    env: &BTreeMap<OsString, OsString>,
    settings: Settings<'_>,
) -> Option<Injection> {
    let (program, arguments) = argv.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let (dash, name) = match name.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let start = start_of(arguments)?;
    let is_login = dash || start == Start::Login;
    let files = settings.files;
    let mut argv = argv.to_vec();
    // dash cannot tell what it is about to run.
    let signs_lines = name != "dash";
    let mut set = Vec::new();
    if signs_lines {
        set.push((NONCE_VARIABLE, OsString::from(settings.nonce.as_str())));
    }
    let mut keep = |ours: &'static str, name: &'static str, value: String| {
        if let Some(own) = env.get(OsStr::new(name)) {
            set.push((ours, own.clone()));
        }
        set.push((name, value.into()));
    };
    match name {
        // Long options come before short ones: bash(1), OPTIONS.
        "bash" if is_login => {
            argv.insert(1, "--posix".to_owned());
            keep(ENV_VARIABLE, "ENV", files.bash());
        }
        "bash" => {
            argv.splice(1..1, ["--init-file".to_owned(), files.bash()]);
        }
        "dash" => keep(ENV_VARIABLE, "ENV", files.dash()),
        "zsh" => keep(ZDOTDIR_VARIABLE, "ZDOTDIR", files.zsh_directory()),
        "fish" => {
            let name = "XDG_DATA_DIRS";
            let own = env.get(OsStr::new(name)).filter(|own| !own.is_empty());
            let own = own.map_or(DEFAULT_DATA_DIRS.into(), |own| own.to_string_lossy());
            let ours = files.data_directory();
            keep(DATA_DIRS_VARIABLE, name, format!("{ours}:{own}"));
            set.push((DATA_DIR_VARIABLE, ours.into()));
        }
        _ => return None,
    }
    let stale = OUR_VARIABLES
        .into_iter()
        .filter(|name| !set.iter().any(|(taken, _)| taken == name));
    Some(Injection {
        argv,
        env_unset: stale.map(OsString::from).collect(),
        env_set: set
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
        signs_lines,
    })
}

/// The kind of an interactive shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Interactive,
    Login,
}

/// `None` where an argument may make the shell another kind.
fn start_of(arguments: &[String]) -> Option<Start> {
    let mut start = Start::Interactive;
    for argument in arguments {
        match argument.as_str() {
            "-i" | "--interactive" => {}
            "-l" | "--login" | "-il" | "-li" => start = Start::Login,
            _ => return None,
        }
    }
    Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(argv: &[&str], env: &[(&str, &str)]) -> Option<Injection> {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let env = env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let nonce: ShellNonce = serde_json::from_str("\"n\"").unwrap();
        let settings = Settings {
            files: &ShellFiles::at("/r/shell"),
            nonce: &nonce,
        };
        injection(&argv, &env, settings)
    }

    #[test]
    fn only_what_is_an_interactive_shell_for_certain() {
        let table: [(&[&str], Option<&[&str]>); 28] = [
            (
                &["bash"],
                Some(&["bash", "--init-file", "/r/shell/termd.bash"]),
            ),
            (
                &["/bin/bash", "-i"],
                Some(&["/bin/bash", "--init-file", "/r/shell/termd.bash", "-i"]),
            ),
            (&["bash", "-l"], Some(&["bash", "--posix", "-l"])),
            (&["bash", "--login"], Some(&["bash", "--posix", "--login"])),
            (&["-bash"], Some(&["-bash", "--posix"])),
            (&["/usr/bin/zsh"], Some(&["/usr/bin/zsh"])),
            (&["zsh", "-il"], Some(&["zsh", "-il"])),
            (&["-zsh"], Some(&["-zsh"])),
            (&["fish", "--login"], Some(&["fish", "--login"])),
            (&["dash"], Some(&["dash"])),
            (&["/bin/dash", "-i"], Some(&["/bin/dash", "-i"])),
            (&["dash", "-c", "ls"], None),
            (&["dash", "script.sh"], None),
            (&["bash", "-c", "ls"], None),
            (&["bash", "-lc", "ls"], None),
            (&["bash", "script.sh"], None),
            (&["bash", "--norc"], None),
            (&["bash", "--rcfile", "x"], None),
            (&["bash", "--posix"], None),
            (&["bash", "-s"], None),
            (&["zsh", "-f"], None),
            (&["zsh", "-c", "ls"], None),
            (&["fish", "--no-config"], None),
            (&["fish", "-c", "ls"], None),
            (&["sh"], None),
            (&["rbash"], None),
            (&["vim", "bash"], None),
            (&[], None),
        ];
        for (argv, expected) in table {
            let got = decided(argv, &[]).map(|injection| injection.argv);
            let expected =
                expected.map(|argv| argv.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
            assert_eq!(got, expected, "{argv:?}");
        }
    }

    type Variables = &'static [(&'static str, &'static str)];

    #[test]
    fn the_users_own_variables_are_handed_on_and_stale_ones_taken_out() {
        const N: (&str, &str) = ("TERMD_SHELL_NONCE", "n");
        let table: [(&str, Variables, Variables); 9] = [
            ("bash", &[("ENV", "/e")], &[N]),
            ("-bash", &[], &[N, ("ENV", "/r/shell/termd.bash")]),
            (
                "-bash",
                &[("ENV", "/e")],
                &[N, ("TERMD_SHELL_ENV", "/e"), ("ENV", "/r/shell/termd.bash")],
            ),
            ("dash", &[], &[("ENV", "/r/shell/termd.dash")]),
            (
                "dash",
                &[("ENV", "/e")],
                &[("TERMD_SHELL_ENV", "/e"), ("ENV", "/r/shell/termd.dash")],
            ),
            ("zsh", &[], &[N, ("ZDOTDIR", "/r/shell/zsh")]),
            (
                "zsh",
                &[("ZDOTDIR", "")],
                &[N, ("TERMD_SHELL_ZDOTDIR", ""), ("ZDOTDIR", "/r/shell/zsh")],
            ),
            (
                "fish",
                &[],
                &[
                    N,
                    ("XDG_DATA_DIRS", "/r/shell:/usr/local/share:/usr/share"),
                    ("TERMD_SHELL_DATA_DIR", "/r/shell"),
                ],
            ),
            (
                "fish",
                &[("XDG_DATA_DIRS", "/a:/b")],
                &[
                    N,
                    ("TERMD_SHELL_XDG_DATA_DIRS", "/a:/b"),
                    ("XDG_DATA_DIRS", "/r/shell:/a:/b"),
                    ("TERMD_SHELL_DATA_DIR", "/r/shell"),
                ],
            ),
        ];
        for (shell, env, expected) in table {
            let got = decided(&[shell], env).unwrap();
            let expected: Vec<(OsString, OsString)> = expected
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            assert_eq!(got.env_set, expected, "{shell} {env:?}");
            for ours in OUR_VARIABLES {
                let ours = OsString::from(ours);
                let is_set = expected.iter().any(|(name, _)| *name == ours);
                assert_ne!(got.env_unset.contains(&ours), is_set, "{shell} {ours:?}");
            }
        }
    }
}
