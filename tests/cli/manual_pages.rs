//! Completions for shells and man pages, for which no daemon is started.

use std::io::Write;
use std::process::{Command, Stdio};

use termd_test_support::{Home, skip, termd_binary};

use crate::termctl::{TermctlOutput, command, ok, termctl};

/// The verbs that `--help` names.
fn verbs(home: &Home) -> Vec<String> {
    let help = ok(home, &["--help"]);
    let listed = help.split("\nOptions:").next().unwrap();
    let verbs = listed.lines().filter(|line| line.starts_with("  "));
    verbs
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_verb_is_completed_in_every_shell() {
    let home = Home::create();
    let verbs = verbs(&home);
    assert!(verbs.len() > 20, "{verbs:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(&home, &["completions", shell]);
        assert!(script.contains("TERMCTL_COMPLETE"), "{script}");
        let mut asked = command(&home, &["--", "termctl", ""]);
        asked
            .env("TERMCTL_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "1");
        let offered = TermctlOutput::of(&asked.output().unwrap()).out;
        for verb in &verbs {
            assert!(offered.contains(verb.as_str()), "{shell} lacks {verb}");
        }
    }
    assert_eq!(termctl(&home, &["completions", "tcsh"]).code, Some(2));
    assert!(!home.socket().exists());
}

#[test]
fn shells_take_their_completions() {
    let home = Home::create();
    for shell in ["bash", "zsh", "fish"] {
        let mut reader = home.command(shell);
        let reader = reader.arg("-n").stdin(Stdio::piped()).spawn();
        let Ok(mut reader) = reader else {
            skip(
                "shells_take_their_completions",
                format!("there is no {shell}"),
            );
            continue;
        };
        let script = ok(&home, &["completions", shell]);
        let mut stdin = reader.stdin.take().unwrap();
        stdin.write_all(script.as_bytes()).unwrap();
        drop(stdin);
        assert!(reader.wait().unwrap().success(), "{shell}");
    }
}

#[test]
fn every_verb_has_a_man_page() {
    let home = Home::create();
    let directory = home.path("man1");
    ok(&home, &["man", directory.to_str().unwrap()]);
    for verb in verbs(&home) {
        let page = std::fs::read_to_string(directory.join(format!("termctl-{verb}.1")));
        let page = page.unwrap_or_else(|error| panic!("{verb}: {error}"));
        let has_all = [".SH SYNOPSIS", "Examples:"]
            .iter()
            .all(|part| page.contains(part));
        assert!(has_all, "{verb}: {page}");
    }
    let whole = ok(&home, &["man"]);
    assert!(whole.contains(".TH termctl 1"), "{whole}");
    let formatted = Command::new("man")
        .arg("-l")
        .arg(directory.join("termctl-run.1"))
        .output();
    match formatted {
        Ok(formatted) => assert!(formatted.status.success(), "{formatted:?}"),
        Err(error) => skip("every_verb_has_a_man_page", format!("no man(1): {error}")),
    }
}

#[test]
fn the_page_of_termd_has_its_options_and_is_formatted_without_a_warning() {
    let home = Home::create();
    let directory = home.path("man1");
    ok(&home, &["man", directory.to_str().unwrap()]);
    let page = directory.join("termd.1");
    let text = std::fs::read_to_string(&page).unwrap().replace('\\', "");
    let help = home
        .command(termd_binary().to_str().unwrap())
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let words = help.split(|letter: char| letter.is_whitespace() || letter == ',');
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert_eq!(options.len(), 3, "{help}");
    for option in options {
        assert!(text.contains(option), "{option}");
    }
    let formatted = Command::new("man")
        .args(["--warnings", "-l"])
        .arg(page)
        .output();
    match formatted {
        Ok(formatted) => assert_eq!(String::from_utf8_lossy(&formatted.stderr), ""),
        Err(error) => skip("the_page_of_termd", format!("no man(1): {error}")),
    }
}
