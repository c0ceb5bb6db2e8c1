//! A wait for a command's end also ends where input is awaited: by the kernel, by the shell's second
//! prompt, and with a full-screen program that has drawn its screen.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, is_installed};

use super::pattern::{interact, line};
use crate::shell::marked_shell::MarkedShell;

/// How long an answer may take: half a second, and what a machine adds that builds beside it. A wait that
/// sees nothing takes 15 s.
const SOON: Duration = Duration::from_secs(10);

fn done() -> Value {
    json!({ "done": true })
}

/// Types a line, and returns the answer of the wait for its end, which must come soon.
#[track_caller]
fn soon(client: &mut RawClient, id: &str, input: &Value) -> Value {
    let begun = Instant::now();
    let ended = interact(client, id, input, &done());
    assert!(begun.elapsed() < SOON, "{input}: {ended}");
    ended
}

#[track_caller]
fn assert_awaits(ended: &Value, kind: &str, known_by: &str) {
    assert_eq!(
        ended["activity"]["awaited_input"],
        json!({ "kind": kind, "known_by": known_by }),
        "{ended}"
    );
}

#[track_caller]
fn assert_at_prompt(ended: &Value) {
    assert_awaits(ended, "command", "marks");
    assert_eq!(ended["done_by"], "marks", "{ended}");
}

/// A shell at its first prompt; none where it is not installed.
fn shell_at_prompt<'a>(daemon: &'a TestDaemon, name: &str) -> Option<MarkedShell<'a>> {
    if !is_installed(name, "awaited_input") {
        return None;
    }
    let mut shell = MarkedShell::start(daemon, &[name]);
    shell.wait_for_prompts(1);
    let id = shell.id.clone();
    assert_at_prompt(&interact(&mut shell.client, &id, &line("true"), &done()));
    Some(shell)
}

#[test]
fn a_read_of_the_tty_ends_a_wait() {
    let daemon = TestDaemon::start();
    for name in ["bash", "zsh"] {
        let Some(mut shell) = shell_at_prompt(&daemon, name) else {
            continue;
        };
        let id = shell.id.clone();
        for command in ["read x", "sh -c 'read x'", "sleep 0.2; cat", "cat | cat"] {
            let ended = soon(&mut shell.client, &id, &line(command));
            assert_awaits(&ended, "line", "kernel");
            assert_eq!(ended["done_by"], "foreground", "{command}: {ended}");
            assert_eq!(ended["activity"]["command_state"], "running", "{ended}");
            let activity = shell.client.ok("session.activity", &json!({ "id": id }));
            assert_eq!(
                activity["awaited_input"], ended["activity"]["awaited_input"],
                "{activity}"
            );
            let mut ended = soon(&mut shell.client, &id, &line("x"));
            if command.ends_with("cat") {
                assert_awaits(&ended, "line", "kernel");
                ended = soon(&mut shell.client, &id, &json!({ "keys": ["ctrl-d"] }));
            }
            assert_at_prompt(&ended);
        }
    }
}

#[test]
fn a_question_and_an_input_of_python_end_a_wait() {
    let daemon = TestDaemon::start();
    let mut shell = shell_at_prompt(&daemon, "bash").unwrap();
    let id = shell.id.clone();
    for (command, program) in [
        ("python3 -c 'input()'", "python3"),
        ("python3 -c 'input(\"name: \")'", "python3"),
        ("bash -c 'read -p \"Proceed? [y/N] \" x'", "bash"),
    ] {
        if !is_installed(program, "a_question_and_an_input_of_python_end_a_wait") {
            continue;
        }
        let ended = soon(&mut shell.client, &id, &line(command));
        assert_awaits(&ended, "line", "kernel");
        assert_at_prompt(&soon(&mut shell.client, &id, &line("y")));
    }
}

/// bc shows no prompt, and edits lines.
#[test]
fn a_line_editor_without_a_prompt_ends_a_wait() {
    if !is_installed("bc", "a_line_editor_without_a_prompt_ends_a_wait") {
        return;
    }
    let daemon = TestDaemon::start();
    let mut shell = shell_at_prompt(&daemon, "bash").unwrap();
    let id = shell.id.clone();
    for typed in ["bc -q", "1+1", "x=7; x"] {
        let ended = soon(&mut shell.client, &id, &line(typed));
        assert_awaits(&ended, "line", "kernel");
    }
    assert_at_prompt(&soon(&mut shell.client, &id, &line("quit")));
}

/// Neither a program that sleeps in poll(2) or in a read of something else, nor a silent one that
/// passes everything on.
#[test]
fn what_sleeps_for_anything_else_is_not_said_to_await_input() {
    if !is_installed(
        "python3",
        "what_sleeps_for_anything_else_is_not_said_to_await_input",
    ) {
        return;
    }
    let daemon = TestDaemon::start();
    let mut shell = shell_at_prompt(&daemon, "bash").unwrap();
    let id = shell.id.clone();
    let python = |code: &str| {
        format!(
            "python3 -c 'import os, select, socket, time, tty; a, b = socket.socketpair(); {code}'"
        )
    };
    let table = [
        "sleep 1.5".to_owned(),
        python("select.select([a], [], [], 1.5)"),
        python("p = select.poll(); p.register(0); p.unregister(0); p.poll(1500)"),
        python("a.settimeout(1.5)\ntry: a.recv(1)\nexcept OSError: pass"),
        python("tty.setraw(0); select.select([a, 0], [], [], 1.5)") + "; stty sane",
        "sleep 1.5 | cat".to_owned(),
    ];
    for command in table {
        let begun = Instant::now();
        let ended = interact(&mut shell.client, &id, &line(&command), &done());
        assert!(
            begun.elapsed() >= Duration::from_millis(1_500),
            "{command}: {ended}"
        );
        assert_at_prompt(&ended);
    }
}

#[test]
fn a_second_prompt_is_said_to_be_one() {
    let daemon = TestDaemon::start();
    for name in ["bash", "zsh", "fish"] {
        let Some(mut shell) = shell_at_prompt(&daemon, name) else {
            continue;
        };
        let id = shell.id.clone();
        for typed in ["echo \"abc", "def"] {
            let ended = soon(&mut shell.client, &id, &line(typed));
            assert_awaits(&ended, "continuation", "kernel");
            assert_eq!(ended["ended_by"], "done", "{name}: {ended}");
            assert_ne!(ended["done_by"], "marks", "{name}: {ended}");
            assert_ne!(
                ended["activity"]["prompt"]["by"], "marks",
                "{name}: {ended}"
            );
        }
        let ended = soon(&mut shell.client, &id, &line("\""));
        assert_at_prompt(&ended);
        assert_eq!(ended["command"]["exit_code"], 0, "{name}: {ended}");
        // A command that is slow to begin is none.
        let ended = interact(&mut shell.client, &id, &line("sleep 0.5"), &done());
        assert_at_prompt(&ended);
    }
}

#[test]
fn a_full_screen_program_ends_a_wait_once_its_screen_is_quiet() {
    let daemon = TestDaemon::start();
    let mut shell = shell_at_prompt(&daemon, "bash").unwrap();
    let id = shell.id.clone();
    let key = |key: &str| json!({ "keys": [key] });
    for (program, command, keys, leave) in [
        (
            "vim",
            "vim -u NONE -i NONE new",
            ["i", "x", "escape"],
            line(":q!"),
        ),
        (
            "less",
            "less /etc/passwd",
            ["down", "up", "space"],
            key("q"),
        ),
        // On the primary screen, with the cursor hidden.
        ("top", "top -d 5", ["1", "c", "1"], key("q")),
    ] {
        if !is_installed(
            program,
            "a_full_screen_program_ends_a_wait_once_its_screen_is_quiet",
        ) {
            continue;
        }
        let ended = soon(&mut shell.client, &id, &line(command));
        assert_eq!(ended["ended_by"], "settled", "{program}: {ended}");
        assert_eq!(ended["activity"]["full_screen"], true, "{program}: {ended}");
        for name in keys {
            let ended = soon(&mut shell.client, &id, &key(name));
            assert_eq!(ended["ended_by"], "settled", "{program} {name}: {ended}");
        }
        assert_at_prompt(&soon(&mut shell.client, &id, &leave));
    }
}

#[test]
fn a_full_screen_program_that_is_at_work_has_not_drawn_its_screen() {
    let daemon = TestDaemon::start();
    let mut shell = shell_at_prompt(&daemon, "bash").unwrap();
    let id = shell.id.clone();
    let works = r"(printf '\e[?1049h'; end=$((${EPOCHREALTIME/[.,]} + 1000000)); \
        while ((${EPOCHREALTIME/[.,]} < end)); do :; done; printf drawn; read -rsn1; printf '\e[?1049l')";
    let ended = soon(&mut shell.client, &id, &line(works));
    assert_eq!(ended["ended_by"], "settled", "{ended}");
    let params = json!({ "id": id, "format": "text" });
    let screen = shell.client.ok("session.screen", &params);
    let drawn = screen["rendering"].as_str();
    assert_eq!(drawn.map(str::trim), Some("drawn"), "{screen}");
    let key = json!({ "text": "x" });
    assert_at_prompt(&soon(&mut shell.client, &id, &key));
}

/// A program in a terminal of its own, and what it prints at first.
fn program(client: &mut RawClient, argv: &[&str], env: &Value) -> Option<String> {
    if !is_installed(argv[0], "awaited_input") {
        return None;
    }
    let create = json!({ "command": argv[0], "args": argv[1..], "env": env });
    let id = client.create_terminal(&create);
    let params = json!({ "id": id, "since": 0, "until": done(), "timeout_ms": 20_000 });
    client.ok("session.wait_for", &params);
    Some(id)
}

/// What a program has printed before its prompt does not hide it.
#[test]
fn a_prompt_behind_output_without_a_line_break_is_known_again() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let no_history = json!({ "PYTHON_HISTORY": "" });
    for (argv, first, typed, prompt) in [
        (
            &["python3", "-q"][..],
            "1+1",
            "print('nonl', end='')",
            ">>> ",
        ),
        (&["gdb", "-q", "-nx"], "p 1+1", "printf \"nonl\"", "(gdb) "),
    ] {
        let Some(id) = program(&mut client, argv, &no_history) else {
            continue;
        };
        soon(&mut client, &id, &line(first));
        let ended = soon(&mut client, &id, &line(typed));
        assert_eq!(ended["done_by"], "prompt", "{argv:?}: {ended}");
        let activity = &ended["activity"];
        assert_eq!(activity["prompt_text"], prompt, "{argv:?}: {ended}");
        assert_eq!(
            activity["awaited_input"]["kind"], "command",
            "{argv:?}: {ended}"
        );
    }
}

/// gdb has bracketed paste on, and takes a paste as one command.
#[test]
fn several_lines_are_several_commands_of_gdb() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let Some(id) = program(&mut client, &["gdb", "-q", "-nx"], &json!({})) else {
        return;
    };
    let lines = json!({ "text": "set $x = 20\np $x + 1\np $x + 2\n" });
    let until = json!({ "pattern": r"^\$2 = 22" });
    let ended = interact(&mut client, &id, &lines, &until);
    assert_eq!(ended["ended_by"], "matched", "{ended}");
}
