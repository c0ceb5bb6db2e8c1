//! What is suggested for an unknown verb: one that ends something for `rm` alone.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;
use super::reading::verb_at;

/// Verbs that end something. A wrong guess costs a terminal.
const ENDING: [&str; 4] = ["kill", "close", "prune", "delete"];

/// Verbs of other tools, and what does the same here.
const OTHERS_VERBS: [(&[&str], &[&str]); 13] = [
    (&["log", "cat", "output"], &["read"]),
    (&["tail"], &["read --tail", "read --follow"]),
    (&["follow"], &["read --follow"]),
    (&["top"], &["list"]),
    // The one word for ending that is never anything else.
    (&["rm"], &["close"]),
    (&["at", "join", "resume"], &["attach"]),
    (&["new-session"], &["new"]),
    (&["start", "spawn"], &["create"]),
    (&["send-keys", "type"], &["send"]),
    (&["info"], &["show"]),
    (&["search", "grep"], &["history --search"]),
    (&["capture-pane"], &["screen"]),
    (&["reload"], &["daemon reload"]),
];

/// Verbs of other tools that end, remove or rename something. Nothing is suggested for them.
const WITHOUT_SUGGESTION: [&str; 8] = [
    "stop",
    "end",
    "remove",
    "destroy",
    "terminate",
    "exit",
    "quit",
    "restart",
];

/// Replaces what clap suggests for an unknown verb. Other errors stay as they are.
pub(super) fn with_safe_suggestions(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned()
    else {
        return error;
    };
    let similar = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(similar)) => similar,
        _ => Vec::new(),
    };
    let typed = typed.as_str();
    // A verb below another one, as in `policy logs`, is none of the table's.
    let is_first = verb_at(words).is_some_and(|at| words.get(at).is_some_and(|word| word == typed));
    let mut others = OTHERS_VERBS.iter().filter(|_| is_first);
    let suggested: Vec<String> = match others.find(|(names, _)| names.contains(&typed)) {
        Some((_, verbs)) => verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        None if WITHOUT_SUGGESTION.contains(&typed) => Vec::new(),
        None => similar
            .into_iter()
            .filter(|verb| is_harmless(verb))
            .collect(),
    };
    error.remove(ContextKind::Suggested);
    if !suggested.is_empty() {
        let verbs: Vec<String> = suggested.iter().map(|verb| format!("'{verb}'")).collect();
        let tip = format!("see {}", verbs.join(" and ")).into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

fn is_harmless(verb: &str) -> bool {
    let definition = Cli::command();
    let hidden = definition
        .find_subcommand(verb)
        .is_some_and(clap::Command::is_hide_set);
    !hidden && !ENDING.contains(&verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let words = std::iter::once("termctl").chain(line.split(' '));
        Cli::read(words.map(Into::into).collect())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn an_unknown_verb_leads_to_none_that_ends_something() {
        for typed in [
            "log",
            "stop",
            "renme",
            "kil",
            "klil",
            "clsoe",
            "closed",
            "prun",
            "clear",
            "lgos",
            "acp-agnt",
            "delet",
            "restart",
            "--json log",
        ] {
            let said = said(typed);
            assert!(said.contains("unrecognized subcommand"), "{said}");
            for verb in ["kill", "close", "prune", "delete", "acp-agent"] {
                assert!(!said.contains(&format!("'{verb}'")), "{typed}: {said}");
            }
        }
    }

    #[test]
    fn verbs_of_other_tools_lead_to_those_that_do_the_same() {
        for (typed, tip) in [
            ("log shell", "tip: see 'read'\n"),
            ("tail shell", "tip: see 'read --tail' and 'read --follow'\n"),
            ("top", "tip: see 'list'\n"),
            ("rm x", "tip: see 'close'\n"),
            ("new-session", "tip: see 'new'\n"),
            ("lst", "'list'"),
        ] {
            let said = said(typed);
            assert!(said.contains(tip), "{typed}: {said}");
        }
        for typed in ["stop", "restart", "policy logs"] {
            assert!(!said(typed).contains("tip"), "{}", said(typed));
        }
    }

    #[test]
    fn what_is_named_is_there() {
        let definition = Cli::command();
        for verb in OTHERS_VERBS.iter().flat_map(|(_, verbs)| *verbs) {
            let words = format!("{verb} x x");
            let name = verb.split(' ').next().unwrap();
            assert!(definition.find_subcommand(name).is_some(), "{verb}");
            let option = verb.split(' ').nth(1);
            assert!(
                option.is_none_or(|option| !said_unknown(&words, option)),
                "{verb}"
            );
        }
        let names = OTHERS_VERBS.iter().flat_map(|(names, _)| *names);
        for name in names.chain(&WITHOUT_SUGGESTION) {
            assert!(
                definition.find_subcommand(name).is_none(),
                "{name} is a verb"
            );
        }
    }

    fn said_unknown(line: &str, option: &str) -> bool {
        let words = std::iter::once("termctl").chain(line.split(' '));
        let read = Cli::read(words.map(Into::into).collect());
        read.is_err_and(|error| error.to_string().contains(&format!("argument '{option}'")))
    }
}
