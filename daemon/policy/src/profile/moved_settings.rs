//! Settings and secrets that a variable moves away from their usual place in the home, and programs that a
//! variable names.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::program::table::ProgramTable;

/// What a variable says of settings.
#[derive(Debug, Clone, Copy)]
enum Moved {
    /// It names the directory in whose stead this one of the home is usual.
    Directory(&'static str),
    /// It names the directory of these files, which are usually in the home itself.
    Files(&'static [&'static str]),
    /// It names directories in which programs are looked for.
    Searched,
    /// It names files that run later, or name programs.
    Protected,
    /// It names files that give rights elsewhere, or hold what a person has typed.
    Hidden,
}

use Moved::{Directory, Files, Hidden, Protected, Searched};

/// The variables, but for those of the gate's table. The line above some of them names their manuals.
const VARIABLES: &[(&str, Moved)] = &[
    // POSIX, "Environment Variables"
    ("PATH", Searched),
    // specifications.freedesktop.org/basedir
    ("XDG_CONFIG_HOME", Directory(".config")),
    ("XDG_DATA_HOME", Directory(".local/share")),
    ("XDG_STATE_HOME", Directory(".local/state")),
    ("XDG_CACHE_HOME", Directory(".cache")),
    // zsh(1), "STARTUP/SHUTDOWN FILES"; github.com/ohmyzsh/ohmyzsh/wiki/Settings
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
    ("ZSH_CUSTOM", Protected),
    // ipython.readthedocs.io/en/stable/development/config.html; docs.jupyter.org, "Common Directories"
    ("IPYTHONDIR", Directory(".ipython")),
    ("JUPYTER_CONFIG_DIR", Directory(".jupyter")),
    // docs.ruby-lang.org, "IRB"; github.com/pry/pry
    ("IRBRC", Protected),
    ("PRYRC", Protected),
    // starship.rs/config; mise.jdx.dev/configuration/environment-variables.html; github.com/nvm-sh/nvm;
    // direnv(1); the same of asdf, pyenv, rbenv, sdkman, oh-my-bash, bash-it and atuin; xinit(1)
    ("STARSHIP_CONFIG", Protected),
    ("MISE_CONFIG_DIR", Directory(".config/mise")),
    ("MISE_GLOBAL_CONFIG_FILE", Protected),
    ("NVM_DIR", Directory(".nvm")),
    ("ASDF_DIR", Directory(".asdf")),
    ("PYENV_ROOT", Directory(".pyenv")),
    ("RBENV_ROOT", Directory(".rbenv")),
    ("SDKMAN_DIR", Directory(".sdkman")),
    ("OSH", Directory(".oh-my-bash")),
    ("BASH_IT", Directory(".bash_it")),
    ("ATUIN_CONFIG_DIR", Directory(".config/atuin")),
    ("XINITRC", Protected),
    ("DIRENV_CONFIG", Directory(".config/direnv")),
    // docs.jj-vcs.dev, "Settings"
    ("JJ_CONFIG", Protected),
    // doc.rust-lang.org/cargo/reference/environment-variables.html; rust-lang.github.io/rustup;
    // getcomposer.org/doc/03-cli.md
    ("CARGO_HOME", Directory(".cargo")),
    ("RUSTUP_HOME", Directory(".rustup")),
    ("COMPOSER_HOME", Directory(".config/composer")),
    // sw.kovidgoyal.net/kitty/conf; wezterm.org/config/files.html, whose programs see the directory in
    // use; zellij.dev/documentation/configuration
    ("KITTY_CONFIG_DIRECTORY", Directory(".config/kitty")),
    ("WEZTERM_CONFIG_DIR", Directory(".config/wezterm")),
    ("WEZTERM_CONFIG_FILE", Protected),
    ("ZELLIJ_CONFIG_DIR", Directory(".config/zellij")),
    ("ZELLIJ_CONFIG_FILE", Protected),
    // Programs whose settings run others: rg(1), bat(1), bundle-config(1), taskrc(5), mailcap(5)
    ("RIPGREP_CONFIG_PATH", Protected),
    ("BAT_CONFIG_PATH", Protected),
    ("BUNDLE_USER_CONFIG", Protected),
    ("TASKRC", Protected),
    ("MAILCAPS", Protected),
    // Agents: code.claude.com/docs/en/settings; developers.openai.com/codex; opencode.ai/docs/config;
    // github.com/google-gemini/gemini-cli, whose variable names the directory of `.gemini`
    ("CLAUDE_CONFIG_DIR", Directory(".claude")),
    ("CODEX_HOME", Directory(".codex")),
    ("OPENCODE_CONFIG", Protected),
    ("OPENCODE_CONFIG_DIR", Directory(".config/opencode")),
    ("GEMINI_CLI_HOME", Files(&[".gemini"])),
    // Keys: gpg(1), pass(1), github.com/getsops/sops, borg's and restic's "Environment Variables"
    ("GNUPGHOME", Directory(".gnupg")),
    ("PASSWORD_STORE_DIR", Directory(".password-store")),
    ("SOPS_AGE_KEY_FILE", Hidden),
    ("SOPS_AGE_SSH_PRIVATE_KEY_FILE", Hidden),
    ("BORG_CONFIG_DIR", Directory(".config/borg")),
    ("RESTIC_PASSWORD_FILE", Hidden),
    ("ANSIBLE_VAULT_PASSWORD_FILE", Hidden),
    // docs.aws.amazon.com/cli, learn.microsoft.com/cli/azure, cloud.google.com/sdk and /storage/docs/boto,
    // docs.oracle.com, "CLI Environment Variables"; docs.openstack.org/openstacksdk
    ("AWS_SHARED_CREDENTIALS_FILE", Hidden),
    ("AWS_CONFIG_FILE", Hidden),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", Hidden),
    ("AZURE_CONFIG_DIR", Directory(".azure")),
    ("AZURE_FEDERATED_TOKEN_FILE", Hidden),
    ("CLOUDSDK_CONFIG", Directory(".config/gcloud")),
    ("GOOGLE_APPLICATION_CREDENTIALS", Hidden),
    ("BOTO_CONFIG", Hidden),
    ("OCI_CLI_CONFIG_FILE", Hidden),
    ("OS_CLIENT_CONFIG_FILE", Hidden),
    // kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig; helm.sh/docs/helm/helm;
    // developer.hashicorp.com/terraform/cli/config; pulumi.com/docs/iac/cli/environment-variables;
    // docs.databricks.com/dev-tools/auth/env-vars; talos.dev
    ("KUBECONFIG", Hidden),
    ("HELM_CONFIG_HOME", Directory(".config/helm")),
    ("HELM_REGISTRY_CONFIG", Hidden),
    ("HELM_REPOSITORY_CONFIG", Hidden),
    ("TF_CLI_CONFIG_FILE", Hidden),
    ("PULUMI_HOME", Directory(".pulumi")),
    ("DATABRICKS_CONFIG_FILE", Hidden),
    ("TALOSCONFIG", Hidden),
    // Hosts and databases: curl(1); postgresql.org/docs, "Environment Variables" of libpq; dev.mysql.com,
    // "Environment Variables"; rclone.org/docs; X(7)
    ("NETRC", Hidden),
    ("PGPASSFILE", Hidden),
    ("PGSERVICEFILE", Hidden),
    ("MYSQL_TEST_LOGIN_FILE", Hidden),
    ("RCLONE_CONFIG", Hidden),
    ("XAUTHORITY", Hidden),
    // Registries: cli.github.com/manual/gh_help_environment; gitlab.com/gitlab-org/cli; docs.docker.com,
    // "docker"; skopeo-login(1); huggingface.co/docs/huggingface_hub, "Environment variables";
    // github.com/Kaggle/kagglehub
    ("GH_CONFIG_DIR", Directory(".config/gh")),
    ("GLAB_CONFIG_DIR", Directory(".config/glab-cli")),
    ("DOCKER_CONFIG", Directory(".docker")),
    ("DOCKER_CERT_PATH", Hidden),
    ("REGISTRY_AUTH_FILE", Hidden),
    ("HF_HOME", Directory(".cache/huggingface")),
    ("HF_TOKEN_PATH", Hidden),
    ("KAGGLE_CONFIG_DIR", Directory(".kaggle")),
    // What a person has typed: bash(1), python(1), nodejs.org/api/repl.html, psql(1), mysql(1),
    // sqlite.org/cli.html, less(1), redis.io/docs, "redis-cli"; gdb(1); docs.julialang.org; R's "savehistory"
    ("HISTFILE", Hidden),
    ("PYTHON_HISTORY", Hidden),
    ("NODE_REPL_HISTORY", Hidden),
    ("PSQL_HISTORY", Hidden),
    ("MYSQL_HISTFILE", Hidden),
    ("SQLITE_HISTORY", Hidden),
    ("LESSHISTFILE", Hidden),
    ("REDISCLI_HISTFILE", Hidden),
    ("GDBHISTFILE", Hidden),
    ("JULIA_HISTORY", Hidden),
    ("R_HISTFILE", Hidden),
];

/// Variables that name an environment in use (venv, conda). What is installed there is a project's own, and so is
/// `node_modules/.bin`: work in the project writes there.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// Where devices and processes are. `HISTFILE=/dev/null` means that there is no such file.
const NO_FILES: [&str; 2] = ["/dev", "/proc"];

/// The places that variables name, links resolved and not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MovedSettings {
    /// By the variable.
    moved: BTreeMap<&'static str, Vec<PathBuf>>,
    /// Programs, and files that they obey, as the variables of the gate's table name them.
    programs: Vec<PathBuf>,
}

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
        let mut places_in = |list: &OsStr| {
            let mut paths: Vec<PathBuf> = env::split_paths(list).collect();
            paths.extend(env::split_paths(list).filter_map(|path| real_path(&path)));
            paths.retain(is_place);
            paths.dedup();
            paths
        };
        let mut moved = BTreeMap::new();
        for (name, _) in VARIABLES {
            moved.insert(*name, places_in(&value(name).unwrap_or_default()));
        }
        let environments = ENVIRONMENTS.iter().filter_map(|name| value(name));
        let environments: Vec<PathBuf> = environments.map(PathBuf::from).collect();
        let is_of_project = |path: &PathBuf| {
            path.iter().any(|name| name == "node_modules")
                || environments.iter().any(|above| path.starts_with(above))
        };
        if let Some(searched) = moved.get_mut("PATH") {
            searched.retain(|path| !is_of_project(path));
        }
        let mut programs = Vec::new();
        for name in ProgramTable::built_in().variables_of_files() {
            let line = value(name).unwrap_or_default();
            programs.extend(places_in(&line));
            // A command line.
            let words = line.to_str().unwrap_or_default().split_whitespace();
            words.for_each(|word| programs.extend(places_in(word.as_ref())));
        }
        Self { moved, programs }
    }

    fn places(&self) -> impl Iterator<Item = (Moved, &PathBuf)> {
        VARIABLES.iter().flat_map(|(name, moved)| {
            let paths = self.moved.get(name).into_iter().flatten();
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
            Searched | Protected | Hidden => None,
        };
        self.places().filter_map(moved_to).collect()
    }

    /// The files that run later, or name programs.
    pub(super) fn protected(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind = |(moved, path)| matches!(moved, Protected).then_some(path);
        self.places().filter_map(of_kind).chain(&self.programs)
    }

    /// The files that hold secrets.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind = |(moved, path)| matches!(moved, Hidden).then_some(path);
        self.places().filter_map(of_kind)
    }

    /// The directories of settings, and those in which programs are looked for.
    pub(super) fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        let of_kind =
            |(moved, path)| matches!(moved, Directory(_) | Files(_) | Searched).then_some(path);
        self.places().filter_map(of_kind)
    }
}
