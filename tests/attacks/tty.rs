//! Output neither acts on a person's tty, nor hides from a model, nor fills the log.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, Pty, TestDaemon, sh};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "a_program_neither_asks_nor_locks_a_persons_tty",
        a_program_neither_asks_nor_locks_a_persons_tty,
    ),
    (
        "what_a_program_switched_is_undone_at_detach",
        what_a_program_switched_is_undone_at_detach,
    ),
    (
        "errors_of_usage_control_no_tty",
        errors_of_usage_control_no_tty,
    ),
    (
        "what_hides_in_output_is_marked_for_a_model",
        what_hides_in_output_is_marked_for_a_model,
    ),
    (
        "marks_of_a_program_do_not_fill_the_log",
        marks_of_a_program_do_not_fill_the_log,
    ),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

/// What a person's tty gets of a program that prints these bytes while the person is attached, and
/// what it gets at the detach.
fn shown_and_undone(printed: &[u8]) -> (String, String) {
    let daemon = TestDaemon::start();
    fs::write(daemon.user_home().join("printed"), printed).unwrap();
    let script = "stty -echo; echo ready; read x; cat printed; echo END; read x";
    let id = daemon.client().create_terminal(&sh(script));
    daemon.client().wait_for_text(&id, "ready");
    let mut pty = Pty::open(80, 24);
    let mut attach = daemon.command(TERMCTL);
    attach.args(["attach", &id]);
    let mut attach = pty.spawn(&attach);
    pty.read_until("ready");
    daemon.client().send_text(&id, "\n");
    let shown = pty.read_until("END");
    pty.write("\x1dd");
    let undone = pty.read_until("[detached]");
    assert!(pty.wait(&mut attach).success());
    (shown, undone)
}

/// Reports, uploads, the clipboard, what else notifications can do, printing, the keyboard lock: live, none arrives.
fn a_program_neither_asks_nor_locks_a_persons_tty() {
    let sequences = [
        "\x1b[\"v",
        "\x1b[#R",
        "\x1b[#S",
        "\x1b[1;1;2;2#|",
        "\x1b]1337;ReportVariable=c2Vzc2lvbi5uYW1l\x07",
        "\x1b]1337;ReportCellSize\x07",
        "\x1b]1337;Capabilities\x07",
        "\x1b]1337;RequestUpload=format=tgz\x07",
        "\x1b]22;?__current__\x1b\\",
        "\x1b[2h",
        "\x1b[12l",
        "\x1b[5i",
        "\x1b[?2031h",
        "\x1b[?2048h",
        "\x1b[?5522h",
        "\x1b]9;7;cmd\x07",
        "\x1b]9;2;a\x07",
        "\x1b]99;i=1:p=?;\x1b\\",
        "\x1b]99;i=1:a=report;a\x1b\\",
        "\x1b]777;preexec\x07",
        "\x1b]5522;type=read;dGV4dC9wbGFpbg==\x1b\\",
        "\x1b]5113;ac=send\x1b\\",
        "\x1bP@kitty-cmd{\"cmd\":\"ls\"}\x1b\\",
        "\x1b[?2l\x1b]",
        "\x1b%@",
        "\x1b[?1001h",
    ];
    let (shown, _) = shown_and_undone(sequences.concat().as_bytes());
    for sequence in sequences {
        assert!(!shown.contains(sequence), "{sequence:?} in {shown:?}");
    }
}

fn what_a_program_switched_is_undone_at_detach() {
    let table = [
        ("\x1b[?1003;1006h", "\x1b[?1003l"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[?1004h", "\x1b[?1004l"),
        ("\x1b[?7l", "\x1b[?7h"),
        ("\x1b[4h", "\x1b[4l"),
        ("\x1b]11;#400000\x07", "\x1b]111\x1b\\"),
        ("\x1b]4;1;#00ff00\x07", "\x1b]104\x1b\\"),
        ("\x1b]2;not yours\x07", "\x1b[23;0t"),
        ("\x1b]9;4;1;50\x07", "\x1b]9;4;0\x1b\\"),
        ("\x1b[5 q", "\x1b[0 q"),
        ("\x1b[>5u", "\x1b[<2u"),
        ("\x1b[>4;2m", "\x1b[>4m"),
        ("\x1b]8;;https://example.org/\x07", "\x1b]8;;\x1b\\"),
        ("\x1b)0\x0e", "\x0f\x1b(B"),
        ("\x1b[3;9r", "\x1b[r"),
    ];
    let printed: String = table.iter().map(|(printed, _)| *printed).collect();
    let (_, undone) = shown_and_undone(printed.as_bytes());
    for (printed, undo) in table {
        assert!(undone.contains(undo), "{printed:?}: {undone:?}");
    }
}

/// A tty would obey these arguments, where an error quotes them.
fn errors_of_usage_control_no_tty() {
    let home = Home::create();
    let evil = "x\u{1b}]0;title\u{7}\u{1b}[31m\u{9b}31m\u{202e}\u{3164}";
    for args in [
        &[evil][..],
        &["show", "--", evil],
        &["list", evil],
        &["run", "--timeout", evil, "--", "true"],
        &["resize", "x", evil],
        &["send", "x", "--key", evil],
        &["create", "--env", evil, "--", "true"],
        &["policy", "test", evil],
        &["mcp", "--tools", evil],
        &["setup", "--client", evil],
        &["acp", "--", evil],
        &["--json", "show", "--what", evil],
    ] {
        let mut termctl = home.command(TERMCTL);
        let output = termctl
            .env("TERMD_BIN", format!("/nonexistent/{evil}"))
            .args(args)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{args:?}");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        let obeyed = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{3164}".contains(c);
        assert!(!said.contains(obeyed), "{args:?}: {said:?}");
        assert!(!said.is_empty(), "{args:?}");
    }
}

/// Tags, bidirectional controls, zero-width characters and fillers in what tools and resources give.
fn what_hides_in_output_is_marked_for_a_model() {
    let daemon = TestDaemon::start();
    let hidden = "\u{e0049}\u{202e}\u{200b}\u{fe00}\u{3164}\u{ad}\u{34f}\u{9b}";
    let text = format!("a{hidden}b\u{26a0}\u{fe0f}\n\u{1b}[31mred\u{1b}[m\n");
    fs::write(daemon.user_home().join("text"), text).unwrap();
    let env = [("TERMCTL_MCP_TOOLS", "session,terminal")];
    let mut mcp = McpClient::start_with(&daemon, &env, &json!({}));
    let home = daemon.user_home();
    let calls = [
        ("session_exec", json!({ "exec": "cat text", "cwd": home })),
        (
            "terminal_run",
            json!({ "cmd": "cat", "args": ["text"], "cwd": home }),
        ),
        (
            "terminal_run",
            json!({ "cmd": format!("no{hidden}"), "cwd": home }),
        ),
    ];
    let mut answers: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| {
            let params = json!({ "name": name, "arguments": arguments });
            mcp.ask("tools/call", &params)
        })
        .collect();
    let run = answers[1].to_string();
    assert!(run.contains("red") && !run.contains("\\u001b"), "{run}");
    let id = daemon.client().create_terminal(&sh("cat text; read x"));
    daemon.client().wait_for_text(&id, "red");
    for view in ["screen", "transcript"] {
        let uri = format!("termd://terminal/{id}/{view}");
        answers.push(mcp.ask("resources/read", &json!({ "uri": uri })));
    }
    for answer in answers {
        let answer = answer.to_string();
        assert!(!answer.contains(|c| hidden.contains(c)), "{answer}");
        assert!(answer.contains("\\u{e0049}"), "{answer}");
    }
}

/// Marks of a shell's commands, more than are recorded.
fn marks_of_a_program_do_not_fill_the_log() {
    let daemon = TestDaemon::start();
    let line = r"yes $(printf '\033]133;A\007\033]133;C\007\033]133;D\007') | head -c 1000000";
    let id = daemon.client().create_terminal(&sh(line));
    daemon.client().ok("session.wait", &json!({ "id": id }));
    let log = fs::metadata(daemon.log_path()).unwrap().len();
    assert!(log < 64 * 1024, "{log} bytes");
}
