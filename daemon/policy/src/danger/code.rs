//! Code that is no shell's, given on a command line or typed into an interpreter: string literals
//! in it that are dangerous shell lines, and calls that remove trees.
//!
//! It reads code as text: it knows no language, and a text that hides what it does gets by. It
//! must not know where the code came from.

use crate::inspect::inspector::{Inspector, Place, Stdin};
use termd_proto::policy::{MAX_JUDGED_BYTES, Verdict};

/// Literals of one text that are looked at.
const MAX_LITERALS: usize = 64;

/// Calls that give a string, or a list of strings, to the system to run.
const RUNNERS: [&str; 16] = [
    "system",
    "popen",
    "subprocess",
    "exec",
    "spawn",
    "shell",
    "`",
    "%x",
    "qx",
    "Popen",
    "run(",
    "call(",
    "backtick",
    "passthru",
    "| \"",
    "os.",
];
/// Calls that remove trees.
const REMOVERS: [&str; 9] = [
    "rmtree",
    "rm_rf",
    "rm_r",
    "rmSync",
    "fs.rm",
    "remove_tree",
    "rimraf",
    "removeSync",
    "deltree",
];

/// Why code is dangerous.
pub(crate) fn danger(code: &str) -> Option<String> {
    let code = code.get(..MAX_JUDGED_BYTES).unwrap_or(code);
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    if tight.contains("forkwhile") || (tight.contains("whileTrue:") && tight.contains("os.fork()"))
    {
        return Some("it starts itself over and over: a fork bomb".to_owned());
    }
    let literals = literals(code);
    if REMOVERS.iter().any(|call| code.contains(call)) {
        let target = literals.iter().find(|text| is_root_or_home(text));
        if target.is_some() || code.contains("expanduser") || code.contains("homedir()") {
            return Some("it removes a whole tree: the root's or a home".to_owned());
        }
    }
    if !RUNNERS.iter().any(|call| code.contains(call)) {
        return None;
    }
    // `subprocess.run(["rm", "-rf", "x"])` is a line in pieces.
    let joined = literals.join(" ");
    let lines = literals.iter().map(String::as_str).chain([joined.as_str()]);
    lines.into_iter().find_map(|line| {
        let mut inspector = Inspector::default();
        let whole = termd_proto::policy::Span { start: 0, end: 0 };
        inspector.shell(line, Place::Within(whole), &Stdin::Given, 8);
        let of_commands = inspector.seen.into_iter().filter_map(|seen| seen.finding);
        let found = of_commands.chain(inspector.findings);
        let mut dangerous = found.filter(|finding| finding.verdict == Verdict::Dangerous);
        let reason = dangerous.next()?.reason;
        Some(format!("it runs a shell line: {reason}"))
    })
}

fn is_root_or_home(text: &str) -> bool {
    let bare = text.trim_end_matches(['/', '*']);
    matches!(
        bare,
        "" | "~" | "/home" | "/etc" | "/usr" | "/var" | "/root" | "/boot" | "$HOME"
    ) && text.starts_with(['/', '~', '$'])
}

/// The string literals of a code, escapes left as they are.
fn literals(code: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, '\'' | '"' | '`') || literals.len() >= MAX_LITERALS {
            continue;
        }
        let mut text = String::new();
        while let Some(inner) = chars.next() {
            if inner == c {
                break;
            }
            if inner == '\\' {
                text.extend(chars.next());
            } else {
                text.push(inner);
            }
        }
        if !text.is_empty() {
            literals.push(text);
        }
    }
    literals
}
