//! What a child finds, and what is left of one that could not start.

use serde_json::json;

use crate::Test;
use crate::support::{NOBODY, TestKeeper};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_failed_start_is_typed_and_leaves_nothing",
        a_failed_start_leaves_nothing,
    ),
    (
        "a_child_has_its_terminal_and_nothing_else",
        a_child_has_its_terminal_and_nothing_else,
    ),
    ("a_child_has_default_signals", a_child_has_default_signals),
    (
        "a_childs_environment_is_its_own",
        a_childs_environment_is_its_own,
    ),
    (
        "a_child_has_the_limits_of_before",
        a_child_has_the_limits_of_before,
    ),
    (
        "a_script_without_a_shebang_runs",
        a_script_without_a_shebang_runs,
    ),
    ("a_long_environment_arrives", a_long_environment_arrives),
    (
        "exit_codes_and_signals_are_exact",
        exit_codes_and_signals_are_exact,
    ),
    (
        "a_released_terminal_leaves_nothing",
        a_released_terminal_leaves_nothing,
    ),
];

fn a_failed_start_leaves_nothing() {
    let keeper = TestKeeper::start();
    let before = keeper.open_fds();
    let cases = [
        (["/nonexistent/program"], "/", "Exec", 2),
        (["/etc/passwd"], "/", "Exec", 13),
        (["/bin/true"], "/nonexistent", "Chdir", 2),
        (["/bin/true"], "/etc/passwd", "Chdir", 20),
    ];
    for (argv, cwd, step, errno) in cases {
        let (id, answer) = keeper.try_spawn(&argv, cwd);
        let expected = json!({"error": "spawn", "step": step, "errno": errno});
        assert_eq!(answer, expected, "{argv:?} in {cwd}");
        let unknown = keeper.ask(&json!({"op": "release", "id": id}));
        assert!(unknown["error"].as_str().unwrap().contains("no terminal"));
        assert_eq!(keeper.children(), NOBODY);
        assert_eq!(keeper.open_fds(), before);
    }
}

fn a_child_has_its_terminal_and_nothing_else() {
    let keeper = TestKeeper::start();
    let (other, _) = keeper.spawn("read line");
    let (id, answer) = keeper.try_spawn(&["/bin/ls", "-l", "/proc/self/fd"], "/");
    assert!(answer.is_number());
    let output = keeper.output(&id, "");
    let fds: Vec<&str> = output.lines().filter(|line| line.contains("->")).collect();
    let ttys = fds.iter().filter(|line| line.contains("/dev/pts/")).count();
    let own = fds.iter().filter(|line| line.contains("/proc/")).count();
    assert_eq!((fds.len(), ttys, own), (4, 3, 1), "{output}");
    drop(other);
    let (id, pid) = keeper.spawn("stty -a; ps -o pid=,pgid=,sid=,tpgid= -p $$; cat /proc/$$/stat");
    let output = keeper.output(&id, "");
    assert!(output.contains("rows 24; columns 80;"), "{output}");
    assert!(
        output.contains(" iutf8") && !output.contains("-echo "),
        "{output}"
    );
    let stat = output
        .lines()
        .find(|line| line.starts_with(&format!("{pid} (")))
        .unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let pid = pid.to_string();
    // Group, session, and the terminal's foreground group.
    assert_eq!(
        [fields[2], fields[3], fields[5]],
        [pid.as_str(); 3],
        "{stat}"
    );
}

fn a_child_has_default_signals() {
    let keeper = TestKeeper::start();
    let (id, answer) = keeper.try_spawn(&["/bin/cat", "/proc/self/status"], "/");
    assert!(answer.is_number());
    let output = keeper.output(&id, "");
    for name in ["SigBlk", "SigIgn", "SigCgt"] {
        let line = output.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
}

fn a_childs_environment_is_its_own() {
    let keeper = TestKeeper::start();
    let (id, answer) = keeper.try_spawn(&["/usr/bin/env"], "/");
    assert!(answer.is_number());
    let output = keeper.output(&id, "");
    let mut variables: Vec<&str> = output.lines().collect();
    variables.sort_unstable();
    let mark = format!("TERMD_TERMINAL={id}");
    assert_eq!(variables, ["PATH=/usr/bin:/bin", mark.as_str()]);
}

fn a_child_has_the_limits_of_before() {
    let keeper = TestKeeper::start();
    let ours = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let (id, _) = keeper.spawn("ulimit -Sn; umask");
    let output = keeper.output(&id, "");
    let lines: Vec<&str> = output.lines().collect();
    let soft = ours
        .current
        .map_or("unlimited".to_owned(), |soft| soft.to_string());
    assert_eq!(lines.first(), Some(&soft.as_str()), "{output}");
    assert_eq!(lines.get(1), Some(&"0022"), "{output}");
}

fn a_script_without_a_shebang_runs() {
    use std::os::unix::fs::PermissionsExt;
    let keeper = TestKeeper::start();
    let script = keeper.home.path().join("script");
    std::fs::write(&script, "echo \"<$1>\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let (id, answer) = keeper.try_spawn(&[script.to_str().unwrap(), "a b"], "/");
    assert!(answer.is_number(), "{answer}");
    assert_eq!(keeper.output(&id, ""), "<a b>\n");
    assert_eq!(keeper.exit_of(&id), "Exited(7)");
}

fn a_long_environment_arrives() {
    let keeper = TestKeeper::start();
    let long = "x".repeat(100_000);
    let mut argv = vec!["/bin/sh", "-c", "printf %s \"$*\" | wc -c", "sh"];
    argv.extend([long.as_str(); 10]);
    let (id, answer) = keeper.try_spawn(&argv, "/");
    assert!(answer.is_number(), "{answer}");
    assert_eq!(keeper.output(&id, "").trim(), "1000009");
}

fn exit_codes_and_signals_are_exact() {
    let keeper = TestKeeper::start();
    for (script, exit) in [
        ("exit 0", "Exited(0)"),
        ("exit 255", "Exited(255)"),
        ("kill -TERM $$", "Signaled(15)"),
        ("kill -KILL $$", "Signaled(9)"),
        ("kill -40 $$", "Signaled(40)"),
    ] {
        let (id, _) = keeper.spawn(script);
        assert_eq!(keeper.exit_of(&id), exit, "{script}");
    }
    assert_eq!(keeper.children(), NOBODY);
}

fn a_released_terminal_leaves_nothing() {
    let keeper = TestKeeper::start();
    let before = keeper.open_fds();
    let (id, _) = keeper.spawn("exit 3");
    assert_eq!(keeper.exit_of(&id), "Exited(3)");
    assert_eq!(keeper.open_fds(), before + 4);
    assert_eq!(keeper.ask(&json!({"op": "release", "id": id})), "done");
    assert_eq!(keeper.open_fds(), before);
}
