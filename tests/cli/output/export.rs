//! `export`: recordings that others read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Process, TestDaemon, wait_until};

use crate::termctl::{TermctlOutput, command, ok, spawn, termctl};

/// The header and the events of a recording.
fn parsed(cast: &str) -> (Value, Vec<(f64, String, String)>) {
    let mut lines = cast.lines().map(|line| serde_json::from_str(line).unwrap());
    let header: Value = lines.next().unwrap();
    let events = lines.map(|event: Value| {
        let text = |place: usize| event[place].as_str().unwrap().to_owned();
        (event[0].as_f64().unwrap(), text(1), text(2))
    });
    (header, events.collect())
}

fn of_code(events: &[(f64, String, String)], code: &str) -> Vec<String> {
    let of = events.iter().filter(|event| event.1 == code);
    of.map(|event| event.2.clone()).collect()
}

#[test]
fn a_recording_has_output_sizes_commands_and_the_exit() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--label", "shell", "--", "bash"]);
    let run = |line: &str| ok(&daemon, &["exec", "shell", "--", line]);
    run("echo ä€");
    ok(&daemon, &["resize", "shell", "90x30"]);
    run("seq 3000");
    let (_, while_it_runs) = parsed(&ok(&daemon, &["export", "shell"]));
    assert_eq!(of_code(&while_it_runs, "x"), [""; 0]);
    ok(&daemon, &["send", "shell", "exit 3", "--enter"]);
    termctl(&daemon, &["wait", "shell"]);
    let file = daemon.path("shell.cast");
    ok(&daemon, &["export", "shell", "-o", file.to_str().unwrap()]);
    let (header, events) = parsed(&fs::read_to_string(&file).unwrap());
    assert_eq!(
        (&header["version"], &header["title"]),
        (&json!(3), &json!("shell"))
    );
    assert_eq!(
        (&header["term"]["cols"], &header["term"]["rows"]),
        (&json!(80), &json!(24))
    );
    let raw = command(&daemon, &["export", &id, "--format", "raw"])
        .output()
        .unwrap()
        .stdout;
    assert_eq!(of_code(&events, "o").concat().as_bytes(), raw);
    assert_eq!(of_code(&events, "r"), ["90x30"]);
    assert_eq!(of_code(&events, "m"), ["echo ä€", "seq 3000", "exit 3"]);
    assert_eq!(of_code(&events, "x"), ["3"]);
    assert_eq!(events.last().unwrap().1, "x");
    let length: f64 = events.iter().map(|event| event.0).sum();
    assert!((0.0..60.0).contains(&length), "{length} s");

    let (header, events) = parsed(&ok(&daemon, &["export", &id, "--format", "asciicast-v2"]));
    assert_eq!(
        (&header["version"], &header["width"], &header["height"]),
        (&json!(2), &json!(80), &json!(24))
    );
    assert!(events.is_sorted_by(|one, next| one.0 <= next.0));
    assert_eq!(of_code(&events, "o").concat().as_bytes(), raw);

    wait_until("the last command is recorded", || {
        let commands = termctl(&daemon, &["export", &id, "--format", "json"]).json();
        let texts = commands.as_array().unwrap().iter();
        let texts: Vec<_> = texts
            .map(|command| command["text"].as_str().unwrap())
            .collect();
        texts[1..] == ["echo ä€", "seq 3000", "exit 3"]
    });
    let page = ok(&daemon, &["export", &id, "--format", "html"]);
    assert_eq!(page.matches("\n1234\n").count(), 1, "scrollback and screen");
    assert!(page.starts_with("<!DOCTYPE html>"));
    let none = termctl(&daemon, &["export", &id, "-o", "/nowhere/x.cast"]);
    assert_eq!(
        (none.code, none.err.lines().count()),
        (Some(1), 1),
        "{none:?}"
    );
}

#[test]
fn an_export_that_fails_leaves_the_file_as_it_was() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "seq", "30000"]);
    ok(&daemon, &["wait", &id]);
    let directory = daemon.path("exports");
    fs::create_dir(&directory).unwrap();
    let file = directory.join("kept.cast");
    fs::write(&file, "before").unwrap();
    let export = |limit: &str| {
        let script = format!(
            "ulimit -f {limit}; exec {} export {id} -o '{}'",
            env!("CARGO_BIN_EXE_termctl"),
            file.display()
        );
        let mut shell = daemon.command("sh");
        shell.args(["-c", &script]).output().unwrap()
    };
    let failed = export("4");
    let error = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    assert_eq!(export("unlimited").status.code(), Some(0));
    assert!(fs::read_to_string(&file).unwrap().starts_with('{'));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
}

#[test]
fn a_picture_that_fails_leaves_nothing() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "seq", "24"]);
    ok(&daemon, &["wait", &id]);
    let directory = daemon.path("pictures");
    fs::create_dir(&directory).unwrap();
    let script = format!(
        "ulimit -f 1; exec {} screenshot {id} -o '{}'",
        env!("CARGO_BIN_EXE_termctl"),
        directory.join("small.png").display()
    );
    let failed = daemon.command("sh").args(["-c", &script]).output().unwrap();
    let error = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(
        (failed.status.code(), error.lines().count()),
        (Some(1), 1),
        "{error}"
    );
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn an_export_that_is_ended_leaves_nothing_beside_the_file() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "seq", "2000000"]);
    ok(&daemon, &["wait", &id]);
    let directory = daemon.path("exports");
    fs::create_dir(&directory).unwrap();
    let file = directory.join("kept.cast");
    fs::write(&file, "before").unwrap();
    let server = daemon.server();
    let files = || fs::read_dir(&directory).unwrap().count();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let export = spawn(&daemon, &["export", &id, "-o", file.to_str().unwrap()]);
        wait_until("it writes", || files() == 2);
        // It cannot be done before the signal comes.
        server.stop();
        Process::expect(export.id().into()).signal(signal);
        let ended = TermctlOutput::wait(export);
        server.signal(Signal::CONT);
        assert_eq!(
            (ended.code, ended.err.as_str()),
            (Some(code), ""),
            "{ended:?}"
        );
        assert_eq!(
            (files(), fs::read_to_string(&file).unwrap().as_str()),
            (1, "before")
        );
    }
}

#[test]
fn an_output_file_takes_the_place_of_a_link_and_not_of_what_it_leads_to() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "echo", "written"]);
    ok(&daemon, &["wait", &id]);
    let kept = daemon.path("kept");
    let other = daemon.path("other");
    let man = daemon.path("man1");
    fs::create_dir(&man).unwrap();
    let export = daemon.path("out.text");
    let picture = daemon.path("out.svg");
    let animation = daemon.path("out.png");
    let page = man.join("termctl-run.1");
    fs::write(&kept, "before").unwrap();
    for link in [&export, &picture, &animation, &page] {
        symlink(&kept, link).unwrap();
    }
    let export_to = |path: &Path| {
        let path = path.to_str().unwrap();
        ok(&daemon, &["export", &id, "--format", "text", "-o", path]);
    };
    export_to(&export);
    let picture_path = picture.to_str().unwrap();
    ok(&daemon, &["screenshot", &id, "-o", picture_path]);
    let animation_path = animation.to_str().unwrap();
    ok(
        &daemon,
        &["screenshot", &id, "--animate", "-o", animation_path],
    );
    ok(&daemon, &["man", man.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "before");
    for written in [&export, &picture, &animation, &page] {
        assert!(fs::symlink_metadata(written).unwrap().is_file());
    }
    assert_eq!(fs::read_to_string(&export).unwrap().trim(), "written");
    // A link that leads nowhere makes no file there, and one to a pipe writes nothing into it.
    let dangling = daemon.path("dangling.text");
    symlink(&other, &dangling).unwrap();
    export_to(&dangling);
    assert!(!other.exists());
    let piped = daemon.path("piped.text");
    symlink("/dev/null", &piped).unwrap();
    export_to(&piped);
    assert_eq!(fs::read_to_string(&piped).unwrap().trim(), "written");
}

/// A terminal on pipes has no tty that would send the cursor to the left at a line's end.
#[test]
fn lines_of_pipes_begin_at_the_left_in_a_player() {
    let daemon = TestDaemon::start();
    ok(
        &daemon,
        &["run", "--label", "piped", "--", "printf", "one\\ntwo\\n"],
    );
    let cast = daemon.path("piped.cast");
    let cast = cast.to_str().unwrap();
    ok(&daemon, &["export", "piped", "-o", cast]);
    ok(&daemon, &["import", cast, "--label", "again"]);
    let screen = ok(&daemon, &["screen", "again"]);
    assert_eq!(screen.lines().take(2).collect::<Vec<_>>(), ["one", "two"]);
    let raw = ok(&daemon, &["export", "piped", "--format", "raw"]);
    assert_eq!(raw, "one\ntwo");
}

#[test]
fn an_export_goes_to_devices_and_pipes() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "echo", "written"]);
    ok(&daemon, &["wait", &id]);
    let out = ok(
        &daemon,
        &["export", &id, "--format", "text", "-o", "/dev/stdout"],
    );
    assert_eq!(out.trim(), "written");
    ok(&daemon, &["export", &id, "-o", "/dev/null"]);
    let script = format!(
        "cd '{}' && mkfifo fifo && {{ cat fifo > of-fifo & }}
        t() {{ '{}' export {id} --format text -o \"$1\"; }}
        t fifo && wait && echo first > appended && t /dev/stdout >> appended && t /dev/fd/3 3> descriptor",
        daemon.path("").display(),
        env!("CARGO_BIN_EXE_termctl"),
    );
    let shell = daemon.command("sh").args(["-c", &script]).output().unwrap();
    assert!(shell.status.success(), "{shell:?}");
    let text = |name: &str| fs::read_to_string(daemon.path(name)).unwrap();
    assert_eq!(text("of-fifo").trim(), "written");
    assert_eq!(text("descriptor").trim(), "written");
    let appended = text("appended");
    assert_eq!(
        appended.split_whitespace().collect::<Vec<_>>(),
        ["first", "written"]
    );
}
