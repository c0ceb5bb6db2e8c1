//! What is suggested for an unknown verb or option: what does the same here, or is spelled almost so.
//! No slip leads to a verb that ends something.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Cli;
use super::words::verb_at;

/// Words for ending, here and in other tools. A wrong guess costs a terminal, so nothing is suggested
/// for them, nor for what is spelled almost so.
const ENDING: [&str; 14] = [
    "kill",
    "close",
    "prune",
    "delete",
    "stop",
    "end",
    "rm",
    "remove",
    "destroy",
    "terminate",
    "exit",
    "quit",
    "restart",
    "clear",
];

/// What removes something in other tools. It is no slip, but there are two things here that it may mean.
const REMOVING: [&str; 2] = ["rm", "remove"];

/// Verbs of other tools, and what does the same here.
const OTHERS_VERBS: [(&[&str], &[&str]); 13] = [
    (&["log", "cat", "output"], &["read"]),
    (&["tail"], &["read --tail", "read --follow"]),
    (&["follow"], &["read --follow"]),
    (&["dashboard", "ui", "htop"], &["top"]),
    (&["at", "join", "resume"], &["attach"]),
    (&["new-session"], &["new"]),
    (&["start", "spawn"], &["create"]),
    (&["send-keys", "type"], &["send"]),
    (&["info"], &["show"]),
    (&["grep", "find"], &["search", "read --grep"]),
    (&["capture-pane"], &["screen"]),
    (&["wait-for"], &["wait --for"]),
    (&["reload"], &["daemon reload"]),
];

/// Options of other tools: the verbs that lack them, and what does the same here.
const OTHERS_OPTIONS: [(&[&str], &[&str], &str); 6] = [
    (&["exec"], &["-i", "-t"], "attach"),
    (&["run"], &["-d", "--detach"], "create"),
    (
        &["run", "create", "new"],
        &["-w", "--workdir", "-C", "--chdir"],
        "--cwd",
    ),
    (&["close"], &["-a", "--all"], "--exited"),
    (&["read"], &["--limit"], "--tail"),
    (&["history", "audit"], &["--lines", "--tail"], "--limit"),
];

/// Verbs that type words as they are: one may begin with a hyphen.
const WITH_TEXT: [&str; 2] = ["send", "exec"];

/// From this length on a word may have two slips and still be known.
const LONG_WORD: usize = 7;
/// The shortest beginning that stands for a word.
const MIN_BEGINNING: usize = 3;

/// Replaces what clap suggests for an unknown verb or option. Other errors stay as they are.
pub(super) fn with_safe_suggestions(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => suggest_verbs(&mut error, words),
        ErrorKind::UnknownArgument => suggest_options(&mut error, words),
        ErrorKind::ValueValidation => return in_one_line(&error),
        _ => {}
    }
    error
}

/// The error without what clap says of help below it. Of what is no number it says that one is expected,
/// where the standard library speaks of digits.
fn in_one_line(error: &clap::Error) -> clap::Error {
    let rendered = error.to_string();
    let line = rendered.lines().next().unwrap_or_default();
    let line = line.trim_start_matches("error: ");
    let source = error.source();
    let number = source.and_then(|source| source.downcast_ref::<ParseIntError>());
    let digit = number.filter(|number| *number.kind() == IntErrorKind::InvalidDigit);
    let line = match digit {
        Some(digit) => line.replace(&digit.to_string(), "a whole number is expected"),
        None => line.to_owned(),
    };
    clap::Error::raw(ErrorKind::ValueValidation, format!("{line}\n"))
}

fn suggest_verbs(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand).cloned()
    else {
        return;
    };
    let similar = taken(error, ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::Suggested);
    let typed = typed.as_str();
    // A verb below another one, as in `policy logs`, is none of the table's.
    let is_first = verb_at(words).is_some_and(|at| words.get(at).is_some_and(|word| word == typed));
    if is_first && REMOVING.contains(&typed) {
        return explain_removing(error, words);
    }
    let mut others = OTHERS_VERBS.iter().filter(|_| is_first);
    if let Some((_, verbs)) = others.find(|(names, _)| names.contains(&typed)) {
        return suggest(error, verbs);
    }
    let definition = Cli::command();
    let is_visible = |verb: &str| {
        let named = definition.find_subcommand(verb);
        named.is_none_or(|found| !found.is_hide_set() && found.get_name() == verb)
    };
    let meant = nearest(typed, similar.iter().filter(|verb| is_visible(verb)));
    let to_ending = ENDING.iter().map(|word| strsim::osa_distance(typed, word));
    let to_ending = to_ending.min().unwrap_or(usize::MAX);
    if let Some((_, verb)) =
        meant.filter(|(slips, verb)| *slips < to_ending && !ENDING.contains(verb))
    {
        suggest(error, &[verb]);
    }
}

/// Says what each of the verbs would do, before a person tries one to find out.
fn explain_removing(error: &mut clap::Error, words: &[OsString]) {
    let behind = verb_at(words).and_then(|at| words.get(at + 1..));
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let mut named = behind.unwrap_or_default().iter().skip_while(is_option);
    let terminal = named.next().and_then(|word| word.to_str());
    let terminal = terminal.and_then(|word| shlex::try_quote(word).ok());
    let terminal = terminal.unwrap_or("TERMINAL".into());
    let tip = format!(
        "'termctl close {terminal}' ends it and takes it off the list; \
         'termctl delete {terminal}' then deletes what it has printed"
    );
    let tip = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tip);
}

fn suggest_options(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg).cloned() else {
        return;
    };
    let verb = verb_at(words).and_then(|at| words.get(at)?.to_str());
    let verb = verb.unwrap_or_default();
    let similar = taken(error, ContextKind::SuggestedArg);
    if !WITH_TEXT.contains(&verb) {
        // "to pass '-x' as a value, use '-- -x'"
        error.remove(ContextKind::Suggested);
    }
    let mut others = OTHERS_OPTIONS.iter();
    let other =
        others.find(|(verbs, names, _)| verbs.contains(&verb) && names.contains(&typed.as_str()));
    if let Some((_, _, here)) = other {
        suggest(error, &[here]);
    } else if let Some((_, option)) = nearest(&typed, similar.iter()) {
        suggest(error, &[option]);
    }
}

/// What clap suggests of this kind, taken out.
fn taken(error: &mut clap::Error, kind: ContextKind) -> Vec<String> {
    match error.remove(kind) {
        Some(ContextValue::Strings(similar)) => similar,
        Some(ContextValue::String(similar)) => vec![similar],
        _ => Vec::new(),
    }
}

fn suggest(error: &mut clap::Error, names: &[&str]) {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let tip = format!("see {}", names.join(" and ")).into();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
}

/// The name that was probably meant, and the slips from it.
fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a String>) -> Option<(usize, &'a str)> {
    let near = names.filter_map(|name| Some((slips(typed, name)?, name.as_str())));
    near.min()
}

/// The slips from a name: letters that are wrong, missing, too many or swapped. `None` where they are
/// too many. The beginning of a name has one.
fn slips(typed: &str, name: &str) -> Option<usize> {
    let bare = |word: &str| word.trim_start_matches('-').len();
    if bare(typed) >= MIN_BEGINNING && name.starts_with(typed) {
        return Some(1);
    }
    let slips = strsim::osa_distance(typed, name);
    let most = if bare(typed) < LONG_WORD { 1 } else { 2 };
    (slips <= most).then_some(slips)
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
            "cloes",
            "clos",
            "delte",
            "del",
            "stpo",
            "sotp",
            "rn",
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
    fn what_removes_elsewhere_is_answered_by_what_each_verb_does() {
        for (typed, terminal) in [
            ("rm", "TERMINAL"),
            ("rm -f work", "work"),
            ("remove x", "x"),
        ] {
            let said = said(typed);
            assert!(said.contains("unrecognized subcommand"), "{said}");
            let close = format!("'termctl close {terminal}' ends it");
            let delete = format!("'termctl delete {terminal}' then deletes");
            assert!(
                said.contains(&close) && said.contains(&delete),
                "{typed}: {said}"
            );
        }
        assert!(!said("policy rm").contains("tip"), "below another verb");
    }

    #[test]
    fn verbs_of_other_tools_lead_to_those_that_do_the_same() {
        for (typed, tip) in [
            ("log shell", "tip: see 'read'\n"),
            ("tail shell", "tip: see 'read --tail' and 'read --follow'\n"),
            ("htop", "tip: see 'top'\n"),
            ("wait-for x", "tip: see 'wait --for'\n"),
            ("new-session", "tip: see 'new'\n"),
            ("lst", "tip: see 'list'\n"),
            ("stat", "tip: see 'status'\n"),
            ("approv", "tip: see 'approvals'\n"),
            ("policy chekc", "tip: see 'check'\n"),
        ] {
            let said = said(typed);
            assert!(said.contains(tip), "{typed}: {said}");
        }
    }

    #[test]
    fn what_is_only_a_little_alike_is_not_suggested() {
        for typed in [
            "stop",
            "restart",
            "policy logs",
            "cloes",
            "delte",
            "stpo",
            "prun",
            "sotp",
            "clear",
            "cancel",
            "pause",
            "detach",
            "write",
            "daemon stp",
            "close --force",
            "send x --nothing",
            "rm-x",
            "a-x",
        ] {
            let said = said(typed);
            assert!(!said.contains("see '"), "{typed}: {said}");
        }
    }

    #[test]
    fn what_is_no_number_is_said_to_be_none() {
        for line in [
            "history -n x",
            "read t --tail x",
            "create --cols x",
            "read t --command x",
        ] {
            let said = said(line);
            assert!(said.contains("'x' for '-"), "{said}");
            assert!(said.contains("a whole number is expected"), "{said}");
            assert!(!said.contains("digit"), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }

    #[test]
    fn options_of_other_tools_lead_to_those_that_do_the_same() {
        for (typed, tip) in [
            ("run -d ls", "tip: see 'create'\n"),
            ("exec -it work bash", "tip: see 'attach'\n"),
            ("create --workdir / ls", "tip: see '--cwd'\n"),
            ("close --all", "tip: see '--exited'\n"),
            ("audit --tail 5", "tip: see '--limit'\n"),
            ("create --labl x", "tip: see '--label'\n"),
            ("send x --nothing", "use '-- --nothing'"),
        ] {
            let said = said(typed);
            assert!(said.contains(tip), "{typed}: {said}");
        }
        for typed in ["create --nothing", "read x -q", "history --lists 2"] {
            let said = said(typed);
            assert!(!said.contains("tip"), "{typed}: {said}");
        }
        for (verbs, names, here) in OTHERS_OPTIONS {
            for (verb, name) in verbs
                .iter()
                .flat_map(|verb| names.iter().map(move |name| (verb, name)))
            {
                assert!(
                    said_unknown(&format!("{verb} {name}"), name),
                    "{verb} {name}"
                );
                let is_there = !said_unknown(&format!("{verb} {here}"), here);
                assert!(is_there, "{verb} {here}");
            }
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
        for name in names {
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
