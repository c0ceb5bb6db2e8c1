//! Recordings as another emulator reads them: `avt`, that of asciinema's player and server.

use serde_json::Value;
use termd_test_support::{TestDaemon, is_installed, wait_until};

use crate::termctl::{command, ok, termctl};

/// What avt shows after all events of a recording, and the output of them together.
fn played(cast: &str) -> (Vec<String>, String) {
    let mut lines = cast.lines().map(|line| serde_json::from_str(line).unwrap());
    let header: Value = lines.next().unwrap();
    let side = |name: &str| usize::try_from(header["term"][name].as_u64().unwrap()).unwrap();
    let mut terminal = avt::Terminal::with_scrollback(side("cols"), side("rows"), None).unwrap();
    let mut output = String::new();
    for event in lines {
        let data = event[2].as_str().unwrap();
        match event[1].as_str().unwrap() {
            "o" => {
                output.push_str(data);
                terminal.feed(data);
            }
            "r" => {
                let (cols, rows) = data.split_once('x').unwrap();
                terminal.resize(cols.parse().unwrap(), rows.parse().unwrap());
            }
            _ => {}
        }
    }
    let shown = terminal.screen().visible_lines();
    let shown = shown.map(|line| line.text().trim_end().to_owned());
    (shown.collect(), output)
}

/// Holds a terminal's export against its transcript and its screen.
fn assert_is_played_alike(daemon: &TestDaemon, terminal: &str) {
    let (mut shown, output) = played(&ok(daemon, &["export", terminal]));
    let raw = command(daemon, &["export", terminal, "--format", "raw"])
        .output()
        .unwrap();
    assert!(
        output.as_bytes() == raw.stdout,
        "the output is the transcript"
    );
    let screen = ok(daemon, &["screen", terminal, "--format", "text"]);
    while shown.last().is_some_and(String::is_empty) {
        shown.pop();
    }
    let want: Vec<&str> = screen
        .trim_end_matches('\n')
        .lines()
        .map(str::trim_end)
        .collect();
    assert_eq!(shown, want);
}

#[test]
fn bash_with_vim_and_htop_is_played_alike() {
    let test = "bash_with_vim_and_htop_is_played_alike";
    if !is_installed("vim", test) || !is_installed("htop", test) {
        return;
    }
    let daemon = TestDaemon::start();
    ok(
        &daemon,
        &[
            "create", "--label", "shell", "--cols", "80", "--rows", "24", "--", "bash",
        ],
    );
    ok(
        &daemon,
        &[
            "exec",
            "shell",
            "--",
            "seq 100; printf 'ä€ \\033[1;31mred\\033[0m\\n'",
        ],
    );
    let screen = || ok(&daemon, &["screen", "shell", "--format", "text"]);
    let type_line = |line: &str| ok(&daemon, &["send", "shell", line, "--enter"]);
    let file = daemon.path("notes");
    type_line(&format!("vim -u NONE -N {}", file.display()));
    wait_until("vim has begun", || screen().contains("\n~\n~"));
    ok(&daemon, &["send", "shell", "ifirst line", "-k", "escape"]);
    ok(&daemon, &["send", "shell", "--", "yy20p:set number"]);
    ok(&daemon, &["send", "shell", "-k", "enter"]);
    wait_until("vim has numbered the lines", || {
        screen().contains(" 1 first line")
    });
    assert_is_played_alike(&daemon, "shell");
    type_line(":wq!");
    wait_until("vim has ended", || !screen().contains("first line"));
    // Not before: avt leaves the cursor of a primary screen that grows while it is hidden where it was.
    ok(&daemon, &["resize", "shell", "100x30"]);
    type_line("htop");
    wait_until("htop has begun", || screen().contains("F10"));
    ok(&daemon, &["send", "shell", "--", "q"]);
    wait_until("htop has ended", || !screen().contains("F10"));
    ok(&daemon, &["exec", "shell", "--", "echo the end"]);
    assert_is_played_alike(&daemon, "shell");
}

#[test]
fn a_build_is_played_alike() {
    let daemon = TestDaemon::start();
    // What a build prints: lines in colour, longer ones than the screen is wide, and a bar that is redrawn.
    let build = r"for unit in $(seq 2000); do
        printf '\033[1;32m   Compiling\033[0m unit-%d v0.1.0\n' $unit
        printf '\033[K    Building [=====>    ] %d/2000: %0120d\r' $unit $unit
        [ $((unit % 50)) -eq 0 ] && printf '\033[33mwarning\033[0m: unused ä in unit-%d\r\n' $unit
    done; printf '\033[K\033[1;32m    Finished\033[0m dev\n'";
    ok(
        &daemon,
        &["create", "--label", "build", "--", "sh", "-c", build],
    );
    termctl(&daemon, &["wait", "build"]);
    assert_is_played_alike(&daemon, "build");
    let id = {
        let file = daemon.path("build.cast");
        let path = file.to_str().unwrap();
        ok(&daemon, &["export", "build", "-o", path]);
        ok(&daemon, &["import", path])
    };
    assert_is_played_alike(&daemon, id.trim());
}
