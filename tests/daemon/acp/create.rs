//! `terminal/create`: how a command is run, and what is refused before anything runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use termd_test_support::{Home, RpcError, TestDaemon, children_of, open_descriptors, wait_until};

#[test]
fn a_shell_line_in_command_runs_by_the_shell() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let cases = [
        (json!({ "command": "echo a && echo b" }), "a\nb\n"),
        (
            json!({ "command": "echo a && echo b", "args": [] }),
            "a\nb\n",
        ),
        (
            json!({ "command": "echo a && echo b", "args": null }),
            "a\nb\n",
        ),
        (json!({ "command": "echo one   two" }), "one two\n"),
        (
            json!({ "command": "for i in 1 2; do echo $i; done" }),
            "1\n2\n",
        ),
        (json!({ "command": "V=3; echo $V|tr 3 4" }), "4\n"),
    ];
    for (params, expected) in cases {
        assert_eq!(
            agent.run(&params),
            (Some(0), expected.to_owned()),
            "{params}"
        );
    }
}

#[test]
fn argv_is_run_untouched() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let args = [
        "a b",
        "$HOME",
        "*",
        "`id`",
        "",
        "'",
        "é\u{1f600}",
        "--",
        "-n",
        "x\ty",
    ];
    let mut all = vec!["[%s]".to_owned()];
    all.extend(args.map(str::to_owned));
    let expected: String = args.iter().map(|arg| format!("[{arg}]")).collect();
    let params = json!({ "command": "printf", "args": all });
    // The terminal's line discipline changes none of these characters.
    assert_eq!(agent.run(&params), (Some(0), expected));
}

#[test]
fn a_program_whose_name_holds_spaces_runs() {
    let home = Home::create();
    let path = home.install("my program", "#!/bin/sh\necho \"ran with $# arguments\"\n");
    let daemon = TestDaemon::start_in(home);
    let mut agent = daemon.agent();
    let ran = (Some(0), "ran with 0 arguments\n".to_owned());
    assert_eq!(agent.run(&json!({ "command": path })), ran);
    assert_eq!(agent.run(&json!({ "command": "my program" })), ran);
    let ran = (Some(0), "ran with 1 arguments\n".to_owned());
    assert_eq!(agent.run(&json!({ "command": path, "args": ["x"] })), ran);
}

#[test]
fn a_script_without_an_interpreter_line_runs() {
    let home = Home::create();
    let path = home.install("bare", "echo bare\n");
    let daemon = TestDaemon::start_in(home);
    let ran = (Some(0), "bare\n".to_owned());
    assert_eq!(
        daemon
            .agent()
            .run(&json!({ "command": path, "args": ["x"] })),
        ran
    );
}

#[test]
fn cwd_is_where_the_command_starts_and_home_without_it() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let elsewhere = daemon.path("else where");
    fs::create_dir(&elsewhere).unwrap();
    for (cwd, expected) in [
        (json!(elsewhere), elsewhere),
        (Value::Null, daemon.user_home()),
    ] {
        let (_, text) = agent.run(&json!({ "command": "pwd", "cwd": cwd }));
        assert_eq!(text.trim_end(), expected.to_str().unwrap());
    }
    // A relative program with a slash in it is looked up in that directory.
    fs::write(daemon.path("else where/here"), "#!/bin/sh\necho here\n").unwrap();
    fs::set_permissions(
        daemon.path("else where/here"),
        Permissions::from_mode(0o755),
    )
    .unwrap();
    let params = json!({ "command": "./here", "cwd": daemon.path("else where") });
    assert_eq!(agent.run(&params).1, "here\n");
}

#[test]
fn a_command_that_cannot_start_is_a_typed_error_and_leaves_nothing() {
    let home = Home::create();
    let not_executable = home.path("bin/plain");
    fs::write(&not_executable, "text").unwrap();
    let bad_interpreter = home.install("bad", "#!/no/such/interpreter\n");
    let daemon = TestDaemon::start_in(home);
    let mut agent = daemon.agent();
    // The first terminal opens the descriptors that a daemon opens only once.
    agent.run(&json!({ "command": "true" }));
    let server = daemon.server().pid;
    let keeper = daemon.keeper_pid();
    let before = (open_descriptors(keeper).len(), children_of(keeper));

    let missing = daemon.path("missing");
    let cases: [(Value, Value, i64); 5] = [
        (json!("no-such-command-anywhere"), json!(null), 2),
        (json!(missing), json!(["x"]), 2),
        (json!(not_executable), json!(["x"]), 13),
        (json!(bad_interpreter), json!([]), 2),
        (json!(daemon.path("bin")), json!(["x"]), 13),
    ];
    for (command, args, errno) in cases {
        let error = agent
            .try_create(&json!({ "command": command, "args": args }))
            .expect_err("it cannot start");
        let context = format!("{command}: {error:?}");
        assert_eq!(error.code, -32003, "{context}");
        assert_eq!(error.kind(), "spawn_failed", "{context}");
        assert_eq!(error.data["command"], command, "{context}");
        assert_eq!(error.data["errno"], errno, "{context}");
        let step = error.data["step"].as_str().unwrap_or_default();
        assert_eq!(step, "exec", "{context}");
        assert!(
            error.message.contains(command.as_str().unwrap()),
            "{context}"
        );
    }

    let list = agent.ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(
        list["terminals"].as_array().map(Vec::len),
        Some(1),
        "{list}"
    );
    wait_until(
        "the keeper has no more descriptors and children than before",
        || open_descriptors(keeper).len() <= before.0 && children_of(keeper) == before.1,
    );
    for pid in [keeper, server] {
        let terminals = open_descriptors(pid)
            .iter()
            .filter(|target| target.contains("ptmx") || target.starts_with("/dev/pts/"))
            .count();
        assert!(terminals <= 1, "{terminals} PTYs are open in {pid}");
    }
}

#[test]
fn a_directory_that_cannot_be_entered_is_a_clear_error() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    fs::write(daemon.path("file"), "").unwrap();
    for (name, errno) in [("missing", 2), ("file", 20)] {
        let cwd = daemon.path(name);
        let error = agent
            .try_create(&json!({ "command": "true", "cwd": cwd }))
            .expect_err("no directory");
        error.assert_is(-32003, "spawn_failed");
        assert!(error.message.contains(cwd.to_str().unwrap()), "{error:?}");
        assert_eq!(error.data["command"], "true", "{error:?}");
        assert_eq!(error.data["step"], "chdir", "{error:?}");
        assert_eq!(error.data["errno"], errno, "{error:?}");
    }
    let list = agent.ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(list["terminals"], json!([]));
}

#[track_caller]
fn assert_invalid(error: &RpcError, field: &str, context: &Value) {
    let context = context.to_string();
    let context = format!("{}: {error:?}", &context[..context.len().min(120)]);
    assert_eq!(error.code, -32602, "{context}");
    assert_eq!(error.kind(), "invalid_params", "{context}");
    let named = error.data["field"].as_str().unwrap_or_default();
    let is_part_of_it = named
        .strip_prefix(field)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']));
    assert!(is_part_of_it, "names {named:?}, not {field:?}: {context}");
    assert!(error.message.contains(field), "{context}");
}

#[test]
fn a_bad_member_is_named() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let cases = [
        (json!({ "command": "" }), "command"),
        (json!({ "command": "a\0b" }), "command"),
        (json!({ "command": 5 }), "command"),
        (json!({ "command": null }), "command"),
        (json!({ "command": ["ls"] }), "command"),
        (json!({}), "command"),
        (json!({ "command": "true", "sessionId": 5 }), "sessionId"),
        (json!({ "command": "true", "sessionId": null }), "sessionId"),
        (json!({ "command": "true", "args": "x" }), "args"),
        (json!({ "command": "true", "args": [1] }), "args"),
        (json!({ "command": "true", "args": ["ok", null] }), "args"),
        (json!({ "command": "true", "args": { "0": "x" } }), "args"),
        (json!({ "command": "true", "args": ["a\0b"] }), "args"),
        (
            json!({ "command": "true", "args": ["x".repeat(1 << 20)] }),
            "args",
        ),
        (json!({ "command": "true", "env": "A=b" }), "env"),
        (json!({ "command": "true", "env": { "A": "b" } }), "env"),
        (
            json!({ "command": "true", "env": [{ "name": "A" }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "A", "value": 1 }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "", "value": "b" }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "A=B", "value": "b" }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "A\0", "value": "b" }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "A", "value": "\0" }] }),
            "env",
        ),
        (
            json!({ "command": "true", "env": [{ "name": "A", "value": "x".repeat(1 << 20) }] }),
            "env",
        ),
        (json!({ "command": "true", "cwd": "relative/path" }), "cwd"),
        (json!({ "command": "true", "cwd": "." }), "cwd"),
        (json!({ "command": "true", "cwd": "" }), "cwd"),
        (json!({ "command": "true", "cwd": "/tmp\0" }), "cwd"),
        (json!({ "command": "true", "cwd": 5 }), "cwd"),
        (
            json!({ "command": "true", "outputByteLimit": -1 }),
            "outputByteLimit",
        ),
        (
            json!({ "command": "true", "outputByteLimit": 1.5 }),
            "outputByteLimit",
        ),
        (
            json!({ "command": "true", "outputByteLimit": "1" }),
            "outputByteLimit",
        ),
    ];
    for (params, field) in cases {
        let error = agent.try_create(&params).expect_err("a bad member");
        assert_invalid(&error, field, &params);
    }
    let error = agent.err("terminal/create", &json!({ "command": "true" }));
    assert_invalid(&error, "sessionId", &Value::Null);
    for method in ["output", "wait_for_exit", "kill", "release"] {
        let method = format!("terminal/{method}");
        for (params, field) in [
            (json!({ "sessionId": "s", "terminalId": 7 }), "terminalId"),
            (json!({ "sessionId": "s" }), "terminalId"),
            (json!({ "terminalId": "term_aaaaaaaaaaaa" }), "sessionId"),
        ] {
            assert_invalid(&agent.err(&method, &params), field, &params);
        }
    }
    let list = agent.ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(list["terminals"], json!([]), "nothing ran");
}

#[test]
fn nulls_count_as_absent() {
    let daemon = TestDaemon::start();
    let params = json!({ "command": "echo", "args": null, "env": null, "cwd": null,
                         "outputByteLimit": null, "_meta": null });
    assert_eq!(daemon.agent().run(&params), (Some(0), "\n".to_owned()));
}

#[test]
fn meta_passes_through_untouched() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let meta = json!({ "trace": { "id": [1, null, "é"] }, "zed.dev/x": 1.5 });
    let result = agent
        .try_create(&json!({ "command": "true", "_meta": meta }))
        .unwrap();
    assert_eq!(result["_meta"], meta);
    let id = result["terminalId"].as_str().unwrap().to_owned();
    let params =
        json!({ "sessionId": termd_test_support::SESSION, "terminalId": id, "_meta": meta });
    for method in ["wait_for_exit", "output", "kill", "release"] {
        let mut result = agent.ok(&format!("terminal/{method}"), &params);
        let members = result["_meta"].as_object_mut().expect("_meta");
        members.remove("termd");
        assert_eq!(result["_meta"], meta, "{method}");
    }
    // As the schema says, a `_meta` that is no object counts as absent.
    for odd in [json!(5), json!([]), json!("x")] {
        agent.create(&json!({ "command": "true", "_meta": odd }));
    }
}

#[test]
fn create_answers_before_the_command_ends() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "sleep", "args": ["1000"] }));
    assert_eq!(agent.output(&id)["exitStatus"], Value::Null);
    assert!(
        id.strip_prefix("term_")
            .is_some_and(|rest| rest.len() == 12),
        "{id}"
    );
}

#[test]
fn the_cap_on_terminals_is_a_typed_error_and_room_comes_back() {
    let daemon = TestDaemon::configured("kill_grace_ms = 300\n[limits]\nterminals = 3\n");
    let mut agent = daemon.agent();
    let sleep = json!({ "command": "sleep", "args": ["1000"] });
    let ids = [(); 3].map(|()| agent.create(&sleep));
    let error = agent.try_create(&sleep).expect_err("over the cap");
    error.assert_is(-32009, "overloaded");
    agent.release(&ids[0]);
    wait_until("there is room again", || agent.try_create(&sleep).is_ok());
}
