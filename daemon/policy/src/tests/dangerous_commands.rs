//! The dangerous commands of a text of which all words are known: what a denial is for.

use termd_proto::terminal::Front;

use crate::{CompiledGate, Completeness, Invocation, Policy, PossibleCwd, Request, TypedLines};

/// The dangerous commands of a line that `program` reads in `/w`, each with the directories in which it may run.
fn dangerous(program: Option<&str>, line: &str) -> Vec<String> {
    let request = Request {
        program,
        front: Front::Mcp,
        cwd: Some("/w"),
        ..Request::from(Invocation::Line(line))
    };
    let gate = CompiledGate::default();
    let decision = Policy::default().decide(&request, Completeness::Whole, &gate);
    let commands = decision.dangerous.into_iter();
    let in_each = commands.flat_map(|command| {
        let text = command.text;
        let directories = command.directories.into_iter();
        directories.map(move |directory| format!("{directory}: {text}"))
    });
    in_each.collect()
}

#[test]
fn the_same_command_is_found_in_each_text() {
    let mut wrong = Vec::new();
    for (program, line) in [
        (None, "rm -rf t"),
        (None, "x=t; rm -rf $x"),
        (None, "read x <<< t; rm -rf $x"),
        (None, "read -r x <<< t; rm -rf \"$x\""),
        (None, "echo t | while read x; do rm -rf $x; done"),
        (None, "printf -v x t; rm -rf $x"),
        (None, "cd nosuch; rm -rf t"),
        (None, "cd nosuch && true; rm -rf t"),
        (None, "(cd a/b); rm -rf t"),
        (None, "pushd a; popd; rm -rf t"),
        (None, "python3 -c 'import os; os.system(\"rm -rf t\")'"),
        (None, "python3 <<E\nimport os\nos.system(\"rm -rf t\")\nE"),
        (
            None,
            "python3 -c 'import subprocess; subprocess.run([\"rm\", \"-rf\", \"t\"])'",
        ),
        (None, "perl -e 'system(\"rm -rf t\")'"),
        (None, "ruby -e '`rm -rf t`'"),
        (
            None,
            "node -e 'require(\"child_process\").execSync(\"rm -rf t\")'",
        ),
        (None, "awk 'BEGIN{system(\"rm -rf t\")}'"),
        (None, "ed <<< '!rm -rf t'"),
        (None, "vim -c '!rm -rf t'"),
        (None, "sqlite3 x.db '.shell rm -rf t'"),
        (None, "gdb -ex 'shell rm -rf t'"),
        (None, "find . -maxdepth 0 -exec rm -rf t \\;"),
        (Some("python3"), "os.system(\"rm -rf t\")"),
        (Some("ed"), "!rm -rf t"),
        (Some("gdb"), "shell rm -rf t"),
        (Some("sqlite3"), ".shell rm -rf t"),
        (Some("psql"), "\\! rm -rf t"),
        (Some("sleep"), "rm -rf t"),
    ] {
        let found = dangerous(program, line);
        let expected = "/w: rm -rf t".to_owned();
        if !found.contains(&expected) {
            wrong.push(format!("{program:?} {line}: {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(
        dangerous(None, "cd a && rm -rf t"),
        ["/w/a: rm -rf t"],
        "where cd fails it does not run"
    );
    assert_eq!(dangerous(None, "x=other; rm -rf $x"), ["/w: rm -rf other"]);
    assert_eq!(dangerous(None, "echo rm -rf t"), Vec::<String>::new());
}

#[test]
fn what_earlier_lines_have_set_is_known_in_a_typed_line() {
    let mut typed = TypedLines::default();
    let lines = typed.feed(b"x=precious\rrm -rf $x\r", Some("bash"));
    let line = lines.last().unwrap();
    let request = Request {
        program: Some("bash"),
        front: Front::Mcp,
        cwd: Some("/w"),
        ..Request::from(Invocation::Line(&line.text))
    };
    let gate = CompiledGate::default();
    let start = PossibleCwd::at(Some("/w"));
    let decision = Policy::default().decide_typed(&start, line, &request, &gate);
    let texts: Vec<String> = decision
        .dangerous
        .into_iter()
        .map(|command| command.text)
        .collect();
    assert_eq!(texts, ["rm -rf precious"]);
    assert!(line.earlier_sha256().is_some());
}
