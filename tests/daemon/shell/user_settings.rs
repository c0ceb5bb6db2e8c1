//! Shell integration: the user's settings stay, and shells without the integration are left alone.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, is_installed};

use super::marked_shell::{MarkedShell, daemon_with, expected};

/// Prints the options, traps, aliases and history settings of bash.
const STATE: &str = "shopt -p; set +o; trap -p; alias; declare -p HISTFILE HISTCONTROL \
                     BASH_VERSINFO; set -- a; echo $0 $- $# ${ENV-unset} ${POSIXLY_CORRECT-unset}";

#[test]
fn bash_is_otherwise_what_it_would_have_been() {
    let rc = "HISTCONTROL=ignoreboth\nalias printf=false local=false\nset -u\n";
    let daemon = daemon_with(".bashrc", rc);
    fs::write(
        daemon.user_home().join(".bash_profile"),
        "login_was_read=yes\n. ~/.bashrc\n",
    )
    .unwrap();
    for argv in [&["bash"][..], &["bash", "-l"]] {
        let mut marked = MarkedShell::start(&daemon, argv);
        marked.run("clear").run(STATE);
        let with = marked.newest_output();
        let off = json!({ "termd": { "shell_integration": false } });
        let mut plain = MarkedShell::start_with(
            &daemon,
            &json!({ "command": argv[0], "args": argv[1..], "_meta": off }),
        );
        plain.type_in(&format!("{STATE}; echo THE''END\r"));
        let id = plain.id.clone();
        plain.client.wait_for_text(&id, "THEEND");
        assert_eq!(plain.marks(), Vec::<String>::new());
        let text = plain.text().replace('\r', "");
        assert!(with.lines().count() > 80, "{with}");
        for line in with.lines() {
            assert!(
                text.lines()
                    .any(|plain| plain.trim_start_matches("\u{1b}[?2004l") == line),
                "{argv:?}: {line:?} is not in\n{text}"
            );
        }
        let login = argv.len() > 1;
        marked.run("echo ${login_was_read-no}; shopt -q login_shell && echo login");
        let expected_output = if login { "yes\nlogin\n" } else { "no\n" };
        assert_eq!(marked.newest_output(), expected_output);
    }
}

#[test]
fn hooks_traps_and_options_of_the_user_work_beside_ours_in_bash() {
    for hooks in [
        r#"PROMPT_COMMAND='seen="$seen $?"'"#,
        r#"PROMPT_COMMAND=('seen="$seen $?"' 'seen="$seen/$?"')"#,
    ] {
        let rc = format!(
            "PS1='$ '\nPS0='<zero>'\nHISTTIMEFORMAT='%F %T '\nseen=\n{hooks}\ntrap 'traced=$BASH_COMMAND' DEBUG\nset -u\n"
        );
        let daemon = daemon_with(".bashrc", &rc);
        let mut shell = MarkedShell::start(&daemon, &["bash"]);
        shell.run("false").run("(exit 7)").run("echo $seen");
        let twice = hooks.contains('/');
        let seen = if twice { "0/0 1/1 7/7\n" } else { "0 1 7\n" };
        assert_eq!(shell.newest_output(), seen);
        assert!(shell.text().contains("<zero>\u{1b}]633;E;false;"));
        shell.run("trap -p DEBUG; true; echo \"$traced\"");
        assert_eq!(
            shell.newest_output(),
            "trap -- 'traced=$BASH_COMMAND' DEBUG\necho \"$traced\"\n"
        );
        // With `set -e` a failing command would end the shell. Those in termd's hooks must not.
        shell
            .run("set -e")
            .run("true")
            .run("set +e")
            .run("(exit 9)");
        shell.expect_newest(&expected(&[("(exit 9)", 9)])[2..]);
    }
}

#[test]
fn a_prompt_that_is_made_anew_each_time_is_still_ended_in_bash() {
    let daemon = daemon_with(".bashrc", "PROMPT_COMMAND='PS1=\"[$?]\"'\n");
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    for _ in 0..4 {
        shell.run("true");
    }
    shell.run("(exit 5)");
    shell.expect_newest(&expected(&[("(exit 5)", 5)])[2..]);
    assert!(shell.text().contains("[5]\u{1b}]133;B"));
}

#[test]
fn bash_tells_a_text_only_where_its_history_makes_it_certain() {
    let (echo, space) = ("633;E;echo a;NONCE", "633;E;echo b;NONCE");
    for (control, expected) in [
        ("ignoredups", vec![echo, echo, space]),
        // A repeated line is not added to the history, so its text is uncertain.
        ("ignoreboth", vec![echo, space]),
        ("", vec![echo, echo, space]),
    ] {
        let daemon = daemon_with(".bashrc", &format!("HISTCONTROL={control}\n"));
        let mut shell = MarkedShell::start(&daemon, &["bash"]);
        shell.run("echo a").run("echo a").run(" echo a");
        shell.run("set +o history; echo c").run("echo d");
        shell.run("set -o history").run("echo b");
        let texts = shell.marks().into_iter().filter(|it| it.contains("echo"));
        let texts: Vec<String> = texts.filter(|it| !it.contains("echo c")).collect();
        assert_eq!(texts, expected, "{control:?}");
    }
}

#[test]
fn the_users_mark_for_an_unfinished_line_stays_his_in_zsh() {
    if !is_installed(
        "zsh",
        "the_users_mark_for_an_unfinished_line_stays_his_in_zsh",
    ) {
        return;
    }
    let is_root = nix::unistd::geteuid().is_root();
    let rc = "setopt nounset glob_subst prompt_subst\nPS1='$ '\n";
    let daemon = daemon_with(".zshrc", rc);
    let mut shell = MarkedShell::start(&daemon, &["zsh"]);
    for (line, code, shown) in [
        ("printf a", 0, if is_root { "a#" } else { "a%" }),
        ("PROMPT_EOL_MARK='<%B!%b>'; printf b", 0, "b<!>"),
        ("printf c; (exit 6)", 6, "c<!>"),
        ("unsetopt prompt_sp; (exit 7)", 7, ""),
        (
            "setopt prompt_sp; typeset -r PROMPT_EOL_MARK; printf d",
            0,
            "d<!>",
        ),
        ("printf e; (exit 8)", 8, "e<!>"),
    ] {
        shell.run(line);
        let escaped = line.replace(';', "\\x3b");
        shell.expect_newest(&expected(&[(&escaped, code)])[2..]);
        let screen = json!({ "id": shell.id, "format": "text" });
        let screen = shell.client.ok("session.screen", &screen);
        let screen = screen["rendering"].as_str().unwrap();
        assert!(
            screen.lines().any(|on| on.starts_with(shown)),
            "{line}\n{screen}"
        );
    }
}

#[test]
fn hooks_and_traps_of_the_user_work_beside_ours_in_zsh() {
    if !is_installed("zsh", "hooks_and_traps_of_the_user_work_beside_ours_in_zsh") {
        return;
    }
    let rc = "seen=\nprecmd() { seen+=\" $?\" }\nafter() { seen+=/$?; PS1='<made> ' }\n\
              preexec() { ran=$1 }\nprecmd_functions+=(after)\nsetopt no_unset ksh_arrays err_return\n";
    let daemon = daemon_with(".zshrc", rc);
    let mut shell = MarkedShell::start(&daemon, &["zsh"]);
    shell
        .run("false")
        .run("(exit 7)")
        .run("echo \"$seen $ran\"");
    shell.expect_newest(
        &expected(&[("false", 1), ("(exit 7)", 7), ("echo \"$seen $ran\"", 0)])[2..],
    );
    let output = shell.newest_output();
    assert!(
        output.starts_with(" 0/0 1/1 7/7 echo \"$seen $ran\"\n"),
        "{output:?}"
    );
    shell.run("trap 'traced+=x' DEBUG").run("true").run("trap");
    let output = shell.newest_output();
    assert!(
        output.starts_with("trap -- 'traced+=x ' DEBUG\n"),
        "{output:?}"
    );
    assert!(shell.text().contains("<made> "));
}

#[test]
fn variables_that_were_borrowed_come_back() {
    let daemon = TestDaemon::start();
    let own = daemon.path("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join(".zshrc"), "zdotdir_was_read=yes\n").unwrap();
    let own = own.to_str().unwrap();
    for (argv, name, value, line, expected_output) in [
        (
            &["bash", "-l"][..],
            "ENV",
            "/own/env",
            "echo $ENV; env | grep -c ^ENV=",
            "/own/env\n1\n",
        ),
        (&["bash"], "ENV", "/own/env", "echo $ENV", "/own/env\n"),
        (
            &["zsh"],
            "ZDOTDIR",
            own,
            "echo $ZDOTDIR $zdotdir_was_read",
            &format!("{own} yes\n"),
        ),
        (
            &["fish"],
            "XDG_DATA_DIRS",
            "/a:/b",
            "echo \"$XDG_DATA_DIRS\"",
            "/a:/b\n",
        ),
    ] {
        if !is_installed(argv[0], "variables_that_were_borrowed_come_back") {
            continue;
        }
        // The gate asks about ENV, which names code.
        let create = json!({
            "command": argv[0], "args": argv[1..], "env": { name: value }, "confirmed": true,
        });
        let mut shell = MarkedShell::start_with(&daemon, &create);
        shell.run(line);
        let output = shell.newest_output();
        assert!(output.contains(expected_output), "{argv:?}: {output:?}");
        shell.run("env | grep -c TERMD_SHELL");
        assert!(shell.newest_output().contains("0\n"), "{argv:?}");
    }
}

#[test]
fn shells_inside_and_shells_that_are_not_interactive_are_left_alone() {
    let daemon = daemon_with(".bashrc", "export PS1='$ '\n");
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    shell.run("true");
    shell.type_in("bash --norc\r");
    shell.type_in("echo in''side; exit 6\r");
    let prompts = shell.prompts();
    shell.wait_for_prompts(prompts.max(3));
    let nested = expected(&[("true", 0), ("bash --norc", 6)]);
    shell.expect(&nested);
    for argv in [
        &["bash", "-c", "echo done"][..],
        &["bash", "--norc", "-c", "echo done"],
        &["sh", "-c", "echo done"],
        &["env", "echo", "done"],
    ] {
        let mut other = MarkedShell::start(&daemon, argv);
        let id = other.id.clone();
        other.client.wait_for_text(&id, "done");
        assert_eq!(other.marks(), Vec::<String>::new(), "{argv:?}");
    }
}

#[test]
fn the_configuration_switches_it_off_and_the_record_is_what_was_asked() {
    let daemon = TestDaemon::configured("[shell]\nintegration = false\n");
    assert!(!daemon.path("run/termd/shell").exists());
    let mut plain = MarkedShell::start(&daemon, &["bash"]);
    plain.type_in("echo do''ne\r");
    let id = plain.id.clone();
    plain.client.wait_for_text(&id, "done");
    assert_eq!(plain.marks(), Vec::<String>::new());
    drop(plain);
    drop(daemon);

    let daemon = TestDaemon::start();
    let mut shell = MarkedShell::start(&daemon, &["bash", "-l"]);
    shell.wait_for_prompts(1);
    let info = shell.client.ok("session.show", &json!({ "id": shell.id }));
    assert_eq!(info["argv"], json!(["bash", "-l"]));
    let audit = shell.client.ok("audit.list", &Value::Null).to_string();
    assert!(!audit.contains("--posix") && !audit.contains("NONCE"));
}
