//! Commands that stop, restart or take hold of termd, or of those who watch its questions.
//!
//! An agent's own children and jobs are no danger: `kill $!`, `kill %1`, `kill $(cat server.pid)`.

use super::Danger;
use crate::daemon::Daemon;
use crate::glob::{self, Case};
use crate::pattern;
use crate::program::options::{Options, Order, Valued, options};
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Programs that send signals to a process by its number, or attach to it.
const BY_NUMBER: &str = "
    kill skill gdb lldb strace ltrace gcore reptyr prlimit fuser criu cpulimit choom dlv rr nsenter";
/// Programs that send signals to processes by their names.
const BY_NAME: &str = "pkill killall killall5 skill xkill slay";
/// Programs that tell the number of a process.
const FINDERS: &str = "
    pgrep pidof lsof fuser ss netstat systemctl termctl ps cat head tail grep egrep awk sed rg jq busctl";
/// Programs that search among processes, or in what a program prints, by a pattern.
const SEARCHERS: &str = "pgrep pidof grep egrep rg awk gawk mawk sed";
/// What may stand in a process's command line, and in its name.
const COMMAND_LINES: [&str; 5] = [
    "/usr/bin/termd",
    "termd keeper",
    "/usr/bin/termctl approvals --watch",
    "/usr/bin/termctl mcp",
    "/usr/bin/termctl acp",
];
const NAMES: [&str; 2] = ["termd", "termctl"];
/// Units that termd stands in, and those that hold them. A pattern stands for the number of a user.
const UNITS: [&str; 11] = [
    "termd.service",
    "termd.socket",
    "default.target",
    "basic.target",
    "app.slice",
    "session.slice",
    "user.slice",
    "user-*.slice",
    "user@*.service",
    "user-runtime-dir@*.service",
    "-.slice",
];
/// Units whose start stops all others.
const ENDS: &str =
    "exit.target shutdown.target poweroff.target reboot.target halt.target kexec.target";
/// Verbs that leave a unit running.
const READING_VERBS: &str = "
    status show cat is-active is-enabled is-failed list-units list-unit-files list-sockets list-timers
    list-dependencies list-jobs help get-default start enable";

const STOPS: &str = "stops or restarts termd, which asks about what you do";

/// Whether a command may tell which process is termd.
pub(crate) fn finds(program: &str, args: &[Word]) -> bool {
    let searches =
        is_listed(program, SEARCHERS) && args.iter().any(|word| may_match(program, word));
    searches || (is_listed(program, FINDERS) && args.iter().any(mentions))
}

/// Whether a program acts on processes by their numbers.
pub(crate) fn takes_numbers(program: &str) -> bool {
    is_listed(program, BY_NUMBER)
}

/// Whether a word is a pattern of a process of termd's: `ter[m]d`.
fn may_match(program: &str, word: &Word) -> bool {
    let text = word.text.trim_matches('/');
    // `/pattern/ { print $2 }`
    let patterns = text.split('/').chain([text]);
    !text.starts_with('-')
        && patterns.into_iter().any(|text| {
            // A few letters in a file tell nothing of termd. Among processes they do.
            let letters = text.chars().filter(char::is_ascii_alphanumeric).count();
            (program == "pgrep" || letters >= 4)
                && pattern::compile(text, Case::Ignored).is_ok_and(|regex| {
                    (COMMAND_LINES.iter().chain(&NAMES)).any(|line| regex.is_match(line))
                })
        })
}

/// Why a command is one to which only a person can agree. `is_found`: an earlier command may have told
/// which process is termd.
pub(crate) fn of_command(
    daemon: &Daemon,
    program: &str,
    args: &[Word],
    is_found: bool,
) -> Option<Danger> {
    let hits = (takes_numbers(program) && by_number(daemon, program, args, is_found))
        || (is_listed(program, BY_NAME) && by_name(daemon, program, args))
        || (program == "systemctl" && by_unit(args))
        || (is_listed(
            program,
            "service busctl gdbus dbus-send sv initctl launchctl",
        ) && args.iter().any(mentions)
            && !args.iter().any(|word| word.text == "status"));
    hits.then(|| Danger {
        needs_person: true,
        ..format!("`{program}` {STOPS}").into()
    })
}

/// Whether a word names termd or termctl, or the process that has started the shell.
fn mentions(word: &Word) -> bool {
    let is_one = |text: &str| {
        let text = text.to_ascii_lowercase();
        NAMES.iter().any(|name| text.contains(name)) || text.contains("ppid")
    };
    is_one(&word.text) || is_one(&word.raw)
}

/// Whether code signals a process of termd's by its number, or attaches to it.
pub(crate) fn is_signalled_in(code: &str, daemon: &Daemon) -> bool {
    let lower = code.to_ascii_lowercase();
    ["kill", "attach", "ptrace", "signal"]
        .iter()
        .any(|verb| lower.contains(verb))
        && has_number(code, daemon)
}

/// Whether a text holds the number of a process of termd's.
fn has_number(text: &str, daemon: &Daemon) -> bool {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.any(|number| {
        number
            .parse()
            .is_ok_and(|pid: i32| daemon.pids.contains(pid))
    })
}

fn by_number(daemon: &Daemon, program: &str, args: &[Word], is_found: bool) -> bool {
    if args
        .first()
        .is_some_and(|word| is_listed(&word.text, "-l -L --list --table -0"))
    {
        return false;
    }
    if args
        .iter()
        .any(|word| mentions(word) || has_number(&word.text, daemon))
    {
        return true;
    }
    let is_unknown = |word: &Word| {
        word.text.contains(UNKNOWN) && !word.raw.contains("$!") && !word.text.starts_with('%')
    };
    if is_found && args.iter().any(is_unknown) {
        return true;
    }
    // SIGHUP has termd read its configuration anew, and forget.
    let hangs_up = program == "kill" && args.iter().any(|word| is_hangup(&word.text));
    let is_number = |word: &Word| {
        let digits = word.text.trim_start_matches('-');
        digits.len() > 1 && digits.chars().all(|c| c.is_ascii_digit())
    };
    hangs_up && args.iter().any(is_number)
}

fn is_hangup(text: &str) -> bool {
    let name = text
        .trim_start_matches(['-', 's', 'n'])
        .to_ascii_uppercase();
    matches!(
        name.trim_start_matches("IGNAL=").trim_start_matches("SIG"),
        "HUP"
    ) || matches!(text, "-1" | "-s1" | "-n1")
}

fn by_name(daemon: &Daemon, program: &str, args: &[Word]) -> bool {
    const VALUED: Valued<'_> = Valued::These(
        "g G P s t u U F c i pgroup group parent session terminal euid uid pidfile signal ns nslist
        older-than younger-than user context",
    );
    let given = options(args, VALUED, Order::Permuted);
    let is_signal = |text: &str| {
        let name = text.trim_start_matches('-');
        text.len() > 2
            && text.starts_with('-')
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    let patterns = args
        .iter()
        .filter(|word| !word.text.starts_with('-') && !is_signal(&word.text));
    let values: Vec<&str> = given
        .values(&[
            "signal",
            "s",
            "P",
            "parent",
            "t",
            "g",
            "G",
            "ns",
            "older-than",
            "younger-than",
        ])
        .map(|(_, text)| text)
        .collect();
    let mut patterns = patterns.filter(|word| !values.contains(&word.text.as_str()));
    if program == "killall5"
        || given.has(&["inverse"])
        || given.has_exactly("v") && program == "pkill"
    {
        return true;
    }
    let of_users = given.value(&["u", "U", "euid", "uid", "user"]).is_some();
    if of_users && given.operands.is_empty() {
        return true;
    }
    let is_one = |word: &Word| word.raw.contains("PPID") || has_number(&word.text, daemon);
    if args.iter().any(is_one) {
        return true;
    }
    let is_exact = program != "pkill" && !given.has(&["r", "regexp"]);
    let has_lines = given.has(&["f", "full"]) && program == "pkill";
    patterns.any(|word| {
        let text = word.text.replace(UNKNOWN, ".*");
        if is_exact {
            return mentions(word)
                || NAMES
                    .iter()
                    .any(|name| glob::fits(&text.replace(".*", "*"), name, Case::Counts));
        }
        let Ok(regex) = pattern::compile(&text, Case::Ignored) else {
            return mentions(word);
        };
        let lines: &[&str] = if has_lines { &COMMAND_LINES } else { &NAMES };
        mentions(word) || lines.iter().any(|line| regex.is_match(line))
    })
}

fn by_unit(args: &[Word]) -> bool {
    const VALUED: Valued<'_> = Valued::These(
        "H host M machine t type p property s signal n lines o output state root job-mode kill-whom",
    );
    let given = options(args, VALUED, Order::Permuted);
    let Some(verb) = given.operand(0) else {
        return false;
    };
    if is_of_other_machine(&given) {
        return false;
    }
    let mut units = given.operands.iter().skip(1).map(|(_, unit)| *unit);
    if is_listed(verb, READING_VERBS) {
        // systemd.special(7): these stop the others.
        return verb == "start" && units.any(|unit| is_listed(unit, ENDS));
    }
    let is_of_user = given.has(&["user"]);
    if is_of_user && is_listed(verb, "exit daemon-reexec isolate") {
        return true;
    }
    units.any(|unit| {
        let mut unit = unit.replace(UNKNOWN, "*");
        // systemctl(1): a name without a suffix is that of a service.
        let has_suffix = unit.contains(['.', '*', '?', '[']);
        if !has_suffix {
            unit.push_str(".service");
        }
        let fits = |known: &&str| {
            glob::fits(&unit, known, Case::Counts) || glob::fits(known, &unit, Case::Counts)
        };
        unit.contains("termd") || UNITS.iter().any(fits)
    })
}

/// Whether systemctl(1) speaks to another machine. `.host` is this one.
fn is_of_other_machine(given: &Options<'_>) -> bool {
    let name = given.value(&["H", "host", "M", "machine"]);
    let Some((_, name)) = name else {
        return false;
    };
    let name = name.rsplit_once('@').map_or(name, |(_, name)| name);
    !matches!(name, "" | ".host" | "localhost" | "127.0.0.1" | "::1") && !name.contains(UNKNOWN)
}
