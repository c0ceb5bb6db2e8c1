//! The help: verbs in groups, and examples of each.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// The verbs in groups, as `--help` lists them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start a command", &["run", "create", "new"]),
    (
        "See its output",
        &[
            "read",
            "screen",
            "replay",
            "screenshot",
            "export",
            "import",
            "wait",
        ],
    ),
    (
        "Act on terminals",
        &[
            "attach", "exec", "send", "resize", "rename", "tag", "kill", "close", "prune", "delete",
        ],
    ),
    (
        "Look things up",
        &["top", "list", "show", "history", "search", "audit"],
    ),
    ("The daemon", &["status", "daemon"]),
    (
        "The gate",
        &["policy", "approvals", "approve", "deny", "answer"],
    ),
    (
        "Connect other programs",
        &[
            "mcp",
            "acp",
            "setup",
            "doctor",
            "codex-exec-server",
            "hook",
            "notify",
            "notifier",
            "askpass",
            "completions",
            "man",
        ],
    ),
];

/// Lines that use each verb, and those below `audit`, `policy` and `daemon`.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "termctl run -- cargo test",
            "termctl run --timeout 10m 'make && make check'",
        ],
    ),
    (
        "create",
        &[
            "termctl create --label web -- npm run dev",
            "termctl create --label shell",
        ],
    ),
    ("new", &["termctl new --label work"]),
    (
        "read",
        &["termctl read web --tail 50", "termctl read -f web"],
    ),
    (
        "screen",
        &[
            "termctl screen shell",
            "termctl screen shell --scrollback 200 --format text",
            "termctl screen shell --at 14:03",
        ],
    ),
    (
        "screenshot",
        &[
            "termctl screenshot shell -o shell.png",
            "termctl screenshot shell --animate --from 5m -o shell.png",
        ],
    ),
    (
        "replay",
        &[
            "termctl replay shell",
            "termctl replay shell --at 14:03 --speed 2",
            "termctl replay shell --command -1",
        ],
    ),
    (
        "wait",
        &[
            "termctl wait web --timeout 10m",
            "termctl wait --any web tests",
            "termctl wait web --for 'listening on [0-9]+'",
        ],
    ),
    (
        "attach",
        &["termctl attach shell", "termctl attach --read-only web"],
    ),
    (
        "exec",
        &[
            "termctl exec shell -- make check",
            "termctl exec shell -- 'cd build && ls'",
        ],
    ),
    (
        "send",
        &[
            "termctl send shell 'git status' -e",
            "termctl send editor -k escape :wq -e",
        ],
    ),
    ("resize", &["termctl resize shell 120x40"]),
    (
        "export",
        &[
            "termctl export shell -o shell.cast",
            "termctl export shell --format text",
        ],
    ),
    ("import", &["termctl import demo.cast --label demo"]),
    ("rename", &["termctl rename shell work"]),
    (
        "tag",
        &[
            "termctl tag web backend urgent",
            "termctl tag web --remove urgent",
        ],
    ),
    (
        "kill",
        &[
            "termctl kill web",
            "termctl kill -INT web",
            "termctl kill --tag ci",
        ],
    ),
    (
        "close",
        &["termctl close web tests", "termctl close shell --eof"],
    ),
    ("prune", &["termctl prune"]),
    ("delete", &["termctl delete web"]),
    (
        "list",
        &[
            "termctl list",
            "termctl list --tag claude-code --tag ci",
            "termctl list --all --json",
            "termctl list --format '{id} {state}\\t{command}'",
        ],
    ),
    ("show", &["termctl show web"]),
    ("top", &["termctl top"]),
    ("status", &["termctl status"]),
    (
        "daemon",
        &["termctl daemon reload", "termctl daemon stop --yes"],
    ),
    ("daemon reload", &["termctl daemon reload"]),
    ("daemon stop", &["termctl daemon stop --yes"]),
    ("daemon restart", &["termctl daemon restart"]),
    (
        "history",
        &[
            "termctl history --failed --since yesterday",
            "termctl history --search 'cargo test'",
        ],
    ),
    (
        "search",
        &[
            "termctl search 'connection refused' --since yesterday",
            "termctl search -e 'error\\[E\\d+\\]' --in output --failed -C 3",
        ],
    ),
    (
        "audit",
        &[
            "termctl audit --since 1h --outcome refused",
            "termctl audit verify",
        ],
    ),
    (
        "audit verify",
        &["termctl audit verify", "termctl audit verify --journal"],
    ),
    (
        "audit export",
        &[
            "termctl audit export --since 2026-11-01 > audit.jsonl",
            "termctl audit export --csv --outcome refused",
        ],
    ),
    ("policy", &["termctl policy check --line 'rm -rf build'"]),
    (
        "policy check",
        &[
            "termctl policy check --line 'rm -rf build'",
            "termctl policy check --front mcp -- git push",
        ],
    ),
    (
        "policy test",
        &["termctl policy test rules.toml --config config.toml"],
    ),
    (
        "approvals",
        &["termctl approvals", "termctl approvals --watch"],
    ),
    (
        "approve",
        &["termctl approve qcjxld", "termctl approve --always qcjxld"],
    ),
    ("deny", &["termctl deny qcjxld"]),
    ("answer", &["termctl answer qcjxld"]),
    ("askpass", &["termctl askpass 'Password for example.org:'"]),
    ("mcp", &["termctl mcp --tools session,terminal"]),
    ("acp", &["termctl acp -- claude-code-acp"]),
    ("hook", &["termctl hook claude", "termctl hook gemini"]),
    (
        "notify",
        &[
            "termctl notify 'which branch?'",
            "termctl notify --state done 'tests are green'",
        ],
    ),
    (
        "notifier",
        &[
            "termctl notifier",
            "termctl notifier --states input,failed --tag nightly",
        ],
    ),
    ("doctor", &["termctl doctor", "termctl doctor --json"]),
    (
        "codex-exec-server",
        &[
            "termctl codex-exec-server",
            "termctl codex-exec-server --codex ~/bin/codex",
        ],
    ),
    (
        "setup",
        &[
            "termctl setup --print",
            "termctl setup --client claude-code",
        ],
    ),
    ("completions", &["termctl completions bash"]),
    ("man", &["termctl man ~/.local/share/man/man1"]),
];

impl Cli {
    /// What may stand on the command line, with the whole help.
    pub(crate) fn definition() -> Command {
        let mut definition = Self::command();
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
            verbs_in_groups(&definition)
        );
        for (verb, lines) in EXAMPLES {
            let examples = format!("Examples:\n  {}", lines.join("\n  "));
            definition = match verb.split_once(' ') {
                None => definition.mut_subcommand(verb, |verb| verb.after_help(examples)),
                Some((verb, below)) => definition.mut_subcommand(verb, |verb| {
                    verb.mut_subcommand(below, |below| below.after_help(examples))
                }),
            };
        }
        definition.help_template(template)
    }
}

fn verbs_in_groups(definition: &Command) -> String {
    let names = definition
        .get_subcommands()
        .map(|verb| verb.get_name().len());
    let width = names.max().unwrap_or_default();
    let mut out = String::new();
    for (title, verbs) in GROUPS {
        // Writing to a string does not fail.
        let _ = writeln!(out, "\n{title}:");
        for verb in verbs {
            let found = definition.find_subcommand(verb);
            let about = found.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "  {verb:width$}  {about}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible() -> Vec<String> {
        let definition = Cli::command();
        let verbs = definition
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set());
        let mut names: Vec<String> = verbs.map(|verb| verb.get_name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn each_verb_is_in_one_group_and_has_examples() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, verbs)| *verbs)
            .copied()
            .collect();
        grouped.sort_unstable();
        assert_eq!(grouped, visible());
        let mut shown: Vec<&str> = EXAMPLES.iter().map(|(verb, _)| *verb).collect();
        shown.sort_unstable();
        let mut all = visible();
        let definition = Cli::command();
        all.extend(definition.get_subcommands().flat_map(|verb| {
            let below = verb.get_subcommands();
            below.map(|below| format!("{} {}", verb.get_name(), below.get_name()))
        }));
        all.sort_unstable();
        assert_eq!(shown.as_slice(), all);
    }

    #[test]
    fn each_example_is_read() {
        for (verb, lines) in EXAMPLES {
            assert!(!lines.is_empty(), "{verb}");
            for line in *lines {
                let mut words = shlex::split(line).expect(line);
                words.truncate(
                    words
                        .iter()
                        .position(|word| word == ">")
                        .unwrap_or(words.len()),
                );
                assert!(words[1..].join(" ").starts_with(verb), "{line}");
                let read = Cli::read(words.into_iter().map(Into::into).collect());
                assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
            }
        }
    }

    #[test]
    fn help_and_version_are_words_too() {
        for (words, like) in [
            ("help", "--help"),
            ("help run", "run --help"),
            ("help audit verify", "audit verify --help"),
            ("--json help run", "--json run --help"),
            ("version", "--version"),
        ] {
            let said = |line: &str| {
                let words = std::iter::once("termctl").chain(line.split(' '));
                Cli::read(words.map(Into::into).collect()).unwrap_err()
            };
            assert!(!said(words).use_stderr(), "{words}");
            assert_eq!(said(words).to_string(), said(like).to_string(), "{words}");
        }
        let help = Cli::definition().render_help().to_string();
        for (title, verbs) in GROUPS {
            assert!(help.contains(title), "{help}");
            assert!(
                verbs
                    .iter()
                    .all(|verb| help.contains(&format!("  {verb} "))),
                "{help}"
            );
        }
    }

    #[test]
    fn verbs_of_other_tools_that_are_the_same_are_read() {
        for (line, like) in [
            ("ls -a", "list -a"),
            ("ps", "list"),
            ("logs -f x", "read -f x"),
            ("a x", "attach x"),
            ("inspect x", "show x"),
            ("create -l a -e A=b", "create --label a --env A=b"),
            ("run --name a ls", "run --label a ls"),
            ("read x -n 5", "read x --tail 5"),
            ("read x --lines 5", "read x --tail 5"),
        ] {
            let read = |line: &str| {
                let words = std::iter::once("termctl").chain(line.split(' '));
                Cli::read(words.map(Into::into).collect())
            };
            let (read, like) = (read(line).unwrap(), read(like).unwrap());
            assert_eq!(format!("{read:?}"), format!("{like:?}"), "{line}");
        }
    }
}
