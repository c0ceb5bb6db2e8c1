//! A script that the real shell cannot read: its own error, in place of the gate's question about a text
//! that nothing can be made of.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::real_shell::RealShell;

/// The shells that read a script with `-n` without running any of it. zsh would read its start-up files.
const CHECKING_SHELLS: [&str; 2] = ["bash", "sh"];

/// What the real shell says of a script that it cannot read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) code: i32,
    /// What it prints on standard error.
    pub(crate) text: Vec<u8>,
}

/// Has the real shell read the script of `-c` and run nothing of it. `None`: it can be read, or there is
/// none.
pub(crate) fn syntax_error(shell: &RealShell, args: &[OsString]) -> Option<SyntaxError> {
    let name = shell.program.file_name().and_then(OsStr::to_str)?;
    let (called, options) = args.split_first()?;
    let script = script(options).filter(|_| CHECKING_SHELLS.contains(&name))?;
    let mut check = Command::new(&shell.program);
    check
        .arg0(called)
        .args([OsStr::new("-n"), OsStr::new("-c"), script]);
    // Variables make shells run files and functions.
    check.env_clear().stdin(Stdio::null());
    let checked = check.output().ok()?;
    let code = checked.status.code().filter(|code| *code != 0)?;
    let text = checked.stderr;
    Some(SyntaxError { code, text })
}

/// The script of `-c`, which stands behind all options (bash(1), OPTIONS). `None` as well where an option is
/// there with which the shell reads something else first, or ignores `-n`.
fn script(args: &[OsString]) -> Option<&OsString> {
    let mut args = args.iter();
    let mut takes_script = false;
    loop {
        let arg = args.next()?;
        let text = arg.to_str().unwrap_or_default();
        let letters = match text.strip_prefix(['-', '+']) {
            None => return takes_script.then_some(arg),
            Some("" | "-") => return args.next().filter(|_| takes_script),
            Some(letters) => letters,
        };
        if letters.contains(['-', 'i', 's']) {
            return None;
        }
        takes_script |= text.starts_with('-') && letters.contains('c');
        for _ in letters.matches(['o', 'O']) {
            args.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_and_the_error_is_the_shells() {
        let shell = RealShell {
            program: "/bin/bash".into(),
        };
        let check = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            syntax_error(&shell, &args)
        };
        for script in ["if", "echo ran; (", "echo 'ran", "echo ran\nfor i in 1"] {
            let error = check(&["name", "-c", script]).unwrap();
            let text = String::from_utf8(error.text).unwrap();
            assert_eq!(error.code, 2, "{script}: {text}");
            assert!(text.starts_with("name: -c: "), "{script}: {text}");
        }
        for options in [
            ["-lc"].as_slice(),
            &["-c", "-l"],
            &["-l", "-c"],
            &["-c", "-e", "-o", "pipefail"],
            &["-eo", "pipefail", "-c", "--"],
            &["-c", "+x"],
        ] {
            let args = |script| [&["name"], options, &[script, "if"]].concat();
            let error = check(&args("if")).unwrap();
            let text = String::from_utf8(error.text).unwrap();
            assert!(text.contains("end of file"), "{options:?}: {text}");
            assert_eq!(check(&args("echo ran")), None, "{options:?}");
        }
        for args in [
            ["name", "-c", "echo ran"].as_slice(),
            &["name", "-c", "-l"],
            &["name", "-ic", "if"],
            &["name", "-s", "-c", "if"],
            &["name", "--rcfile", "x", "-c", "if"],
            &["name", "+c", "if"],
            &["name", "-c", "cat <<E\nx"],
            &["name", "-c"],
            &["name", "-i"],
            &["name", "script", "if"],
        ] {
            assert_eq!(check(args), None, "{args:?}");
        }
    }
}
