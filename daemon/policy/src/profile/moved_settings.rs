//! Settings and secrets that a variable moves away from their usual place in the home.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a variable says of settings.
#[derive(Debug, Clone, Copy)]
enum Moved {
    /// It names the directory in whose stead this one of the home is usual.
    Directory(&'static str),
    /// It names the directory of these files, which are usually in the home itself.
    Files(&'static [&'static str]),
    /// It names files that run later, or name programs.
    Protected,
    /// It names files that give rights elsewhere, or hold what a person has typed.
    Hidden,
}

use Moved::{Directory, Files, Hidden, Protected};

/// The variables, each as its program documents it: the XDG Base Directory Specification, `zsh(1)`,
/// `bash(1)`, `dash(1)`, `readline(3)`, `python(1)`, `git(1)`, `gpg(1)`, `pass(1)`, the Cargo and rustup
/// books, and the manuals of the others.
const VARIABLES: &[(&str, Moved)] = &[
    ("XDG_CONFIG_HOME", Directory(".config")),
    ("XDG_DATA_HOME", Directory(".local/share")),
    ("XDG_STATE_HOME", Directory(".local/state")),
    ("XDG_CACHE_HOME", Directory(".cache")),
    // Shells and interpreters.
    (
        "ZDOTDIR",
        Files(&[
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".zsh_history",
            ".zhistory",
            ".histfile",
        ]),
    ),
    ("ZSH", Directory(".oh-my-zsh")),
    ("ENV", Protected),
    ("BASH_ENV", Protected),
    ("INPUTRC", Protected),
    ("PYTHONSTARTUP", Protected),
    ("IPYTHONDIR", Directory(".ipython")),
    ("STARSHIP_CONFIG", Protected),
    ("MISE_CONFIG_DIR", Directory(".config/mise")),
    // Code, packages and editors.
    ("GIT_CONFIG_GLOBAL", Protected),
    ("HGRCPATH", Protected),
    ("CARGO_HOME", Directory(".cargo")),
    ("RUSTUP_HOME", Directory(".rustup")),
    ("COMPOSER_HOME", Directory(".config/composer")),
    ("KITTY_CONFIG_DIRECTORY", Directory(".config/kitty")),
    ("WEZTERM_CONFIG_DIR", Directory(".config/wezterm")),
    ("WEZTERM_CONFIG_FILE", Protected),
    // Agents.
    ("CLAUDE_CONFIG_DIR", Directory(".claude")),
    ("CODEX_HOME", Directory(".codex")),
    // Keys.
    ("GNUPGHOME", Directory(".gnupg")),
    ("PASSWORD_STORE_DIR", Directory(".password-store")),
    ("SOPS_AGE_KEY_FILE", Hidden),
    // Clouds and clusters.
    ("AWS_SHARED_CREDENTIALS_FILE", Hidden),
    ("AWS_CONFIG_FILE", Hidden),
    ("AZURE_CONFIG_DIR", Directory(".azure")),
    ("CLOUDSDK_CONFIG", Directory(".config/gcloud")),
    ("GOOGLE_APPLICATION_CREDENTIALS", Hidden),
    ("KUBECONFIG", Hidden),
    ("TF_CLI_CONFIG_FILE", Hidden),
    ("PULUMI_HOME", Directory(".pulumi")),
    ("DATABRICKS_CONFIG_FILE", Hidden),
    // Hosts, databases, registries.
    ("NETRC", Hidden),
    ("PGPASSFILE", Hidden),
    ("RCLONE_CONFIG", Hidden),
    ("XAUTHORITY", Hidden),
    ("GH_CONFIG_DIR", Directory(".config/gh")),
    ("GLAB_CONFIG_DIR", Directory(".config/glab-cli")),
    ("DOCKER_CONFIG", Directory(".docker")),
    ("REGISTRY_AUTH_FILE", Hidden),
    ("HELM_CONFIG_HOME", Directory(".config/helm")),
    ("HF_HOME", Directory(".cache/huggingface")),
    ("HF_TOKEN_PATH", Hidden),
    ("KAGGLE_CONFIG_DIR", Directory(".kaggle")),
    // What a person has typed.
    ("HISTFILE", Hidden),
    ("PYTHON_HISTORY", Hidden),
    ("NODE_REPL_HISTORY", Hidden),
    ("PSQL_HISTORY", Hidden),
    ("MYSQL_HISTFILE", Hidden),
    ("SQLITE_HISTORY", Hidden),
    ("LESSHISTFILE", Hidden),
];

/// Where devices and processes are. `HISTFILE=/dev/null` means that there is no such file.
const NO_FILES: [&str; 2] = ["/dev", "/proc"];

/// The places that variables name, links resolved and not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MovedSettings(BTreeMap<&'static str, Vec<PathBuf>>);

impl MovedSettings {
    /// The places that these variables name, and what their links lead to. A value may be a list
    /// (`KUBECONFIG`); a relative path in it means nothing, and neither does what holds the home
    /// (`ZDOTDIR=$HOME`).
    pub fn of(
        home: &Path,
        value: impl Fn(&str) -> Option<OsString>,
        mut real_path: impl FnMut(&Path) -> Option<PathBuf>,
    ) -> Self {
        let is_place = |path: &PathBuf| {
            let is_file = !NO_FILES.iter().any(|no_file| path.starts_with(no_file));
            path.is_absolute() && is_file && !home.starts_with(path)
        };
        let mut moved = BTreeMap::new();
        for (name, _) in VARIABLES {
            let value = value(name).unwrap_or_default();
            let mut paths: Vec<PathBuf> = env::split_paths(&value).collect();
            paths.extend(env::split_paths(&value).filter_map(|path| real_path(&path)));
            paths.retain(is_place);
            paths.dedup();
            moved.insert(*name, paths);
        }
        Self(moved)
    }

    fn places(&self) -> impl Iterator<Item = (Moved, &PathBuf)> {
        VARIABLES.iter().flat_map(|(name, moved)| {
            let paths = self.0.get(name).into_iter().flatten();
            paths.map(|path| (*moved, path))
        })
    }

    /// Where a path below the home may be as well.
    pub(super) fn elsewhere(&self, below_home: &Path) -> Vec<PathBuf> {
        let moved_to = |(moved, place): (Moved, &PathBuf)| match moved {
            Directory(usual) => match below_home.strip_prefix(usual) {
                Ok(below) if below == Path::new("") => Some(place.clone()),
                Ok(below) => Some(place.join(below)),
                Err(_) => None,
            },
            Files(names) => names
                .iter()
                .any(|name| Path::new(name) == below_home)
                .then(|| place.join(below_home)),
            Protected | Hidden => None,
        };
        self.places().filter_map(moved_to).collect()
    }

    /// The files that run later, or name programs.
    pub(super) fn protected(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind = |(moved, path)| matches!(moved, Protected).then_some(path);
        self.places().filter_map(of_kind)
    }

    /// The files that hold secrets.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind = |(moved, path)| matches!(moved, Hidden).then_some(path);
        self.places().filter_map(of_kind)
    }

    /// The directories of settings.
    pub(super) fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind = |(moved, path)| matches!(moved, Directory(_) | Files(_)).then_some(path);
        self.places().filter_map(of_kind)
    }
}
