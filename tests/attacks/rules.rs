//! A rule holds for every spelling of what it names.

use serde_json::json;
use termd_test_support::{Home, TestDaemon};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[(
    "no_spelling_of_a_forbidden_program_runs_unasked",
    no_spelling_of_a_forbidden_program_runs_unasked,
)];

const FORBIDDEN: &str =
    "kill_grace_ms = 300\n[[policy.rules]]\neffect = \"deny\"\nprogram = \"frob\"\n";

/// Each of these ran a program that a rule forbids, and nobody was asked. `BIN` is its directory.
fn no_spelling_of_a_forbidden_program_runs_unasked() {
    let home = Home::create();
    home.configure(FORBIDDEN);
    let canary = home.path("canary");
    home.install("frob", &format!("#!/bin/sh\n: > {}\n", canary.display()));
    let bin = home.path("bin");
    let daemon = TestDaemon::start_in(home);
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
        // What is run and not read.
        "env -S 'BIN/frob\\_x'",
        "x='$(BIN/frob)'; echo \"${x@P}\"",
        "bash -c '. $0' BIN/frob",
        "sh /dev/fd/3 3<<< BIN/frob",
        "find BIN -name frob -exec {} \\;",
        "find BIN -name frob -exec sh -c '\"$1\"' _ {} \\;",
        "awk 'BEGIN { c = \"BIN/fr\" \"ob\"; c | getline }'",
        "awk -f /dev/stdin <<< 'BEGIN { system(\"BIN/frob\") }'",
        "echo x | sed 's,x,BIN/frob,e'",
        "python3 -c 'import os; getattr(os, \"sys\" + \"tem\")(\"BIN/frob\")'",
        "python3 -m timeit -n1 'import os; os.system(\"BIN/frob\")'",
        "perl -e 'exec \"BIN/fr\".\"ob\"'",
        "BASH_ENV=BIN/frob bash -c :",
        "make --eval='$(shell BIN/frob)'",
        "echo BIN/frob | base64 | base64 -d | sh",
        "run-parts BIN",
    ];
    for is_gate_on in [true, false] {
        let mut agent = daemon.client();
        let gate = json!({ "enabled": is_gate_on });
        let hello = json!({ "client": "an agent", "front": "mcp", "settings": { "gate": gate } });
        agent.ok("daemon.hello", &hello);
        for line in lines {
            let line = line.replace("BIN", bin.to_str().unwrap());
            // The agent's own word is not enough for what a rule may forbid.
            for confirmed in [false, true] {
                let call =
                    json!({ "command": "bash", "args": ["-c", line], "confirmed": confirmed });
                let error = agent.err("session.create", &call);
                let is_stopped = matches!(error.kind(), "confirmation_required" | "denied");
                assert!(is_stopped, "{line}: {error:?}");
            }
        }
    }
    assert!(!canary.exists());
}
