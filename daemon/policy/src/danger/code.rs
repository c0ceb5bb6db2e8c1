//! Code of an interpreter, as text: calls that remove trees, and the shell lines that calls give to the
//! system. No language is parsed; code that hides what it does is not seen through.

use termd_proto::policy::MAX_JUDGED_BYTES;

/// String literals of one code that are read.
const MAX_LITERALS: usize = 64;

/// Calls that give a string or a list of strings to the system to run.
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

/// Why code is dangerous by itself.
pub(crate) fn danger(code: &str) -> Option<String> {
    let code = judged_part(code);
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    if tight.contains("forkwhile") || (tight.contains("whileTrue:") && tight.contains("os.fork()"))
    {
        return Some("it starts itself over and over: a fork bomb".to_owned());
    }
    if REMOVERS.iter().any(|call| code.contains(call)) {
        let names_target = literals(code).iter().any(|text| is_root_or_home(text));
        if names_target || code.contains("expanduser") || code.contains("homedir()") {
            return Some("it removes a whole tree: the root's or a home".to_owned());
        }
    }
    None
}

/// The lines that code may give to a shell: its string literals, if it calls the system at all. The
/// last one is all of them joined: `subprocess.run(["rm", "-rf", "x"])` is a line in pieces.
pub(crate) fn shell_lines(code: &str) -> Vec<String> {
    let code = judged_part(code);
    if !RUNNERS.iter().any(|call| code.contains(call)) {
        return Vec::new();
    }
    let mut lines = literals(code);
    lines.push(lines.join(" "));
    lines
}

/// The part of a code that is judged.
fn judged_part(code: &str) -> &str {
    code.get(..MAX_JUDGED_BYTES).unwrap_or(code)
}

fn is_root_or_home(text: &str) -> bool {
    let bare = text.trim_end_matches(['/', '*']);
    matches!(
        bare,
        "" | "~" | "/home" | "/etc" | "/usr" | "/var" | "/root" | "/boot" | "$HOME"
    ) && text.starts_with(['/', '~', '$'])
}

/// The string literals of a code. An escaped character stands without its backslash.
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
