//! Limits of processes, by running into them.

use serde_json::{Value, json};

use crate::Test;
use crate::ground::Ground;
use crate::support::User;

pub(crate) const TESTS: &[Test] = &[
    ("limits_are_hard", limits_are_hard),
    ("limits_end_or_refuse", limits_end_or_refuse),
    (
        "limits_count_processes_of_this_sandbox_alone",
        processes_of_this_sandbox_alone,
    ),
    (
        "limits_hold_root_to_no_number_of_processes",
        root_is_held_to_no_number_of_processes,
    ),
];

fn limited(name: &str, value: u64) -> Value {
    json!({ "limits": { name: value } })
}

pub(crate) fn limits_are_hard() {
    for user in User::all() {
        let ground = Ground::new(user);
        for (name, value, option, shown) in [
            ("cpu_seconds", 77, "t", "77"),
            ("address_space_bytes", 3 << 30, "v", "3145728"),
            ("open_files", 77, "n", "77"),
            ("processes", 7777, "u", "7777"),
            ("file_bytes", 77 << 10, "f", "77"),
        ] {
            // As bash counts: of KiB, where it is bytes.
            let script = format!("ulimit -S{option}; ulimit -H{option}; ulimit -Hc");
            let said = ground
                .keeper
                .confined(&script, &ground.work, &limited(name, value));
            // Processor time leaves a second between the signal that says so and the end.
            let hard = if name == "cpu_seconds" { "78" } else { shown };
            assert_eq!(said, format!("{shown}\n{hard}\n0\n"), "{name} as {user:?}");
        }
        // One beyond the daemon's own is that.
        let said =
            ground
                .keeper
                .confined("ulimit -Hn", &ground.work, &limited("open_files", 1 << 40));
        let ours = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
        assert_eq!(said.trim(), ours.unwrap().to_string());
        // In a sandbox not even root raises one again.
        let mut spec = ground.workspace();
        spec["limits"] = json!({"open_files": 77});
        let said = ground
            .keeper
            .confined("ulimit -n 78; ulimit -n", &ground.work, &spec);
        assert!(said.ends_with("\n77\n"), "{said}");
    }
}

fn limits_end_or_refuse() {
    for user in User::all() {
        let ground = Ground::new(user);
        let exit = |script: &str, spec: &Value| {
            let argv = ["/bin/bash", "-c", script];
            let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, spec);
            assert!(answer.is_number(), "{answer}");
            let said = ground.keeper.output(&id, "");
            (ground.keeper.exit_of(&id), said)
        };
        let (end, _) = exit("while :; do :; done", &limited("cpu_seconds", 1));
        assert_eq!(end, "Signaled(24)");
        let deaf = "trap '' XCPU; while :; do :; done";
        let (end, _) = exit(deaf, &limited("cpu_seconds", 1));
        assert_eq!(end, "CpuTimeUp", "by SIGKILL");
        let (end, _) = exit(
            "exec head -c 100000 /dev/zero > grown",
            &limited("file_bytes", 4096),
        );
        assert_eq!(end, "Signaled(25)");
        let grown = std::fs::metadata(ground.work.join("grown")).unwrap().len();
        assert_eq!(grown, 4096);
        let (_, said) = exit("exec 9</dev/null", &limited("open_files", 9));
        assert!(said.contains("Bad file descriptor"), "{said}");
        let hungry = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}";
        let (_, said) = exit(hungry, &limited("address_space_bytes", 100 << 20));
        assert!(
            said.contains("cannot allocate") && !said.contains("300000000"),
            "{said}"
        );
    }
}

/// The user has more than that outside.
pub(crate) fn processes_of_this_sandbox_alone() {
    let Some(user) = User::all().into_iter().find(|user| *user == User::Nobody) else {
        return;
    };
    let ground = Ground::new(user);
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 300 & done; echo started; wait";
    let (outside, _) = ground.keeper.spawn(script);
    ground.keeper.output(&outside, "started");
    let mut spec = ground.workspace();
    spec["limits"] = json!({"processes": 5});
    let script = "for i in 1 2; do sleep 300 & done; echo few; \
                  for i in 1 2 3 4; do sleep 300 & done; echo many";
    let argv = ["/bin/bash", "-c", script];
    let (id, answer) = ground.keeper.try_confined(&argv, &ground.work, &spec);
    assert!(answer.is_number(), "{answer}");
    let said = ground
        .keeper
        .output(&id, "Resource temporarily unavailable");
    assert!(said.contains("few\n"), "{said}");
    let held = ground.keeper.enforced(&id)["held"].clone();
    assert!(
        held.as_array().unwrap().contains(&json!("processes")),
        "{held}"
    );
    ground.keeper.end(&id, 0);
}

fn root_is_held_to_no_number_of_processes() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP: the tests are not run by root");
    }
    let ground = Ground::new(User::Me);
    let argv = ["/bin/true"];
    let (id, _) = ground
        .keeper
        .try_confined(&argv, &ground.work, &limited("processes", 1));
    let expected = json!({"held": ["core_bytes"], "missing": {"processes": 1}});
    assert_eq!(ground.keeper.enforced(&id), expected);
}
