//! A rule holds for every spelling of what it names.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[(
    "no_spelling_of_a_forbidden_program_runs_unasked",
    no_spelling_of_a_forbidden_program_runs_unasked,
)];

const FORBIDDEN: &str = "[[policy.rules]]\neffect = \"deny\"\nprogram = \"frob\"\n";

/// Each of these ran a program that a rule forbids, and nobody was asked. `BIN` is its directory.
fn no_spelling_of_a_forbidden_program_runs_unasked() {
    let daemon = TestDaemon::configured(FORBIDDEN);
    let bin = daemon.home.path().join("bin");
    let canary = daemon.home.path().join("canary");
    fs::create_dir(&bin).unwrap();
    let frob = bin.join("frob");
    let script = format!("#!/bin/sh\n: > {}\n", canary.display());
    fs::write(&frob, script).unwrap();
    fs::set_permissions(&frob, fs::Permissions::from_mode(0o755)).unwrap();
    let lines = [
        "BIN/[f]rob",
        "c=(BIN/frob x); \"${c[@]}\"",
        "x=BIN/fr; x+=ob; $x",
        "x=ls; read x <<< BIN/frob; $x",
        "printf '%s' BIN/frob | sh",
        ". /dev/stdin <<< BIN/frob",
        "xargs env <<< BIN/frob",
        "make -f - <<< 'a:;BIN/frob'",
        "python3 -c 'import os; os.system(\"BIN/frob\")'",
        "x=ls; declare -n y=x; y=BIN/frob; $x",
        "f() { \"$@\"; }; f BIN/frob",
        "echo BIN/frob > >(sh)",
        "test -v 'a[$(BIN/frob)]'",
        "IFS=,; x=BIN/frob,a; $x",
        "BIN/fr{n..p}b",
    ];
    for is_gate_on in [true, false] {
        let mut agent = daemon.client();
        let gate = json!({ "enabled": is_gate_on });
        let hello = json!({ "client": "an agent", "front": "mcp", "settings": { "gate": gate } });
        agent.ok("daemon.hello", &hello);
        for line in lines {
            let line = line.replace("BIN", bin.to_str().unwrap());
            let call: Value = json!({ "command": "bash", "args": ["-c", line] });
            let error = agent.err("session.create", &call);
            let kind = error.kind();
            let is_stopped = matches!(kind, "confirmation_required" | "forbidden" | "denied");
            assert!(is_stopped, "{line}: {error:?}");
        }
    }
    assert!(!canary.exists());
}
