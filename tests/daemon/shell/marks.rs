//! Shell integration: the marks that real shells print on a real PTY.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::{is_installed, wait_until};

use super::marked_shell::{MarkedShell, daemon_with, expected};
use crate::wait::pattern::{interact, line, text};

/// What a shell does when a typed line is cancelled.
#[derive(Clone, Copy, PartialEq)]
enum Cancelled {
    NewPrompt,
    /// fish clears the line and prints no new prompt.
    SamePrompt,
}

/// Uses a shell as every shell must support it: the expected marks.
fn ordinary_use(
    shell: &mut MarkedShell<'_>,
    multi_line: (&str, &str),
    cancelled: Cancelled,
) -> Vec<String> {
    shell
        .run("echo hi")
        .run("false")
        .run("false")
        .run(" echo hidden");
    shell.run("");
    if cancelled == Cancelled::NewPrompt {
        let before = shell.prompts();
        shell.type_in("never run\u{3}");
        shell.wait_for_prompts(before + 1);
    }
    shell.run(multi_line.0);
    shell.run(r"echo 'a;b\ü'");
    let spaced = shell.home().user_home().join("ä b;c");
    fs::create_dir(&spaced).unwrap();
    shell.run("cd 'ä b;c'");
    let directory = shell.directory();
    assert!(directory.ends_with("/home/%C3%A4%20b%3Bc"), "{directory}");
    shell.run("env | grep TERMD_SHELL");
    let mut marks = expected(&[("echo hi", 0), ("false", 1), ("false", 1), ("", 0)]);
    // An empty line and a cancelled line print a prompt and nothing else.
    marks.extend(["133;A", "133;B"].map(str::to_owned));
    if cancelled == Cancelled::NewPrompt {
        marks.extend(["133;A", "133;B"].map(str::to_owned));
    }
    let more = expected(&[
        (multi_line.1, 0),
        (r"echo 'a\x3bb\\ü'", 0),
        (r"cd 'ä b\x3bc'", 0),
        ("env | grep TERMD_SHELL", 1),
    ]);
    marks.extend(more.into_iter().skip(2));
    marks
}

#[test]
fn bash_marks_each_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nrc_was_read=yes\n");
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x3b do echo $i\x3b done";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $?");
    assert_eq!(shell.newest_output(), "yes 1\n");
    shell.run("(exit 3)").run("true | (exit 4)");
    shell.expect_newest(&expected(&[("(exit 3)", 3), ("true | (exit 4)", 4)])[2..]);
}

#[test]
fn zsh_marks_each_command() {
    if !is_installed("zsh", "zsh_marks_each_command") {
        return;
    }
    let daemon = daemon_with(".zshrc", "PS1='%% '\nrc_was_read=yes\n");
    let mut shell = MarkedShell::start(&daemon, &["zsh"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x0ado echo $i\x0adone";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $? ${ZDOTDIR-unset} \"[$PS1]\"");
    assert_eq!(
        shell.newest_output().lines().next(),
        Some("yes 1 unset [%% ]")
    );
}

#[test]
fn fish_marks_each_command_but_not_where_the_prompt_ends() {
    if !is_installed(
        "fish",
        "fish_marks_each_command_but_not_where_the_prompt_ends",
    ) {
        return;
    }
    let daemon = daemon_with(
        ".config/fish/config.fish",
        "set -g rc_was_read yes\nfunction fish_prompt\n  echo '> '\nend\n",
    );
    let config = daemon.user_home().join(".config");
    let mut shell = MarkedShell::start_with(
        &daemon,
        &json!({ "command": "fish", "env": { "XDG_CONFIG_HOME": config } }),
    );
    let multi_line = "for i in 1 2\recho $i\rend";
    let joined = r"for i in 1 2\x0aecho $i\x0aend";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::SamePrompt);
    let marks: Vec<String> = marks.into_iter().filter(|mark| mark != "133;B").collect();
    shell.expect(&marks);
    shell.run("echo $rc_was_read $status; set -q XDG_DATA_DIRS; or echo unset");
    let output = shell.newest_output();
    assert!(output.contains("yes 1\nunset\n"), "{output:?}");
    shell.run("functions fish_prompt | string match -e termd; or echo untouched");
    assert!(shell.newest_output().contains("untouched\n"));
}

/// Reads a command that runs, up to its end, as often as it can.
fn read_while_it_runs(shell: &mut MarkedShell<'_>, number: i64) -> String {
    let (mut text, mut since) = (String::new(), Value::Null);
    let params = |since: &Value| json!({ "id": shell.id, "number": number, "since": since });
    let client = &mut shell.client;
    wait_until("the command is known", || {
        client
            .request("command.show", &params(&Value::Null))
            .is_ok()
    });
    loop {
        let is_over = client.ok("command.show", &params(&Value::Null))["end"].is_i64();
        let page = client.ok("command.read", &params(&since));
        text += page["text"].as_str().unwrap();
        since = page["end"].clone();
        if is_over && page["at_end"] == true {
            return text;
        }
    }
}

#[test]
fn a_command_that_ends_while_it_is_read_has_nothing_of_the_prompt() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\n");
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    shell.wait_for_prompts(1);
    for number in 1..=200 {
        shell.type_in("printf 'no newline'; sleep 0.01\r");
        assert_eq!(
            read_while_it_runs(&mut shell, number),
            "no newline",
            "{number}"
        );
        shell.wait_for_prompts(usize::try_from(number).unwrap() + 1);
    }
}

#[test]
fn a_line_run_in_a_shell_is_a_listed_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nHISTCONTROL=ignorespace\n");
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    shell.run("echo one").run("(exit 3)").run(" echo hidden");
    let commands = |shell: &mut MarkedShell<'_>, filter: Value| {
        let page = shell
            .client
            .ok("command.list", &json!({ "filter": filter }));
        let all = page["commands"].as_array().unwrap().clone();
        let row_of = |it: &Value| {
            (
                it["number"].clone(),
                it["text"].clone(),
                it["exit_code"].clone(),
            )
        };
        all.iter().map(row_of).collect::<Vec<_>>()
    };
    let id = shell.id.clone();
    wait_until("three commands have ended", || {
        let all = commands(&mut shell, json!({ "terminal": id, "failed": false }));
        all.iter().any(|command| command.0 == 3)
    });
    let all = commands(&mut shell, json!({ "terminal": id }));
    let row = |number: i64, text: &str, code: Value| (json!(number), json!(text), code);
    assert_eq!(
        all,
        [
            row(3, "", json!(0)),
            row(2, "(exit 3)", json!(3)),
            row(1, "echo one", json!(0)),
            row(0, "bash", Value::Null),
        ]
    );
    let found = commands(&mut shell, json!({ "query": "ECHO" }));
    assert_eq!(found, [row(1, "echo one", json!(0))]);
    let shown = shell
        .client
        .ok("command.show", &json!({ "id": id, "number": 1 }));
    let page = shell
        .client
        .ok("command.read", &json!({ "id": id, "number": 1 }));
    assert_eq!(page["text"], "one\n");
    assert!(shown["cwd"].as_str().unwrap().ends_with("/home"));
}

/// dash has no hooks: its prompts tell the exit codes, and the echo of a line is where it ends.
#[test]
fn dash_marks_the_end_of_each_command() {
    if !is_installed("dash", "dash_marks_the_end_of_each_command") {
        return;
    }
    let env = ".shrc";
    let daemon = daemon_with(env, "alias greet='echo hello'\nPS1='me> '\n");
    let path = daemon.user_home().join(env);
    let create = json!({ "command": "dash", "args": ["-i"], "env": { "ENV": path },
                         "confirmed": true });
    let mut shell = MarkedShell::start_with(&daemon, &create);
    let id = shell.id.clone();
    let until = json!({ "done": true });
    let since = json!({ "id": id, "since": 0, "until": until });
    let ready = shell.client.ok("session.wait_for", &since);
    assert_eq!(ready["done_by"], "marks", "{ready}");
    for (typed, code, output) in [
        ("greet", 0, "hello\n"),
        ("printf nonl; sh -c 'exit 7'", 7, "nonl"),
        ("sleep 0.3; echo late", 0, "late\n"),
        ("if )", 2, "dash: 4: Syntax error: \")\" unexpected\n"),
        ("echo \"$ENV\"", 0, &format!("{}\n", path.display())),
        ("env | grep -c TERMD_SHELL_", 1, "0\n"),
    ] {
        let ended = interact(&mut shell.client, &id, &line(typed), &until);
        assert_eq!(ended["done_by"], "marks", "{typed}: {ended}");
        let command = &ended["command"];
        assert_eq!(command["exit_code"], code, "{typed}: {ended}");
        let (start, end) = (&ended["output_start"], &command["end"]);
        assert_eq!(text(&mut shell.client, &id, start, end), output, "{typed}");
    }
    // Neither an empty line nor one that was interrupted is a command.
    let before = shell.client.ok("session.activity", &json!({ "id": id }));
    for input in [line("   "), json!({ "text": "never run\u{3}" })] {
        let ended = interact(&mut shell.client, &id, &input, &until);
        assert_eq!(ended["activity"]["last_command"], before["last_command"]);
        assert_eq!(ended["activity"]["awaited_input"]["kind"], "command");
    }
    let ended = interact(&mut shell.client, &id, &line("echo \"one"), &until);
    let rest = json!({ "kind": "continuation", "known_by": "marks" });
    assert_eq!(ended["activity"]["awaited_input"], rest, "{ended}");
    let ended = interact(&mut shell.client, &id, &line("two\""), &until);
    assert_eq!(ended["done_by"], "marks", "{ended}");
    let (start, end) = (
        &ended["output_start"],
        &ended["activity"]["last_command"]["end"],
    );
    assert_eq!(text(&mut shell.client, &id, start, end), "one\ntwo\n");
    let ended = interact(&mut shell.client, &id, &line("read x"), &until);
    let reads = json!({ "kind": "line", "known_by": "kernel" });
    assert_eq!(ended["activity"]["awaited_input"], reads, "{ended}");
}

/// A line that a shell reads and does not run has an exit code too, and its output is without the echo
/// and the next prompt.
#[test]
fn a_line_that_runs_nothing_has_an_exit_code_and_only_its_own_output() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\n");
    for (name, typed, code, output) in [
        (
            "bash",
            "if )",
            json!(2),
            "bash: syntax error near unexpected token `)'\n",
        ),
        ("bash", "# only a remark", json!(0), ""),
        ("bash", "   ", Value::Null, ""),
        ("zsh", "if )", json!(1), "zsh: parse error near `)'\n"),
        ("zsh", "   ", Value::Null, ""),
        ("zsh", "printf nonl", json!(0), "nonl"),
        ("fish", "# only a remark", json!(0), ""),
        ("fish", "printf nonl", json!(0), "nonl"),
        ("dash", "# only a remark", json!(0), ""),
        ("dash", "   ", Value::Null, ""),
    ] {
        if !is_installed(name, "a_line_that_runs_nothing_has_an_exit_code") {
            continue;
        }
        let mut shell = MarkedShell::start(&daemon, &[name]);
        let (id, until) = (shell.id.clone(), json!({ "done": true }));
        let since = json!({ "id": id, "since": 0, "until": until });
        shell.client.ok("session.wait_for", &since);
        interact(&mut shell.client, &id, &line("true"), &until);
        let ended = interact(&mut shell.client, &id, &line(typed), &until);
        assert_eq!(ended["done_by"], "marks", "{name} {typed}: {ended}");
        let (start, end) = (&ended["output_start"], &ended["output_end"]);
        let shown = text(&mut shell.client, &id, start, end);
        assert_eq!(shown, output, "{name} {typed:?}: {ended}");
        let command = ended.get("command").unwrap_or(&Value::Null);
        let exit_code = command.get("exit_code").unwrap_or(&Value::Null);
        assert_eq!(*exit_code, code, "{name} {typed:?}: {ended}");
    }
}
