//! Programs that start others: what a command starts, taken off it.
//!
//! Each wrapper's own options are read by its manual, so that a value of one is not taken for the
//! command. It must not know what is dangerous.

pub(crate) mod other;
pub(crate) mod table;

use crate::program::kind::{
    self, Reader, SqlClient, base_name, is_interpreter, is_shell, sql_client,
};
use crate::program::options::{Order, Valued, options};
use crate::program::wrapper::other::{
    after_any, alias, container, editor, env, find, git, has_query, parallel, screen, su, tar,
    tmux, trap, xargs,
};
use crate::program::wrapper::table::Wrapper;
use crate::shell::quote::quoted;
use crate::shell::word::Word;

/// What a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Started {
    /// A command, its words known.
    Argv(Vec<Word>),
    /// A line for a shell, from the argument `at`.
    Line { text: String, at: usize },
    /// Code for an interpreter.
    Code { text: String, at: usize },
    /// Statements for a database.
    Sql {
        client: SqlClient,
        text: String,
        at: usize,
    },
    /// Something that cannot be known; why.
    Opaque(&'static str),
}

/// What this command starts; empty: nothing that is known to.
pub(crate) fn started_by(program: &str, args: &[Word]) -> Vec<Started> {
    if is_shell(program) && !matches!(program, "busybox" | "toybox") {
        return shell_line(args);
    }
    if is_interpreter(program) {
        return interpreter(program, args);
    }
    if let Some(client) = sql_client(program) {
        return sql(client, program, args);
    }
    match program {
        "env" => env(args),
        "coproc" => coproc(args),
        "eval" => joined(args, 0),
        "trap" => trap(args),
        "alias" => alias(args),
        "command" if has_query(args) => Vec::new(),
        "xargs" => xargs(args),
        "parallel" => parallel(args),
        "find" => find(args),
        "fd" | "fdfind" => after_any(args, &["-x", "-X", "--exec", "--exec-batch"]),
        "docker" | "podman" | "nerdctl" | "docker-compose" => container(args),
        "kubectl" | "oc" if args.first().is_some_and(|word| word.text == "exec") => {
            after_any(args, &["--"])
        }
        "su" => su(args),
        "tmux" => tmux(args),
        "screen" => screen(args),
        "git" => git(args),
        "awk" | "gawk" | "mawk" | "nawk" => args
            .iter()
            .enumerate()
            .map(|(at, word)| Started::Code {
                text: word.text.clone(),
                at,
            })
            .collect(),
        "vi" | "vim" | "nvim" | "ex" => editor(args),
        "tar" => tar(args),
        _ => table::wrapper(program).map_or_else(Vec::new, |wrapper| table(wrapper, args)),
    }
}

fn table(wrapper: &Wrapper, args: &[Word]) -> Vec<Started> {
    let options = options(args, wrapper.valued, Order::OptionsFirst);
    let mut started = Vec::new();
    if let Some((at, line)) = options.value(wrapper.line_options) {
        started.push(Started::Line {
            text: line.to_owned(),
            at,
        });
    }
    let mut operands = options.operands.iter().skip(wrapper.skip);
    let first = if wrapper.assignments {
        operands.find(|(_, text)| !is_assignment(text))
    } else {
        operands.next()
    };
    let Some((at, text)) = first else {
        return started;
    };
    // Options that stand behind the operands skipped: `flock FILE -c LINE`, `su USER -c LINE`.
    if text.starts_with('-') && wrapper.skip > 0 {
        let rest = args.get(*at..).unwrap_or_default();
        let behind = crate::program::options::options(rest, wrapper.valued, Order::OptionsFirst);
        if let Some((line_at, line)) = behind.value(wrapper.line_options) {
            started.push(Started::Line {
                text: line.to_owned(),
                at: at + line_at,
            });
            return started;
        }
    }
    if wrapper.joins {
        started.extend(joined(args, *at));
    } else {
        started.push(Started::Argv(args.get(*at..).unwrap_or_default().to_vec()));
    }
    started
}

pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// These arguments as one shell line, as eval(1p), watch(1) and ssh(1) make it.
pub(crate) fn joined(args: &[Word], from: usize) -> Vec<Started> {
    let words = args.get(from..).unwrap_or_default();
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let text = texts.join(" ");
    if text.is_empty() {
        Vec::new()
    } else {
        vec![Started::Line { text, at: from }]
    }
}

/// `$1` to `$9`: `$10` is `$1` and a zero.
const MAX_PARAMETERS: usize = 9;

/// bash(1), zshmisc(1), fish(1): `-c` in any cluster of options.
pub(crate) fn shell_line(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> =
        Valued::These(&["o", "O", "rcfile", "init-file", "C", "init-command"]);
    let options = options(args, VALUED, Order::OptionsFirst);
    let mut started = Vec::new();
    if let Some((at, text)) = options.value(&["C", "init-command"]) {
        let text = text.to_owned();
        started.push(Started::Line { text, at });
    }
    if let Some((at, text)) = options.value(&["command"]) {
        let text = text.to_owned();
        started.push(Started::Line { text, at });
    }
    if options.has(&["c", "command"])
        && let Some((at, text)) = options.operands.first()
    {
        let parameters = options.operands.get(2..).unwrap_or_default();
        let parameters: Vec<String> = parameters.iter().map(|(_, text)| quoted(text)).collect();
        started.push(Started::Line {
            text: with_parameters(text, &parameters),
            at: *at,
        });
    }
    started
}

/// A script as it runs with these positional parameters, each quoted; as it is without any.
fn with_parameters(script: &str, parameters: &[String]) -> String {
    if parameters.is_empty() {
        return script.to_owned();
    }
    let all = parameters.join(" ");
    let mut text = script.to_owned();
    for name in ["@", "*"] {
        for written in parameter_spellings(name) {
            text = text.replace(&written, &all);
        }
    }
    for (number, parameter) in parameters.iter().take(MAX_PARAMETERS).enumerate() {
        for written in parameter_spellings(&(number + 1).to_string()) {
            text = text.replace(&written, parameter);
        }
    }
    text
}

/// How a script may name a parameter, the longer ones first.
fn parameter_spellings(name: &str) -> [String; 4] {
    [
        format!("\"${{{name}}}\""),
        format!("\"${name}\""),
        format!("${{{name}}}"),
        format!("${name}"),
    ]
}

/// Whether a program with these arguments runs what it reads on standard input.
pub(crate) fn runs_stdin(program: &str, args: &[Word]) -> bool {
    if is_shell(program) {
        const VALUED: Valued<'_> = Valued::These(&["o", "O", "rcfile", "init-file"]);
        let options = options(args, VALUED, Order::OptionsFirst);
        let file = options.operand(0);
        let from_stdin = file.is_none_or(|file| matches!(file, "-" | "/dev/stdin"));
        return options.has(&["s"]) || (!options.has(&["c", "command"]) && from_stdin);
    }
    if matches!(program, "source" | ".") {
        return args.iter().any(|word| word.text == "/dev/stdin");
    }
    if matches!(program, "at" | "batch") {
        return !args
            .iter()
            .any(|word| matches!(&*word.text, "-f" | "-l" | "-d"));
    }
    match kind::reader(program) {
        Reader::Code => args
            .iter()
            .all(|word| word.text == "-" || matches!(&*word.text, "-u" | "-i" | "-B" | "-s")),
        Reader::Sql(_) => true,
        // ssh HOST without a command: the login shell there reads it.
        Reader::Shell => matches!(program, "ssh") && started_by(program, args).is_empty(),
        Reader::Text | Reader::Other => false,
    }
}

/// The process substitution that a shell, or `source`, is given for a script, as it was written.
pub(crate) fn script_substitution<'a>(program: &str, args: &'a [Word]) -> Option<&'a str> {
    let runs_files =
        is_shell(program) || is_interpreter(program) || matches!(program, "source" | ".");
    let script = args.iter().find(|word| !word.text.starts_with('-'))?;
    (runs_files && script.raw.starts_with("<(")).then_some(script.raw.as_str())
}

/// python(1) `-c`, perl(1) `-e`, node(1) `-e` and `-p`, php(1) `-r`.
fn interpreter(program: &str, args: &[Word]) -> Vec<Started> {
    const EVALS: Valued<'_> =
        Valued::These(&["c", "e", "E", "r", "p", "eval", "print", "W", "X", "m"]);
    if program == "deno" && args.first().is_some_and(|word| word.text == "eval") {
        let code = args.get(1).map(|word| Started::Code {
            text: word.text.clone(),
            at: 1,
        });
        return code.into_iter().collect();
    }
    // perl's -p has no value, node's has.
    let options = options(args, EVALS, Order::OptionsFirst);
    let wanted: &[&str] = &["c", "e", "E", "r", "p", "eval", "print"];
    let mut code: Vec<Started> = options
        .values(wanted)
        .into_iter()
        .map(|(at, text)| Started::Code {
            text: text.to_owned(),
            at,
        })
        .collect();
    // `perl -pe CODE`, `ruby -ne CODE`: the cluster's first letter took the rest for its value.
    for (at, word) in args.iter().enumerate() {
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        if cluster
            && word.text.ends_with(['e', 'E', 'r', 'c'])
            && let Some(next) = args.get(at + 1)
        {
            code.push(Started::Code {
                text: next.text.clone(),
                at: at + 1,
            });
        }
    }
    code
}

fn sql(client: SqlClient, program: &str, args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&[
        "c", "command", "e", "execute", "eval", "h", "host", "p", "port", "U", "username", "d",
        "dbname", "u", "n", "a", "D", "database", "f", "file", "v", "set", "cmd", "o", "s", "q",
        "query", "Q", "P",
    ]);
    const MYSQL: Valued<'_> = Valued::These(&[
        "e", "execute", "h", "host", "P", "port", "u", "user", "D", "database", "S", "socket",
    ]);
    let mysql = matches!(program, "mysql" | "mariadb" | "mycli");
    let valued = if mysql { MYSQL } else { VALUED };
    let options = options(args, valued, Order::Permuted);
    let texts = [
        "c", "command", "e", "execute", "eval", "cmd", "q", "query", "Q",
    ];
    let sql = |(at, text): (usize, &str)| Started::Sql {
        client,
        text: text.to_owned(),
        at,
    };
    let mut started: Vec<Started> = options.values(&texts).into_iter().map(sql).collect();
    match client {
        SqlClient::Redis => {
            let words: Vec<&str> = options.operands.iter().map(|(_, text)| *text).collect();
            if let Some((at, _)) = options.operands.first() {
                started.push(sql((*at, &words.join(" "))));
            }
        }
        // sqlite3 FILE SQL…; with the single-dash long options that it has.
        SqlClient::Sql if matches!(program, "sqlite3" | "sqlite" | "duckdb" | "bq" | "usql") => {
            started.extend(options.operands.iter().skip(1).copied().map(sql));
            let cmd = args.iter().position(|word| word.text == "-cmd");
            let text = cmd.and_then(|at| Some((at + 1, args.get(at + 1)?.text.as_str())));
            started.extend(text.map(sql));
        }
        SqlClient::Sql | SqlClient::Mongo => {}
    }
    started
}

/// Whether a text names a program that fetches, or decodes what was hidden.
pub(crate) fn fetches(raw: &str) -> bool {
    let words = raw.split(|c: char| c.is_whitespace() || "|;&()<>`$\"'".contains(c));
    let mut names = words.map(base_name);
    names.any(is_fetcher)
        || raw.contains("base64 -d")
        || raw.contains("base64 --d")
        || raw.contains("/dev/tcp/")
}

/// Whether a program's output comes from somewhere else.
pub(crate) fn is_fetcher(name: &str) -> bool {
    matches!(
        name,
        "curl"
            | "wget"
            | "wget2"
            | "fetch"
            | "aria2c"
            | "http"
            | "https"
            | "xh"
            | "lynx"
            | "nc"
            | "ncat"
            | "netcat"
            | "socat"
            | "ftp"
            | "tftp"
            | "openssl"
            | "uudecode"
    )
}

/// Whether a substitution is of a program that prints settings for the shell to take.
pub(crate) fn prints_environment(raw: &str) -> bool {
    let inner = raw.trim_matches(['"', '$', '<', '(', ')', '`']);
    let name = inner.split_whitespace().next().map_or("", base_name);
    let plain = !inner.contains(['|', ';', '&', '<', '>', '$', '`']);
    // `kubectl completion bash`, `uv generate-shell-completion zsh`.
    let completes = inner
        .split_whitespace()
        .skip(1)
        .any(|word| word.contains("completion"));
    plain
        && (completes
            || matches!(
                name,
                "ssh-agent"
                    | "direnv"
                    | "pyenv"
                    | "rbenv"
                    | "nodenv"
                    | "goenv"
                    | "brew"
                    | "starship"
                    | "zoxide"
                    | "fnm"
                    | "mise"
                    | "conda"
                    | "opam"
                    | "dircolors"
                    | "keychain"
                    | "docker-machine"
                    | "minikube"
                    | "luarocks"
                    | "register-python-argcomplete"
                    | "lesspipe"
                    | "resize"
                    | "atuin"
                    | "fzf"
                    | "gh"
                    | "thefuck"
                    | "tput"
                    | "micromamba"
            ))
}

/// bash(1), Coprocesses: a keyword, which the grammar takes for a program; `coproc NAME { …; }`.
fn coproc(args: &[Word]) -> Vec<Started> {
    let block = args.iter().position(|word| word.text == "{");
    let begin = block.map_or(0, |at| at + 1);
    vec![Started::Argv(
        args.get(begin..).unwrap_or_default().to_vec(),
    )]
}
