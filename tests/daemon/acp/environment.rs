//! The environment, terminal, descriptors and signals that a command starts with.

use std::collections::BTreeMap;

use serde_json::json;
use termd_test_support::{Agent, Home, TestDaemon, sh};

/// Variables of a supervisor for its daemon, which must not reach the daemon's children.
const NOT_FOR_CHILDREN: [(&str, &str); 8] = [
    ("NOTIFY_SOCKET", "/nonexistent/notify"),
    ("LISTEN_FDNAMES", "termd.socket"),
    ("LISTEN_PID", "1"),
    ("LISTEN_FDS", "1"),
    ("WATCHDOG_USEC", "600000000"),
    ("WATCHDOG_PID", "1"),
    ("INVOCATION_ID", "0123456789abcdef0123456789abcdef"),
    ("JOURNAL_STREAM", "8:1"),
];

fn environment(agent: &mut Agent, params: &serde_json::Value) -> BTreeMap<String, String> {
    let (code, text) = agent.run(params);
    assert_eq!(code, Some(0), "{text}");
    text.split('\0')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn the_environment_is_the_daemons_with_few_additions() {
    let mut env = NOT_FOR_CHILDREN.to_vec();
    env.extend([
        ("TERM", "dumb"),
        ("PAGER", "less"),
        ("FROM_THE_DAEMON", "yes"),
    ]);
    let daemon = TestDaemon::start_with(Home::create(), &env);
    let mut agent = daemon.agent();
    // In plain text there would be no NUL.
    let raw = json!({ "termd": { "output": "raw" } });
    let params = json!({ "command": "env", "args": ["-0"], "_meta": raw });
    let id = agent.create(&params);
    agent.wait(&id);
    let text = agent.text(&id);
    let seen: BTreeMap<&str, &str> = text
        .split('\0')
        .filter_map(|entry| entry.split_once('='))
        .collect();
    for (name, value) in [
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GH_PAGER", "cat"),
        ("MANPAGER", "cat"),
        ("SYSTEMD_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("TERM", "xterm-256color"),
        ("TERMD_TERMINAL", id.as_str()),
        ("FROM_THE_DAEMON", "yes"),
        ("HOME", daemon.user_home().to_str().unwrap()),
    ] {
        assert_eq!(seen.get(name), Some(&value), "{name}");
    }
    for (name, _) in NOT_FOR_CHILDREN {
        assert!(!seen.contains_key(name), "{name} reached a child");
    }
    // Nothing else is added by default.
    let known = [
        "PAGER",
        "GIT_PAGER",
        "GH_PAGER",
        "MANPAGER",
        "SYSTEMD_PAGER",
        "GIT_TERMINAL_PROMPT",
        "SUDO_ASKPASS",
        "SSH_ASKPASS",
        "SSH_ASKPASS_REQUIRE",
        "GIT_ASKPASS",
        "TERM",
        "TERMD_TERMINAL",
        "FROM_THE_DAEMON",
        "HOME",
        "PATH",
        "SHELL",
        "LANG",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
        "XDG_CONFIG_HOME",
        "RUST_BACKTRACE",
        "PWD",
    ];
    let more: Vec<&&str> = seen.keys().filter(|name| !known.contains(name)).collect();
    assert!(more.is_empty(), "nobody asked for {more:?}");
}

#[test]
fn the_requests_environment_wins() {
    let daemon = TestDaemon::start();
    let raw = json!({ "termd": { "output": "raw" } });
    let params = json!({ "command": "env", "args": ["-0"], "_meta": raw, "env": [
        { "name": "PAGER", "value": "more" },
        { "name": "GIT_PAGER", "value": "" },
        { "name": "TERM", "value": "vt100" },
        { "name": "LANG", "value": "x y=z\nnext" },
        { "name": "TWICE", "value": "first" },
        { "name": "TWICE", "value": "second" },
    ]});
    let seen = environment(&mut daemon.agent(), &params);
    for (name, value) in [
        ("PAGER", "more"),
        ("GIT_PAGER", ""),
        ("TERM", "vt100"),
        ("LANG", "x y=z\nnext"),
        ("TWICE", "second"),
    ] {
        assert_eq!(seen.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn the_id_in_the_environment_cannot_be_forged() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "printenv", "args": ["TERMD_TERMINAL"],
        "env": [{ "name": "TERMD_TERMINAL", "value": "term_aaaaaaaaaaaa" }] }));
    agent.wait(&id);
    assert_eq!(agent.text(&id), format!("{id}\n"));
}

#[test]
fn path_of_the_request_finds_the_command() {
    let home = Home::create();
    let program = home.path("home/only-here");
    std::fs::copy(home.install("x", "#!/bin/sh\necho found\n"), &program).unwrap();
    let daemon = TestDaemon::start_in(home);
    let path = format!("{}:/usr/bin:/bin", daemon.user_home().display());
    let params = json!({ "command": "only-here", "env": [{ "name": "PATH", "value": path }] });
    assert_eq!(daemon.agent().run(&params), (Some(0), "found\n".to_owned()));
}

#[test]
fn the_terminal_is_80_by_24_and_the_commands_own() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    assert_eq!(agent.run(&json!({ "command": "stty size" })).1, "24 80\n");
    let script = "test -t 0 && test -t 1 && test -t 2 && tty && ps -o pid=,sid=,tpgid=,tty= -p $$";
    let (code, text) = agent.run(&sh(script));
    assert_eq!(code, Some(0), "{text}");
    let mut lines = text.lines();
    let tty = lines.next().unwrap_or_default();
    assert!(tty.starts_with("/dev/pts/"), "{text}");
    let fields: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let [pid, sid, tpgid, name] = fields[..] else {
        panic!("{text}");
    };
    assert_eq!(pid, sid, "leads a session: {text}");
    assert_eq!(pid, tpgid, "is in the foreground: {text}");
    assert_eq!(format!("/dev/{name}"), tty, "the session's own tty: {text}");
}

#[test]
fn a_child_has_three_descriptors_and_no_more() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    // Other terminals, whose descriptors a leak would show.
    for _ in 0..3 {
        agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
    }
    let (_, text) = agent.run(&json!({ "command": "ls", "args": ["-l", "/proc/self/fd"] }));
    let links: Vec<(&str, &str)> = text
        .lines()
        .filter_map(|line| {
            let (left, target) = line.split_once(" -> ")?;
            Some((left.rsplit(' ').next()?, target))
        })
        .collect();
    let [(_, tty), second, third, (_, own)] = links[..] else {
        panic!("not 0, 1, 2 and what ls opens: {text}");
    };
    assert!(tty.starts_with("/dev/pts/"), "{text}");
    assert_eq!([second, third], [("1", tty), ("2", tty)], "{text}");
    assert!(own.starts_with("/proc/"), "{text}");
}

#[test]
fn signals_limits_and_umask_are_as_a_login_has_them() {
    /// The signals that glibc keeps to itself. A process started by its `posix_spawn(3)` ignores
    /// both, and no program can change that through its libc.
    const GLIBC_INTERNAL: u64 = 1 << 31 | 1 << 32;
    let daemon = TestDaemon::start();
    let login = std::process::Command::new("sh")
        .args(["-c", "umask; ulimit -Sn"])
        .output()
        .unwrap();
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; umask; ulimit -Sn";
    let (_, text) = daemon.agent().run(&sh(script));
    let lines: Vec<&str> = text.lines().collect();
    let [blocked, ignored, umask, open_files] = lines[..] else {
        panic!("{text}");
    };
    let mask = |line: &str| u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap();
    assert_eq!(mask(blocked), 0, "{text}");
    assert_eq!(mask(ignored) & !GLIBC_INTERNAL, 0, "{text}");
    let login = String::from_utf8(login.stdout).unwrap();
    assert_eq!(format!("{umask}\n{open_files}\n"), login);
}
