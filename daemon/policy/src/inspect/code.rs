//! Code of another language that gives the system a text to run.

/// Calls that run what they are given, of Python, Ruby, Perl, PHP, Lua, JavaScript and awk.
const RUNNERS: [&str; 18] = [
    "os.system",
    "os.popen",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "subprocess.getoutput",
    "pty.spawn",
    "system",
    "popen",
    "execSync",
    "spawnSync",
    "exec",
    "spawn",
    "passthru",
    "shell_exec",
    "os.execute",
];

/// Whether a call runs something else than a literal.
pub(super) fn runs_computed(code: &str) -> bool {
    RUNNERS.iter().any(|runner| {
        code.match_indices(runner).any(|(at, _)| {
            let before = code.get(..at).unwrap_or_default().chars().next_back();
            let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let rest = code.get(at + runner.len()..).unwrap_or_default();
            let argument = rest.trim_start().strip_prefix('(');
            is_whole && argument.is_some_and(|argument| !is_literal(argument))
        })
    })
}

/// Whether arguments begin with string literals: `"ls")`, `["ls", "-l"], check=True)`.
fn is_literal(arguments: &str) -> bool {
    let mut rest = arguments
        .trim_start()
        .trim_start_matches(['[', '('])
        .trim_start();
    loop {
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
            return false;
        };
        let inner = rest.get(1..).unwrap_or_default();
        let mut end = None;
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next();
            } else if c == quote {
                end = Some(at + 1);
                break;
            }
        }
        let Some(behind) = end.and_then(|end| inner.get(end..)) else {
            return false;
        };
        let behind = behind.trim_start();
        if behind.starts_with([')', ']']) {
            return true;
        }
        let Some(next) = behind.strip_prefix(',') else {
            return false;
        };
        rest = next.trim_start();
        if !rest.starts_with(['\'', '"']) {
            // Further arguments are options of the call.
            return true;
        }
    }
}
