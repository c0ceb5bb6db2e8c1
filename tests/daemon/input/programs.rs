//! `session.type` into real programs: line editors, vim, less and python. Long input arrives whole.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use termd_test_support::{Deadline, RawClient, TestDaemon, is_installed};

use super::typing::type_in;
use crate::shell::marked_shell::MarkedShell;
use crate::wait::pattern::{interact, line, text};

/// How long a line editor may take for 100,000 characters on a busy machine.
const SLOW: Duration = Duration::from_mins(1);

#[track_caller]
fn start(client: &mut RawClient, argv: &[&str], env: &Value) -> String {
    let params = json!({ "command": argv[0], "args": argv[1..], "env": env });
    client.create_terminal(&params)
}

/// Waits until a file holds exactly this text.
#[track_caller]
fn wait_for_file(path: &Path, expected: &str) {
    let deadline = Deadline::after(SLOW);
    loop {
        let held = fs::read_to_string(path).unwrap_or_default();
        if held == expected {
            return;
        }
        if deadline.passed() {
            let same = held
                .bytes()
                .zip(expected.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            panic!(
                "{} bytes for {}, the first {same} alike",
                held.len(),
                expected.len()
            );
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// bash at its prompt, with these readline settings.
#[track_caller]
fn bash(daemon: &TestDaemon, client: &mut RawClient, inputrc: &str) -> String {
    fs::write(daemon.user_home().join(".inputrc"), inputrc).unwrap();
    let env = json!({ "PS1": "ready> ", "HISTFILE": "" });
    let id = start(client, &["bash", "--norc", "--noprofile"], &env);
    client.wait_for_text(&id, "ready> ");
    id
}

/// 100,000 characters that are not all the same.
fn long_text() -> String {
    (0..10_000).map(|n| format!("{n:09}-")).collect()
}

#[test]
fn keys_edit_a_line_in_bash() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = bash(&daemon, &mut client, "");
    type_in(&mut client, &id, &json!({ "text": "one two junk more" }));
    type_in(
        &mut client,
        &id,
        &json!({ "keys": ["alt-b", "M-b", "ctrl-k", "C-a"] }),
    );
    type_in(
        &mut client,
        &id,
        &json!({ "text": "echo start-", "enter": true }),
    );
    client.wait_for_text(&id, "\rstart-one two\r\n");
    // `up` brings the last command back.
    // The gate asks about a line of the history that is changed.
    let changed = json!({
        "id": id, "input": { "keys": ["up", "end", "X", "enter"] }, "confirmed": true,
    });
    client.ok("session.type", &changed);
    client.wait_for_text(&id, "\rstart-one two X\r\n");
}

/// vim switches DECCKM and the keypad's application mode on.
#[test]
fn arrows_move_in_vim() {
    if !is_installed("vim", "arrows_move_in_vim") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let file = daemon.path("text");
    fs::write(&file, "one\ntwo\nthree\n").unwrap();
    let name = file.display().to_string();
    let id = start(&mut client, &["vim", "-u", "NONE", "-N", &name], &json!({}));
    client.wait_for_text(&id, "three");
    type_in(
        &mut client,
        &id,
        &json!({ "keys": ["down", "down", "end", "i", "right", "!", "escape"] }),
    );
    type_in(
        &mut client,
        &id,
        &json!({ "keys": ["up", "up", "home", "delete"] }),
    );
    type_in(&mut client, &id, &json!({ "text": ":wq", "enter": true }));
    client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(fs::read_to_string(file).unwrap(), "ne\ntwo\nthree!\n");
}

#[test]
fn pages_turn_in_less() {
    if !is_installed("less", "pages_turn_in_less") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let file = daemon.path("text");
    let lines: String = (1..=500).map(|n| format!("line-{n}\n")).collect();
    fs::write(&file, lines).unwrap();
    let id = start(
        &mut client,
        &["less", &file.display().to_string()],
        &json!({ "LESS": "" }),
    );
    client.wait_for_text(&id, "line-23");
    type_in(&mut client, &id, &json!({ "keys": ["page-down"] }));
    client.wait_for_text(&id, "line-46");
    type_in(&mut client, &id, &json!({ "keys": ["end"] }));
    client.wait_for_text(&id, "line-500");
    type_in(&mut client, &id, &json!({ "keys": ["q"] }));
    client.ok("session.wait", &json!({ "id": id }));
}

/// Types a line that writes a long text to a file, and checks the file.
#[track_caller]
fn arrives_whole(daemon: &TestDaemon, client: &mut RawClient, id: &str, line: (&str, &str)) {
    let text = long_text();
    let file = daemon.path("long");
    let (before, after) = line;
    let after = after.replace("FILE", &file.display().to_string());
    let input = json!({ "text": format!("{before}{text}{after}"), "enter": true });
    // The line is longer than the gate reads.
    let params = json!({ "id": id, "input": input, "confirmed": true, "timeout_ms": 15_000 });
    client.ok("session.type", &params);
    wait_for_file(&file, &text);
}

#[test]
fn a_hundred_thousand_characters_arrive_in_bash() {
    for inputrc in ["", "set enable-bracketed-paste off\n"] {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let id = bash(&daemon, &mut client, inputrc);
        arrives_whole(&daemon, &mut client, &id, ("printf %s '", "' > FILE"));
    }
}

#[test]
fn a_hundred_thousand_characters_arrive_in_zsh() {
    if !is_installed("zsh", "a_hundred_thousand_characters_arrive_in_zsh") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = start(&mut client, &["zsh", "-f"], &json!({ "PS1": "ready> " }));
    client.wait_for_text(&id, "ready> ");
    // zsh takes a paste at once, but needs minutes for a hundred thousand keys. It enables pastes
    // only after its prompt.
    client.wait_for_text(&id, "\x1b[?2004h");
    arrives_whole(&daemon, &mut client, &id, ("printf %s '", "' > FILE"));
}

#[test]
fn a_hundred_thousand_characters_arrive_in_fish() {
    if !is_installed("fish", "a_hundred_thousand_characters_arrive_in_fish") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let prompt = "function fish_prompt; echo 'ready> '; end";
    let id = start(
        &mut client,
        &["fish", "--no-config", "-C", prompt],
        &json!({}),
    );
    client.wait_for_text(&id, "ready> ");
    arrives_whole(&daemon, &mut client, &id, ("printf %s '", "' > FILE"));
}

#[test]
fn a_hundred_thousand_characters_arrive_in_python() {
    if !is_installed("python3", "a_hundred_thousand_characters_arrive_in_python") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = start(&mut client, &["python3", "-q"], &json!({}));
    client.wait_for_text(&id, ">>> ");
    let write = ("_ = open('FILE', 'w').write('", "')");
    let file = daemon.path("long").display().to_string();
    let line = (write.0.replace("FILE", &file), write.1);
    arrives_whole(&daemon, &mut client, &id, (&line.0, line.1));
}

/// 200 commands of about 100 characters are typed ahead. Some run a program with the tty in
/// canonical mode. The editor takes them as a paste, or knows no pastes.
#[test]
fn commands_typed_ahead_all_run() {
    for inputrc in ["", "set enable-bracketed-paste off\n"] {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let id = bash(&daemon, &mut client, inputrc);
        let file = daemon.path("ran");
        let line = |n: usize| format!("{n:03}-{}", "p".repeat(60));
        let command = |n: usize| {
            let echo = if n.is_multiple_of(4) {
                "/bin/echo"
            } else {
                "echo"
            };
            format!("{echo} {} >> '{}'", line(n), file.display())
        };
        let commands: Vec<String> = (0..200).map(command).collect();
        type_in(
            &mut client,
            &id,
            &json!({ "text": commands.join("\n"), "enter": true }),
        );
        let expected: String = (0..200).map(|n| line(n) + "\n").collect();
        wait_for_file(&file, &expected);
    }
}

/// Long lines wait behind a command that has the tty in canonical mode, typed by one call and by
/// several.
#[test]
fn long_lines_typed_ahead_are_not_cut() {
    for inputrc in ["", "set enable-bracketed-paste off\n"] {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let id = bash(&daemon, &mut client, inputrc);
        let (one, two) = (daemon.path("one"), daemon.path("two"));
        let long = long_text()[..20_000].to_owned();
        let text = format!("sleep 0.1\nprintf %s '{long}' > '{}'\n", one.display());
        type_in(&mut client, &id, &json!({ "text": text }));
        wait_for_file(&one, &long);
        for round in 0..5 {
            let expected = format!("{round}{long}");
            let text = format!("printf %s '{expected}' > '{}'", two.display());
            type_in(
                &mut client,
                &id,
                &json!({ "text": "/bin/true", "enter": true }),
            );
            type_in(&mut client, &id, &json!({ "text": text, "enter": true }));
            wait_for_file(&two, &expected);
        }
    }
}

/// A program that enables kitty's keyboard protocol gets its keys, and the next program does not.
#[test]
fn kittys_flags_are_heeded_while_they_are_on() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = bash(&daemon, &mut client, "");
    for (flags, word, count, shown) in [
        ("\\e[>1u", "first", 7, "033   [   9   7   ;   5   u"),
        ("\\e[<u", "second", 1, "001"),
    ] {
        let line = format!(
            "stty raw -echo; printf '{flags}{word}''-go'; dd bs=1 count={count} 2>/dev/null | od -An -c; stty sane"
        );
        type_in(&mut client, &id, &json!({ "text": line, "enter": true }));
        client.wait_for_text(&id, &format!("{word}-go"));
        type_in(&mut client, &id, &json!({ "keys": ["ctrl-a"] }));
        client.wait_for_text(&id, shown);
    }
}

/// A TAB between other text is a character of it, and completes nothing.
#[test]
fn a_tab_in_a_line_arrives_in_every_line_editor() {
    let daemon = TestDaemon::start();
    for name in ["bash", "zsh", "fish"] {
        if !is_installed(name, "a_tab_in_a_line_arrives_in_every_line_editor") {
            continue;
        }
        let mut shell = MarkedShell::start(&daemon, &[name]);
        shell.wait_for_prompts(1);
        let id = shell.id.clone();
        let until = json!({ "done": true });
        interact(&mut shell.client, &id, &line("true"), &until);
        let ended = interact(
            &mut shell.client,
            &id,
            &line("printf '%s\\n' 'a\tb'"),
            &until,
        );
        let command = &ended["command"];
        let (start, end) = (&ended["output_start"], &command["end"]);
        let output = text(&mut shell.client, &id, start, end);
        assert_eq!(output, "a\tb\n", "{name}: {ended}");
        // At the end it completes.
        let keys = json!({ "text": "unse\t" });
        interact(
            &mut shell.client,
            &id,
            &keys,
            &json!({ "pattern": "unset" }),
        );
    }
}
