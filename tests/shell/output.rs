//! Exit codes, both streams, and what is read.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use termd_test_support::wait_until;

use crate::{Ended, TestShells};

#[test]
fn exit_codes_and_signals_are_those_of_the_command() {
    let shells = TestShells::open();
    for (line, code) in [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("no-such-program 2>/dev/null", 127),
        ("kill -TERM $$", 143),
        ("kill -USR1 $$", 138),
        ("kill -HUP $$", 129),
    ] {
        let ended = shells.run(line);
        assert_eq!(
            (ended.code, ended.out.as_str()),
            (Some(code), ""),
            "{line}: {ended:?}"
        );
    }
    assert_eq!(shells.terminals().len(), 7, "each ran in the daemon");
    assert_eq!(shells.in_place(), Vec::<String>::new());
}

#[test]
fn streams_are_apart_or_in_order_in_one_file() {
    let shells = TestShells::open();
    let ended = shells.run("echo out; echo err >&2; printf 'a\\r\\n\\0\\033[1mb'");
    let expected = Ended {
        code: Some(0),
        out: "out\na\r\n\0\u{1b}[1mb".to_owned(),
        err: "err\n".to_owned(),
    };
    assert_eq!(ended, expected);

    // As Claude Code has it: one file, both descriptors appending.
    let path = shells.daemon.path("task.output");
    let open = || {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap()
    };
    let file = open();
    let line = "for i in $(seq 200); do echo out $i; echo err $i >&2; done";
    let status = shells
        .command(&["-c", line])
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    assert!(status.success());
    let expected: String = (1..=200).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn five_megabytes_are_whole() {
    let shells = TestShells::open();
    let ended = shells.run("seq 1 700000");
    let expected: String = (1..=700_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(ended.code, Some(0));
    assert!(ended.out == expected, "{} bytes", ended.out.len());
}

#[test]
fn five_megabytes_are_whole_over_killed_and_replaced_servers() {
    let shells = TestShells::open();
    let line = "for i in 1 2 3 4 5; do seq 1 140000; sleep 0.2; done; echo done >&2";
    let child = shells
        .command(&["-c", line])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it runs", || !shells.terminals().is_empty());
    shells.daemon.kill_server();
    shells.daemon.replace_server();
    shells.daemon.kill_server();
    let ended = Ended::of(&child.wait_with_output().unwrap());
    let once: String = (1..=140_000).map(|n| format!("{n}\n")).collect();
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), "done\n"));
    assert!(ended.out == once.repeat(5), "{} bytes", ended.out.len());
}

/// Each server dies while it gives pages: one may be written, and its answer not.
#[test]
fn a_flood_is_whole_over_servers_killed_in_it() {
    let shells = TestShells::open();
    let mut child = shells
        .command(&["-c", "seq 1 2000000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut read = Vec::new();
    for part in [3 << 20, 3 << 20, 3 << 20, u64::MAX] {
        output.by_ref().take(part).read_to_end(&mut read).unwrap();
        if part < u64::MAX {
            shells.daemon.kill_server();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let expected: String = (1..=2_000_000).map(|n| format!("{n}\n")).collect();
    assert!(read == expected.as_bytes(), "{} bytes", read.len());
}

#[test]
fn standard_input_is_the_callers_own() {
    let shells = TestShells::open();
    let path = shells.daemon.path("input");
    fs::write(&path, "first\nsecond\n").unwrap();
    let mut command = shells.command(&["-c", "read a; echo got $a"]);
    let mut file = File::open(&path).unwrap();
    let ended = Ended::run(command.stdin(file.try_clone().unwrap()));
    assert_eq!(ended.out, "got first\n");
    // The place in the file is shared, as with any child. Bash reads a file line by line.
    let mut rest = String::new();
    file.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "second\n");

    let mut child = shells
        .command(&["-c", "cat; echo end"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"piped\n").unwrap();
    assert_eq!(
        Ended::of(&child.wait_with_output().unwrap()).out,
        "piped\nend\n"
    );
    assert_eq!(shells.run("cat; read x; echo $?").out, "1\n");
}

#[test]
fn arguments_and_scripts_are_those_of_a_shell() {
    let shells = TestShells::open();
    let run = |args: &[&str]| Ended::run(&mut shells.command(args));
    let own = shells.bash().display().to_string();
    assert_eq!(run(&["-c", "echo $0 $1", "name", "one"]).out, "name one\n");
    assert_eq!(run(&["-c", "echo $0"]).out, format!("{own}\n"));
    assert_eq!(
        run(&["-c", "-l", "shopt -q login_shell && echo login"]).out,
        "login\n"
    );
    assert_eq!(run(&["-lc", "echo $-"]).code, Some(0));
    let script = shells.daemon.path("script.sh");
    fs::write(&script, "echo script $1\nexit 5\n").unwrap();
    let ended = run(&[script.to_str().unwrap(), "x"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(5), "script x\n"));
    let mut command = shells.daemon.command(shells.daemon.path("shells/sh"));
    let ended = Ended::run(
        command
            .args(["-c", "echo $0; echo ${BASH:-none}"])
            .stdin(Stdio::null()),
    );
    assert!(ended.out.contains("/shells/sh\n"), "{ended:?}");
    // A program whose first line names it.
    let program = shells.daemon.path("program");
    fs::write(&program, format!("#!{own}\necho shebang $1\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let ended = Ended::run(
        shells
            .daemon
            .command(&program)
            .arg("y")
            .stdin(Stdio::null()),
    );
    assert_eq!(ended.out, "shebang y\n");
}

#[test]
fn a_reader_that_goes_ends_the_command() {
    let shells = TestShells::open();
    let line = format!(
        "{} -c 'yes; echo never >&2' | head -n 1; echo ${{PIPESTATUS[0]}}",
        shells.bash().display()
    );
    let ended = Ended::run(shells.daemon.command("/bin/bash").args(["-c", &line]));
    assert_eq!(ended.out, "y\n141\n", "{ended:?}");
    assert_eq!(ended.err, "");
}

#[test]
fn the_record_has_what_ran() {
    let shells = TestShells::open();
    let mut command = shells.command(&["-c", "echo hello"]);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "session-1");
    Ended::run(&mut command);
    let terminals = shells.terminals();
    let [terminal] = terminals.as_slice() else {
        panic!("{terminals:?}");
    };
    let argv = &terminal["argv"];
    assert_eq!((&argv[1], &argv[2]), (&json!("-c"), &json!("echo hello")));
    assert!(argv[0].as_str().unwrap().ends_with("/bash"), "{terminal}");
    assert_eq!(terminal["owner"]["front"], "shell");
    assert_eq!(terminal["owner"]["client"], "claude-code");
    assert_eq!(terminal["owner"]["session"], "session-1");
    assert_eq!(terminal["exit_status"]["exit_code"], 0);
}

#[test]
fn secrets_do_not_go_to_a_model() {
    let shells = TestShells::open();
    let line = "echo $API_TOKEN; echo $API_TOKEN >&2";
    let run = |variables: &[(&str, &str)]| {
        let mut command = shells.command(&["-c", line]);
        command.env("API_TOKEN", "s3cret-of-mine");
        command.envs(variables.iter().copied());
        Ended::run(&mut command)
    };
    let hidden = "[secret API_TOKEN]\n";
    let opencode = run(&[("OPENCODE", "1")]);
    assert_eq!(
        (opencode.out.as_str(), opencode.err.as_str()),
        (hidden, hidden)
    );
    let codex = run(&[("CODEX_THREAD_ID", "t"), ("CODEX_TOOL_CALL_ID", "c")]);
    assert_eq!(codex.out, hidden);
    // Not a model's: a pipe of a script, and a shell that takes the environment.
    let shown = "s3cret-of-mine\n";
    assert_eq!(run(&[]).out, shown);
    assert_eq!(run(&[("CODEX_THREAD_ID", "t")]).out, shown);
    assert_eq!(run(&[("OPENCODE", "1"), ("TERMD_RAW", "1")]).out, shown);
}

#[test]
fn of_a_long_output_a_model_is_shown_both_ends_and_the_errors() {
    let shells = TestShells::open();
    let line = "seq 100000; echo error: no disk; seq 100000; exit 4";
    let mut command = shells.command(&["-c", line]);
    let ended = Ended::run(command.env("OPENCODE", "1"));
    assert_eq!(ended.code, Some(4));
    assert!(ended.out.len() < 20_000, "{} bytes", ended.out.len());
    assert!(ended.out.starts_with("1\n2\n3\n"));
    let at = |text: &str| {
        ended
            .out
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {}", ended.out))
    };
    let places = [
        at(" left out here]\n"),
        at("\n99999\n100000\n"),
        at("\nerror: no disk\n"),
        at("[termd: `termctl read term_"),
    ];
    // A client that cuts the middle of it leaves what stands last.
    assert!(places.is_sorted(), "{places:?}");
    assert!(ended.out.len() - places[2] < 5_000);
}

#[test]
fn of_a_flood_only_the_beginning_is_looked_through() {
    let shells = TestShells::open();
    let home = shells.daemon.user_home();
    let line = "while ! test -e go; do sleep 0.01; done; echo error: early; seq 3000000; \
                echo words >&2; echo error: late; exit 4";
    let mut command = shells.command(&["-c", line]);
    let shell = command
        .env("OPENCODE", "1")
        .current_dir(&home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it runs", || !shells.terminals().is_empty());
    let pid = Pid::from_child(&shell);
    // All of it is there before the shell reads on.
    kill_process(pid, Signal::STOP).unwrap();
    fs::write(home.join("go"), "").unwrap();
    wait_until("it has ended", || {
        shells.terminals()[0]["state"] == "exited"
    });
    kill_process(pid, Signal::CONT).unwrap();
    let ended = Ended::of(&shell.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.err.as_str()), (Some(4), "words\n"));
    assert!(ended.out.starts_with("error: early\n1\n2\n"), "{ended:?}");
    assert!(ended.out.contains("\n2999999\n3000000\nerror: late\n"));
    assert!(ended.out.len() < 20_000, "{} bytes", ended.out.len());
    let unread = "of it were not looked through for errors; `termctl read term_";
    assert!(ended.out.contains(unread), "{}", ended.out);
}

#[test]
fn closed_descriptors_stay_closed_as_far_as_it_shows() {
    let shells = TestShells::open();
    let run = |line: &str| {
        let line = line.replace("$SHIM", shells.bash().to_str().unwrap());
        Ended::run(shells.daemon.command("/bin/bash").args(["-c", &line]))
    };
    let ended = run("$SHIM -c 'cat; echo end' <&-");
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "end\n"));
    assert_eq!(shells.in_place(), Vec::<String>::new());
    // The real shell itself reports it.
    let ended = run("$SHIM -c 'echo out' >&-");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("Bad file descriptor"), "{ended:?}");
    assert_eq!(run("$SHIM -c 'echo out' 2>&-").out, "out\n");
    let reason = "standard output or standard error is closed";
    assert_eq!(shells.in_place(), [reason, reason]);
}

#[test]
fn a_descriptor_that_does_not_block_loses_nothing() {
    let shells = TestShells::open();
    let (reader, writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    let mut command = shells.command(&["-c", "seq 1 200000"]);
    let mut child = command.stdout(writer).spawn().unwrap();
    drop(command);
    let expected: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    let read = std::io::read_to_string(reader).unwrap();
    assert!(read == expected, "{} bytes", read.len());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn output_after_its_reader_has_gone_ends_the_command() {
    let shells = TestShells::open();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = shells.command(&["-c", "echo; exit 3"]);
    assert_eq!(command.stdout(writer).status().unwrap().code(), Some(141));
}

#[test]
fn a_model_is_shown_the_last_state_of_what_was_redrawn() {
    let shells = TestShells::open();
    let line = "for i in $(seq 100); do printf '%d%%\\r' $i; done; echo; printf '\\033[31mred\\033[m\\n'; \
                printf 'a\\tb  \\n\\n  c'";
    let mut command = shells.command(&["-c", line]);
    assert_eq!(
        Ended::run(command.env("OPENCODE", "1")).out,
        "100%\nred\na\tb  \n\n  c"
    );
    assert!(
        shells.run(line).out.starts_with("1%\r2%\r"),
        "a program gets the bytes"
    );
}

#[test]
fn a_long_output_without_a_reader_ends_its_command() {
    let shells = TestShells::open();
    // The head that a model is shown is written, and the rest is not while the reader goes.
    let command_line = "seq 3000; while ! test -e gone; do sleep 0.01; done; yes";
    let shell = shells.bash();
    let line = format!(
        "{} -c '{command_line}' | {{ head -n 1; exec <&-; touch gone; }}",
        shell.display()
    );
    let mut command = shells.daemon.command("/bin/bash");
    let command = command.args(["-o", "pipefail", "-c", &line]);
    let ended = Ended::run(command.env("OPENCODE", "1").stdin(Stdio::null()));
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.as_str()),
        (Some(141), "1\n", "")
    );
}

#[test]
fn a_terminal_has_the_agents_name_and_directory_as_tags() {
    let shells = TestShells::open();
    let project = shells.daemon.path("my project");
    std::fs::create_dir(&project).unwrap();
    // The agent works in the project, and its command elsewhere.
    let line = "(cd / && exec \"$0\" -c true); true";
    let mut agent = shells.daemon.command("/bin/sh");
    let agent = agent.args(["-c", line]).arg(shells.bash());
    assert_eq!(Ended::run(agent.current_dir(&project)).code, Some(0));
    assert_eq!(shells.terminals()[0]["tags"], json!(["my-project", "sh"]));
}
