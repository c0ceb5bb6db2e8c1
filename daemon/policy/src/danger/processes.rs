//! Signals: kill(1), pkill(1), killall(1).

use std::borrow::Cow;

use crate::shell::word::Word;
use crate::word_list::is_listed;

/// Signals but for SIGKILL, by their names (signal(7)).
const SIGNALS: &str = "
    HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU
    XFSZ VTALRM PROF WINCH IO POLL PWR SYS";

/// The words of a command without the signal that pkill(1) or killall(1) is given by its name (`-HUP`), whose
/// letters would be options.
pub(super) fn without_signals<'a>(program: &str, args: &'a [Word]) -> Cow<'a, [Word]> {
    let is_signal = |word: &Word| {
        let name = word.text.strip_prefix('-');
        name.is_some_and(|name| is_listed(name.strip_prefix("SIG").unwrap_or(name), SIGNALS))
    };
    if !is_listed(program, "pkill killall skill") || !args.iter().any(is_signal) {
        return Cow::Borrowed(args);
    }
    let others = args.iter().filter(|word| !is_signal(word));
    Cow::Owned(others.cloned().collect())
}

pub(super) fn danger(program: &str, args: &[Word]) -> Option<String> {
    match program {
        "kill" => kill(args),
        "pkill" | "killall" | "killall5" | "skill" => {
            sends_kill(args).then(|| format!("`{program} -9` kills processes that cannot clean up"))
        }
        "docker" | "podman" | "nerdctl" => containers(program, args),
        _ => None,
    }
}

/// `docker stop $(docker ps -q)` ends all that runs.
fn containers(program: &str, args: &[Word]) -> Option<String> {
    let (verb, rest) = args.split_first()?;
    let ends = ["stop", "restart", "pause", "rm", "kill"].contains(&&*verb.text);
    let lists = |word: &Word| {
        let raw = word.raw.trim_start_matches('"');
        (raw.starts_with("$(") || raw.starts_with('`')) && raw.contains(" ps")
    };
    (ends && rest.iter().any(lists)).then(|| {
        let verb = &verb.text;
        format!("`{program} {verb}` ends all that another command lists")
    })
}

fn kill(args: &[Word]) -> Option<String> {
    let first = args.first().map_or("", |word| word.text.as_str());
    if matches!(first, "-l" | "-L" | "--list" | "--table") {
        return None;
    }
    if sends_kill(args) {
        return Some("`kill -9` ends processes that cannot clean up".to_owned());
    }
    let everybody = args.iter().skip(1).any(|word| word.text == "-1");
    everybody.then(|| "`kill … -1` ends every process".to_owned())
}

/// Whether kill(1), pkill(1) or killall(1) sends SIGKILL, in any spelling.
fn sends_kill(args: &[Word]) -> bool {
    let is_kill = |name: &str| {
        let upper = name.to_ascii_uppercase();
        matches!(upper.strip_prefix("SIG").unwrap_or(&upper), "KILL" | "9")
    };
    let before = args.iter().take_while(|word| word.text != "--");
    let texts: Vec<&str> = before.map(|word| word.text.as_str()).collect();
    texts.iter().enumerate().any(|(at, text)| {
        let next = texts.get(at + 1).copied().unwrap_or_default();
        let Some(option) = text.strip_prefix('-') else {
            return false;
        };
        let attached = option
            .strip_prefix("-signal=")
            .or_else(|| option.strip_prefix('s'))
            .or_else(|| option.strip_prefix('n'));
        is_kill(option)
            || attached.is_some_and(is_kill)
            || (matches!(option, "s" | "n" | "-signal" | "-sig") && is_kill(next))
    })
}
