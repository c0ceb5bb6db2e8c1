//! Names of options, variables and fields that hold secrets, and the programs whose short options do.

/// Endings of names that name a secret. Letters of either case fit, and `-` fits `_`.
const SECRET_ENDINGS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "api_key",
    "access_key",
    "secret_key",
    "auth_key",
    "encryption_key",
    "credential",
    "credentials",
    "_pwd",
];
/// Whole names that name a secret.
const SECRET_NAMES: [&str; 4] = ["pass", "pwd", "pw", "auth"];
/// A variable with this ending holds a secret, unless its value is a path or a reference.
const KEY_ENDING: &str = "_KEY";
/// Values of options that are settings and not secrets.
const NO_SECRETS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "none", "null", "prompt", "stdin", "-", "ask",
];

/// Whether an option or a field of this name (without dashes before it) holds a secret.
/// `--no-password`, `--password-file` and `--token-type` do not.
pub(super) fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    if name.starts_with("no_") || name.is_empty() {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str())
        || name.ends_with("_pass")
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a variable of this name holds a secret, where a shell assigns it.
pub(super) fn names_secret_variable(name: &str) -> bool {
    // `PWD` and `OLDPWD` are the directories of a shell.
    !matches!(name, "PWD" | "OLDPWD" | "OLD_PWD") && names_secret(name)
}

/// Whether a variable of this name holds a key. With this value it may hold the path of one.
pub(super) fn names_key(name: &str, value: &str) -> bool {
    let is_path = value.starts_with(['/', '~', '.']);
    name.ends_with(KEY_ENDING) && !is_path
}

/// Whether a value can be a secret. A setting such as `true` cannot, nor can a reference that a shell
/// replaces (`$TOKEN`, `$(pass show x)`).
pub(super) fn is_value(value: &str) -> bool {
    let bare = value.trim_matches(['"', '\'']);
    let is_reference = bare.starts_with('$') || bare.starts_with('`') || bare.starts_with("${{");
    !bare.is_empty() && !is_reference && !NO_SECRETS.contains(&bare.to_ascii_lowercase().as_str())
}

/// How a program takes a secret by a short option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `-pSECRET`; `-p` alone asks for it.
    Attached,
    /// `-p SECRET` or `-pSECRET`.
    Separate,
    /// `-u NAME:SECRET`, with this separator. The name stays.
    Pair(char),
    /// A prefix and the secret in one argument, such as `pass:SECRET` of openssl(1).
    Prefix,
}

/// One option of a program that holds a secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretOption {
    programs: &'static [&'static str],
    /// The subcommand of the program that takes the option, if not all do.
    pub(super) subcommand: Option<&'static str>,
    pub(super) option: &'static str,
    pub(super) form: Form,
}

const fn option(
    programs: &'static [&'static str],
    subcommand: Option<&'static str>,
    option: &'static str,
    form: Form,
) -> SecretOption {
    SecretOption {
        programs,
        subcommand,
        option,
        form,
    }
}

/// From the programs' manual pages.
const OPTIONS: [SecretOption; 23] = [
    option(MYSQL, None, "-p", Form::Attached),
    option(MONGO, None, "-p", Form::Separate),
    option(&["sshpass"], None, "-p", Form::Separate),
    option(CONTAINERS, Some("login"), "-p", Form::Separate),
    option(&["az"], Some("login"), "-p", Form::Separate),
    option(&["oc"], Some("login"), "-p", Form::Separate),
    option(&["curl"], None, "-u", Form::Pair(':')),
    option(&["curl"], None, "--user", Form::Pair(':')),
    option(&["curl"], None, "-U", Form::Pair(':')),
    option(&["curl"], None, "--proxy-user", Form::Pair(':')),
    option(&["http", "https", "xh"], None, "-a", Form::Pair(':')),
    option(&["http", "https", "xh"], None, "--auth", Form::Pair(':')),
    option(&["smbclient", "net"], None, "-U", Form::Pair('%')),
    option(&["redis-cli"], None, "-a", Form::Separate),
    option(LDAP, None, "-w", Form::Separate),
    option(&["sqlcmd", "bcp"], None, "-P", Form::Separate),
    option(&["zip", "unzip"], None, "-P", Form::Separate),
    option(
        &["7z", "7za", "7zr", "7zz", "rar", "unrar"],
        None,
        "-p",
        Form::Attached,
    ),
    option(&["ipmitool"], None, "-P", Form::Separate),
    option(&["openssl"], None, "pass:", Form::Prefix),
    option(
        &["xfreerdp", "wlfreerdp", "mstsc"],
        None,
        "/p:",
        Form::Prefix,
    ),
    option(
        &["mosquitto_pub", "mosquitto_sub"],
        None,
        "-P",
        Form::Separate,
    ),
    option(
        &["snmpget", "snmpwalk", "snmpset"],
        None,
        "-A",
        Form::Separate,
    ),
];
const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlshow",
    "mysqlcheck",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
];
const MONGO: &[&str] = &[
    "mongo",
    "mongosh",
    "mongodump",
    "mongorestore",
    "mongoexport",
];
const CONTAINERS: &[&str] = &[
    "docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "crane",
];
const LDAP: &[&str] = &[
    "ldapsearch",
    "ldapadd",
    "ldapmodify",
    "ldapdelete",
    "ldappasswd",
    "ldapwhoami",
];

/// The options of a program that hold a secret, by the program's name or path.
pub(super) fn options_of(program: &str) -> impl Iterator<Item = &'static SecretOption> {
    let name = program.rsplit('/').next().unwrap_or(program).to_owned();
    OPTIONS
        .iter()
        .filter(move |known| known.programs.contains(&name.as_str()))
}
