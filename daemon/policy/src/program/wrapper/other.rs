//! The programs that start others each in its own way, by their manuals.
//!
//! It must not know what is dangerous.

use termd_proto::policy::Span;

use crate::program::kind::{base_name, is_shell};
use crate::program::options::{Order, Valued, options};
use crate::program::wrapper::{Started, is_assignment, joined, shell_line};
use crate::shell::word::{Variables, Word, expand};

/// env(1), `-S` too.
pub(crate) fn env(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&["u", "C", "S", "unset", "chdir", "split-string"]);
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
pub(crate) fn has_query(args: &[Word]) -> bool {
    args.first()
        .is_some_and(|word| matches!(&*word.text, "-v" | "-V" | "-pv" | "-pV"))
}

pub(crate) fn trap(args: &[Word]) -> Vec<Started> {
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

pub(crate) fn alias(args: &[Word]) -> Vec<Started> {
    let defined = args.iter().enumerate().filter_map(|(at, word)| {
        let (_, line) = word.text.split_once('=')?;
        let text = line.to_owned();
        (!text.is_empty()).then_some(Started::Line { text, at })
    });
    defined.collect()
}

pub(crate) fn xargs(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&[
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

pub(crate) fn parallel(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&[
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

pub(crate) fn find(args: &[Word]) -> Vec<Started> {
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

pub(crate) fn after_any(args: &[Word], marks: &[&str]) -> Vec<Started> {
    let mark = args.iter().position(|word| marks.contains(&&*word.text));
    let command = mark.and_then(|mark| args.get(mark + 1..));
    let command = command.filter(|words| !words.is_empty());
    command
        .map(|words| Started::Argv(words.to_vec()))
        .into_iter()
        .collect()
}

/// docker(1) and its kin: `exec`, `run`, `compose exec`, `container run`.
pub(crate) fn container(args: &[Word]) -> Vec<Started> {
    const GLOBAL: Valued<'_> = Valued::These(&[
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
    const SWITCHES: Valued<'_> = Valued::AllBut(&[
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

/// su(1): `-c` on either side of `-` and the user.
pub(crate) fn su(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&[
        "c",
        "command",
        "session-command",
        "s",
        "shell",
        "g",
        "group",
        "G",
        "w",
    ]);
    let options = options(args, VALUED, Order::Permuted);
    let line = options.value(&["c", "command", "session-command"]);
    let line = line.map(|(at, text)| Started::Line {
        text: text.to_owned(),
        at,
    });
    line.into_iter().collect()
}

pub(crate) fn tmux(args: &[Word]) -> Vec<Started> {
    const GLOBAL: Valued<'_> = Valued::These(&["L", "S", "f", "c", "T"]);
    const INNER: Valued<'_> =
        Valued::These(&["c", "F", "n", "s", "t", "x", "y", "e", "l", "p", "N"]);
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

pub(crate) fn screen(args: &[Word]) -> Vec<Started> {
    const VALUED: Valued<'_> = Valued::These(&["S", "c", "e", "h", "p", "s", "t", "T", "x", "r"]);
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
pub(crate) fn git(args: &[Word]) -> Vec<Started> {
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

pub(crate) fn editor(args: &[Word]) -> Vec<Started> {
    let commands = args.iter().enumerate().filter_map(|(at, word)| {
        let text = word.text.trim_start_matches(['+', ':', ' ']);
        let line = text.strip_prefix('!')?.to_owned();
        Some(Started::Line { text: line, at })
    });
    commands.collect()
}

pub(crate) fn tar(args: &[Word]) -> Vec<Started> {
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
