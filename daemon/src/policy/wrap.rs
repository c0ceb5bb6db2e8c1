//! Programs that start others: what a command starts, taken off it.
//!
//! Each wrapper's own options are read by its manual, so that a value of one is not taken for the
//! command. It must not know what is dangerous.

use termd_proto::policy::Span;

use super::options::{Order, Valued, options};
use super::program::{self, Reader, SqlClient, base_name, is_interpreter, is_shell, sql_client};
use super::word::{Variables, Word, expand};
use super::wrap_table::{self, Wrapper};

/// What a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Started {
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
pub(super) fn started_by(program: &str, args: &[Word]) -> Vec<Started> {
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
        _ => wrap_table::wrapper(program).map_or_else(Vec::new, |wrapper| table(wrapper, args)),
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
        let behind = super::options::options(rest, wrapper.valued, Order::OptionsFirst);
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

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// These arguments as one shell line, as eval(1p), watch(1) and ssh(1) make it.
fn joined(args: &[Word], from: usize) -> Vec<Started> {
    let words = args.get(from..).unwrap_or_default();
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let text = texts.join(" ");
    if text.is_empty() {
        Vec::new()
    } else {
        vec![Started::Line { text, at: from }]
    }
}

/// bash(1), zshmisc(1), fish(1): `-c` in any cluster of options.
fn shell_line(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued = Valued::These(&["o", "O", "rcfile", "init-file", "C", "init-command"]);
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
        started.push(Started::Line {
            text: (*text).to_owned(),
            at: *at,
        });
    }
    started
}

/// Whether a program with these arguments runs what it reads on standard input.
pub(super) fn runs_stdin(program: &str, args: &[Word]) -> bool {
    if is_shell(program) {
        const VALUED: Valued = Valued::These(&["o", "O", "rcfile", "init-file"]);
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
    match program::reader(program) {
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
pub(super) fn script_substitution<'a>(program: &str, args: &'a [Word]) -> Option<&'a str> {
    let runs_files =
        is_shell(program) || is_interpreter(program) || matches!(program, "source" | ".");
    let script = args.iter().find(|word| !word.text.starts_with('-'))?;
    (runs_files && script.raw.starts_with("<(")).then_some(script.raw.as_str())
}

/// python(1) `-c`, perl(1) `-e`, node(1) `-e` and `-p`, php(1) `-r`.
fn interpreter(program: &str, args: &[Word]) -> Vec<Started> {
    const EVALS: Valued = Valued::These(&["c", "e", "E", "r", "p", "eval", "print", "W", "X", "m"]);
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
    const VALUED: Valued = Valued::These(&[
        "c", "command", "e", "execute", "eval", "h", "host", "p", "port", "U", "username", "d",
        "dbname", "u", "n", "a", "D", "database", "f", "file", "v", "set", "cmd", "o", "s", "q",
        "query", "Q", "P",
    ]);
    const MYSQL: Valued = Valued::These(&[
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

/// env(1), `-S` too.
fn env(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued = Valued::These(&["u", "C", "S", "unset", "chdir", "split-string"]);
    let options = options(args, VALUED, Order::OptionsFirst);
    let command = options
        .operands
        .iter()
        .find(|(_, text)| !is_assignment(text));
    let rest = command
        .and_then(|(at, _)| args.get(*at..))
        .unwrap_or_default();
    let mut words = Vec::new();
    if let Some((at, text)) = options.value(&["S", "split-string"]) {
        let span = args.get(at).map_or(Span { start: 0, end: 0 }, |w| w.span);
        for raw in text.split_whitespace() {
            words.extend(expand(raw, span, &Variables::default(), 0));
        }
        while words.first().is_some_and(|word| is_assignment(&word.text)) {
            words.remove(0);
        }
    }
    words.extend_from_slice(rest);
    if words.is_empty() {
        Vec::new()
    } else {
        vec![Started::Argv(words)]
    }
}

/// `command -v rm` asks and does not run.
fn has_query(args: &[Word]) -> bool {
    args.first()
        .is_some_and(|word| matches!(&*word.text, "-v" | "-V" | "-pv" | "-pV"))
}

fn trap(args: &[Word]) -> Vec<Started> {
    let at = usize::from(args.first().is_some_and(|word| word.text == "--"));
    let line = args
        .get(at)
        .filter(|word| args.len() > at + 1 && !word.text.is_empty() && !word.text.starts_with('-'));
    let line = line.map(|word| Started::Line {
        text: word.text.clone(),
        at,
    });
    line.into_iter().collect()
}

fn alias(args: &[Word]) -> Vec<Started> {
    let defined = args.iter().enumerate().filter_map(|(at, word)| {
        let (_, line) = word.text.split_once('=')?;
        let text = line.to_owned();
        (!text.is_empty()).then_some(Started::Line { text, at })
    });
    defined.collect()
}

fn xargs(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued = Valued::These(&[
        "a",
        "d",
        "E",
        "I",
        "L",
        "n",
        "P",
        "s",
        "J",
        "R",
        "S",
        "arg-file",
        "delimiter",
        "max-args",
        "max-procs",
        "max-chars",
        "process-slot-var",
    ]);
    let options = options(args, VALUED, Order::OptionsFirst);
    let Some((at, _)) = options.operands.first() else {
        return Vec::new();
    };
    let words = args.get(*at..).unwrap_or_default().to_vec();
    let (name, rest) = (words.first(), words.get(1..).unwrap_or_default());
    let name = name.map_or("", |word| base_name(&word.text));
    let replaced = options.value(&["I"]).map(|(_, text)| text);
    let placeholder = replaced.unwrap_or("{}");
    let runs_input = words.first().is_some_and(|word| word.text == placeholder)
        || (is_shell(name)
            && match shell_line(rest).first() {
                Some(Started::Line { text, .. }) => {
                    text.trim_start().starts_with(placeholder) || text.trim() == "$0"
                }
                _ => rest
                    .iter()
                    .any(|word| word.text.ends_with('c') && word.text.starts_with('-')),
            });
    let mut started = vec![Started::Argv(words)];
    if runs_input {
        started.push(Started::Opaque("it runs what it reads"));
    }
    started
}

fn parallel(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued = Valued::These(&[
        "j",
        "jobs",
        "a",
        "arg-file",
        "S",
        "sshlogin",
        "C",
        "colsep",
        "N",
        "n",
        "I",
        "L",
        "delay",
        "timeout",
        "results",
        "joblog",
        "tagstring",
        "P",
        "max-procs",
        "max-args",
        "retries",
    ]);
    let options = options(args, VALUED, Order::OptionsFirst);
    let is_source = |text: &str| matches!(text, ":::" | "::::" | ":::+");
    let command: Vec<&str> = options
        .operands
        .iter()
        .map(|(_, text)| *text)
        .take_while(|text| !is_source(text))
        .collect();
    let at = options.operands.first().map_or(0, |(at, _)| *at);
    if !command.is_empty() {
        let text = command.join(" ");
        return vec![Started::Line { text, at }];
    }
    if options.operands.is_empty() {
        return vec![Started::Opaque("it runs the lines that it reads")];
    }
    let lines = options.operands.iter().filter(|(_, text)| !is_source(text));
    lines
        .map(|(at, text)| Started::Line {
            text: (*text).to_owned(),
            at: *at,
        })
        .collect()
}

fn find(args: &[Word]) -> Vec<Started> {
    let mut started = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            let command = words
                .by_ref()
                .take_while(|word| !matches!(&*word.text, ";" | "+"));
            started.push(Started::Argv(command.cloned().collect()));
        }
    }
    started
}

fn after_any(args: &[Word], marks: &[&str]) -> Vec<Started> {
    let mark = args.iter().position(|word| marks.contains(&&*word.text));
    let command = mark.and_then(|mark| args.get(mark + 1..));
    let command = command.filter(|words| !words.is_empty());
    command
        .map(|words| Started::Argv(words.to_vec()))
        .into_iter()
        .collect()
}

/// docker(1) and its kin: `exec`, `run`, `compose exec`, `container run`.
fn container(args: &[Word]) -> Vec<Started> {
    const GLOBAL: Valued = Valued::These(&[
        "H",
        "c",
        "l",
        "f",
        "p",
        "config",
        "context",
        "host",
        "log-level",
        "file",
        "project-name",
        "profile",
        "project-directory",
        "env-file",
    ]);
    // Whatever is not among these has a value.
    const SWITCHES: Valued = Valued::AllBut(&[
        "d",
        "i",
        "t",
        "q",
        "P",
        "T",
        "rm",
        "privileged",
        "init",
        "read-only",
        "publish-all",
        "tty",
        "interactive",
        "detach",
        "no-healthcheck",
        "oom-kill-disable",
        "quiet",
        "no-TTY",
        "no-deps",
        "build",
        "service-ports",
        "help",
        "latest",
        "tls-verify",
        "replace",
    ]);
    let outer = options(args, GLOBAL, Order::OptionsFirst);
    let mut verbs = outer.operands.iter();
    let verb = verbs.find(|(_, text)| !matches!(*text, "container" | "compose"));
    let Some((at, "exec" | "run" | "create")) = verb else {
        return Vec::new();
    };
    let inner = args.get(at + 1..).unwrap_or_default();
    let inner_options = options(inner, SWITCHES, Order::OptionsFirst);
    let mut words: Vec<Word> = Vec::new();
    if let Some((at, entry)) = inner_options.value(&["entrypoint"]) {
        words.extend(inner.get(at).map(|word| Word::plain(entry, word.span)));
    }
    let command = inner_options.operands.iter().skip(1);
    words.extend(command.filter_map(|(at, _)| inner.get(*at)).cloned());
    if words.is_empty() {
        Vec::new()
    } else {
        vec![Started::Argv(words)]
    }
}

fn tmux(args: &[Word]) -> Vec<Started> {
    const GLOBAL: Valued = Valued::These(&["L", "S", "f", "c", "T"]);
    const INNER: Valued =
        Valued::These(&["c", "F", "n", "s", "t", "x", "y", "e", "l", "p", "N", "d"]);
    let outer = options(args, GLOBAL, Order::OptionsFirst);
    let Some((at, verb)) = outer.operands.first() else {
        return Vec::new();
    };
    let inner = args.get(at + 1..).unwrap_or_default();
    let parsed = match *verb {
        "send-keys" | "send" => options(inner, Valued::These(&["t", "N"]), Order::OptionsFirst),
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw"
        | "respawn-pane" | "respawn-window" | "run-shell" | "run" | "popup" | "display-popup"
        | "pipe-pane" => options(inner, INNER, Order::OptionsFirst),
        _ => return Vec::new(),
    };
    let is_key = |text: &str| matches!(text, "Enter" | "C-m" | "KPEnter" | "C-j");
    let words: Vec<&str> = parsed
        .operands
        .iter()
        .map(|(_, text)| if is_key(text) { "\n" } else { *text })
        .collect();
    let text = words.join(" ");
    if text.trim().is_empty() {
        Vec::new()
    } else {
        vec![Started::Line { text, at: *at }]
    }
}

fn screen(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued = Valued::These(&["S", "c", "e", "h", "p", "s", "t", "T", "x", "r"]);
    let options = options(args, VALUED, Order::OptionsFirst);
    let Some((at, first)) = options.operands.first() else {
        return Vec::new();
    };
    if *first == "stuff" {
        let text = options.operand(1).unwrap_or_default();
        let text = text.replace("\\n", "\n").replace("^M", "\n");
        return vec![Started::Line { text, at: at + 1 }];
    }
    vec![Started::Argv(args.get(*at..).unwrap_or_default().to_vec())]
}

/// git(1): aliases that are shell lines, and the verbs that run commands.
fn git(args: &[Word]) -> Vec<Started> {
    let mut started = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let line = word.text.strip_prefix("alias.").and_then(|alias| {
            let (_, line) = alias.split_once("=!")?;
            Some((at, line))
        });
        let configured = args.get(at + 1).and_then(|next| {
            let line = next.text.strip_prefix('!')?;
            word.text.starts_with("alias.").then_some((at + 1, line))
        });
        if let Some((at, line)) = line.or(configured) {
            let text = line.to_owned();
            started.push(Started::Line { text, at });
        }
    }
    let verb = args
        .iter()
        .position(|word| matches!(&*word.text, "foreach" | "bisect" | "rebase"));
    match verb.and_then(|at| Some((at, args.get(at)?.text.as_str()))) {
        Some((at, "foreach")) => started.extend(joined(args, at + 1)),
        Some((_, "bisect")) => started.extend(after_any(args, &["run"])),
        Some((at, "rebase")) => {
            let rest = args.get(at + 1..).unwrap_or_default();
            let options = options(rest, Valued::These(&["x", "exec"]), Order::Permuted);
            started.extend(
                options
                    .value(&["x", "exec"])
                    .map(|(line, text)| Started::Line {
                        text: text.to_owned(),
                        at: at + 1 + line,
                    }),
            );
        }
        _ => {}
    }
    started
}

fn editor(args: &[Word]) -> Vec<Started> {
    let commands = args.iter().enumerate().filter_map(|(at, word)| {
        let text = word.text.trim_start_matches(['+', ':', ' ']);
        let line = text.strip_prefix('!')?.to_owned();
        Some(Started::Line { text: line, at })
    });
    commands.collect()
}

fn tar(args: &[Word]) -> Vec<Started> {
    let actions = args.iter().enumerate().filter_map(|(at, word)| {
        let (_, line) = word
            .text
            .strip_prefix("--checkpoint-action=exec=")
            .map(|line| ("", line))
            .or_else(|| {
                word.text
                    .strip_prefix("--to-command=")
                    .map(|line| ("", line))
            })?;
        let text = line.to_owned();
        Some(Started::Line { text, at })
    });
    actions.collect()
}

/// Whether a text names a program that fetches, or decodes what was hidden.
pub(super) fn fetches(raw: &str) -> bool {
    let words = raw.split(|c: char| c.is_whitespace() || "|;&()<>`$\"'".contains(c));
    let mut names = words.map(base_name);
    names.any(is_fetcher)
        || raw.contains("base64 -d")
        || raw.contains("base64 --d")
        || raw.contains("/dev/tcp/")
}

/// Whether a program's output comes from somewhere else.
pub(super) fn is_fetcher(name: &str) -> bool {
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
pub(super) fn prints_environment(raw: &str) -> bool {
    let inner = raw.trim_matches(['"', '$', '(', ')', '`']);
    let name = inner.split_whitespace().next().map_or("", base_name);
    let plain = !inner.contains(['|', ';', '&', '<', '>', '$', '`']);
    plain
        && matches!(
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
        )
}
