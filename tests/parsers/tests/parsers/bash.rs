//! What bash runs, the gate sees: random texts are run by bash itself.

use std::fs;
use std::process::{Command, Stdio};

use termd_parser_tests::policy::is_forbidden;

use crate::change::Random;

/// Texts; `TERMD_PARSER_CASES` says otherwise.
const CASES: usize = 1_000;
/// The most pieces of a text.
const MAX_PIECES: usize = 14;
/// What the forbidden command prints when it runs.
const MARK: &str = "it ran";
/// Quotes, expansions, comments, joints, blocks and redirections, and words of no meaning. Nothing but `echo`
/// is there to be run.
const PIECES: [&str; 62] = [
    "$\"",
    "$'",
    "\"",
    "'",
    "a",
    " -",
    "O",
    "/b",
    " ",
    "x",
    "$",
    "`",
    "\\",
    "echo ",
    "{",
    "}",
    "|",
    "#",
    "$(",
    ")",
    "${x:-",
    "\n",
    ";",
    "&&",
    "<<E\n",
    "\nE\n",
    "!",
    "[",
    "]",
    "=",
    " > o ",
    " < i ",
    "<<<",
    "&",
    "(",
    "((",
    "))",
    "[[ ",
    " ]]",
    "x=",
    "x=(",
    "if ",
    "; then ",
    "; fi",
    "for x in ",
    "; do ",
    "; done",
    "case x in ",
    ") ",
    ";;",
    " esac",
    "f() ",
    "time ",
    "! ",
    "@(",
    "*",
    "?",
    "~",
    "<(",
    "$((",
    "forbidden it",
    "\nforbidden it\n",
];

fn text(random: &mut Random) -> String {
    let pieces = (0..=random.below(MAX_PIECES)).map(|_| PIECES[random.below(PIECES.len())]);
    format!("echo {}\nforbidden it\n", pieces.collect::<String>())
}

#[test]
fn what_bash_runs_is_seen() {
    let folder = std::env::temp_dir().join(format!("termd-bash-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let cases = std::env::var("TERMD_PARSER_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let (mut ran, mut missed) = (0, Vec::new());
    for case in 0..cases {
        let text = text(&mut Random::new(case as u64 + 1));
        let script = format!("forbidden() {{ builtin echo '{MARK}' >&9; }}\n{text}");
        // A file of its own: what an earlier text has left in the background may still write.
        let ran_file = folder.join(case.to_string());
        let bash = Command::new("/bin/bash")
            .args(["-c", "exec 9>\"$1\"; eval \"$0\"", &script])
            .arg(&ran_file)
            .current_dir(&folder)
            .env_clear()
            .env("PATH", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if bash.is_err() {
            println!("SKIP: no bash");
            return;
        }
        let has_run = fs::read_to_string(&ran_file).is_ok_and(|it| it.contains(MARK));
        ran += usize::from(has_run);
        if has_run && !is_forbidden(&text) {
            missed.push(text);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(ran > cases / 10, "{ran} of {cases} texts ran it");
}
