//! A rule holds for every spelling of what it names.

use serde_json::json;
use termd_test_support::{Home, TestDaemon};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "no_spelling_of_a_forbidden_program_runs_unasked",
        no_spelling_of_a_forbidden_program_runs_unasked,
    ),
    (
        "no_other_starter_runs_a_forbidden_program_unasked",
        no_other_starter_runs_a_forbidden_program_unasked,
    ),
];

const FORBIDDEN: &str =
    "kill_grace_ms = 300\n[[policy.rules]]\neffect = \"deny\"\nprogram = \"frob\"\n";

/// Each of these ran a program that a rule forbids, and no person was asked.
fn no_spelling_of_a_forbidden_program_runs_unasked() {
    let lines = [
        "BIN/[f]rob",
        "c=(BIN/frob x); \"${c[@]}\"",
        "x=BIN/fr; x+=ob; $x",
        "x=ls; read x <<< BIN/frob; $x",
        "printf '%s' BIN/frob | sh",
        ". /dev/stdin <<< BIN/frob",
        "xargs env <<< BIN/frob",
        "make -f - <<< 'a:;BIN/frob'",
        // What the text writes and then runs.
        "cd BIN; (echo ./frob) > w; sh w",
        "cd BIN; tr a a <<< ./frob > w; sh w",
        "cd BIN; echo ./frob > a; mv a b; sh b",
        "cd BIN; ln -s frob w; ./w",
        "cd BIN; printf '#!BIN/frob\\n' > w; chmod +x w; ./w",
        "python3 -c 'import os; os.system(\"BIN/frob\")'",
        "x=ls; declare -n y=x; y=BIN/frob; $x",
        "f() { \"$@\"; }; f BIN/frob",
        "echo BIN/frob > >(sh)",
        "test -v 'a[$(BIN/frob)]'",
        "IFS=,; x=BIN/frob,a; $x",
        "BIN/fr{n..p}b",
        "set -- BIN/f r o b; $1$2$3$4",
        "bash -c '$1$2$3$4' x BIN/f r o b",
        "BIN/fr`echo o`b",
        "BIN/fro[\\b]",
        "BIN/fro[[:alpha:]]",
        "BIN/fro[[=b=]]",
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
    assert_stopped(&lines);
}

/// Each of these ran such a program by what another shell, a table of bash, an option or an input names.
fn no_other_starter_runs_a_forbidden_program_unasked() {
    assert_stopped(&[
        "zsh -fc 'hash z=BIN/frob; z'",
        "zsh -fc 'functions[z]=BIN/frob; z'",
        "zsh -fc ': =(BIN/frob)'",
        "zsh -fc 'emulate sh -c BIN/frob'",
        "fish -c 'BIN/fro\\x62'",
        "fish -c 'echo BIN/frob | source'",
        "fish -c 'not BIN/frob'",
        "fish -d 0 -c BIN/frob",
        "BASH_CMDS[zz]=BIN/frob; zz",
        "shopt -s expand_aliases; BASH_ALIASES[zz]=BIN/frob; eval zz",
        "bash -O extglob -c 'BIN/+(f|r|o|b)'",
        "printf 'BIN/frob\\0' | xargs -0 -n1 nice",
        "xargs sed -n <<< \"'1e BIN/frob' /etc/passwd\"",
        "perl -ne 1 'BIN/frob|'",
        "perl -e 'open(F, shift); <F>' 'BIN/frob|'",
        "sed -f /dev/stdin /etc/passwd <<< '1e BIN/frob'",
        "python3 -m code <<< 'import os;os.system(\"BIN/frob\")'",
        "python3 -i -c 1 <<< 'import os;os.system(\"BIN/frob\")'",
        "python3 -c 'import webbrowser as w;w.get(\"BIN/frob %s\").open(\"x\")'",
        "echo BIN/frob | awk '{print | \"sh\"}'",
        "PYTHONBREAKPOINT=os.system python3 -c 'breakpoint(\"BIN/frob\")'",
        "seq 100000 | sort -S 1k --compress-prog BIN/frob",
        "git ls-remote --exec=BIN/frob .",
        "ZZ='!BIN/frob' git --config-env=alias.x=ZZ x",
        "gdb -batch -ex '| help | BIN/frob'",
        "strace -o '|BIN/frob' true",
        "tmux -c BIN/frob",
        "sqlite3 :memory: \"select edit('x','BIN/frob')\"",
    ]);
}

/// Asserts that a person is asked about each line, or that it is refused. `BIN` is the directory of a
/// program that a rule forbids.
fn assert_stopped(lines: &[&str]) {
    let home = Home::create();
    home.configure(FORBIDDEN);
    let canary = home.path("canary");
    home.install("frob", &format!("#!/bin/sh\n: > {}\n", canary.display()));
    let bin = home.path("bin");
    let daemon = TestDaemon::start_in(home);
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
