//! Files that a text writes and then runs.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::Verdict;

use super::forbidden::Forbidden;
use super::judged;

const FROB: Forbidden = Forbidden("frob");

#[test]
fn what_a_text_writes_and_runs_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "{ printf frob; } > w; sh w",
            "(echo frob) > w; sh w",
            "if true; then echo frob; fi > w; sh w",
            "for i in 1; do echo frob; done > w; sh w",
            "f() { echo frob; }; f > w; sh w",
            "echo frob &> w; sh w",
            "echo frob >& w; sh w",
            "exec 3> w; echo frob >&3; sh w",
            "tr a a <<< frob > w; sh w",
            "sed s/x/o/ <<< frxb > w; . ./w",
            "python3 -c 'print(\"frob\")' > w; bash < w",
            "echo frob | cat > w; sh w",
            "echo frob | tr a a | tee w; sh w",
            "sort -o w <<< frob; sh w",
            "sed -n 'w w18' <<< frob; sh w18",
            "python3 -c 'open(\"w\",\"w\").write(\"fr\"+\"ob\")'; sh w",
            "perl -e 'open(F,\">\",\"w\"); print F \"frob\"'; sh w",
            "echo frob > a; mv a b; sh b",
            "echo frob > a; cp a b; sh b",
            "echo frob > a; ln -s a b; sh b",
            "echo frob > a; cat a > b; sh b",
            "ln -s bin/frob b; ./b",
            "cp bin/frob b; ./b",
            "install -m755 bin/frob b; ./b",
            "printf '#!/opt/x/frob\\n' > w; chmod +x w; ./w",
            "printf '#!/usr/bin/env -S sh -e\\nfrob' > w; ./w",
            "echo '#!./w' > w; ./w",
            "echo '1e frob' > w; sed -f w /etc/passwd",
            "echo frob > q7; chmod +x q7; PATH=.:$PATH q7",
            "echo 'alias.x=!frob' > w; GIT_CONFIG_GLOBAL=w git x",
            "tr a a <<< ':!frob' > w; vim -es -S w",
            "echo frob > w; bash -o errexit w",
            "if a; then echo frob > w; else echo ls > w; fi; sh w",
            "echo frob > w; xargs sh <<< w",
            "echo frob > w; trap 'sh w' EXIT",
        ],
    );
}

#[test]
fn what_a_text_writes_and_does_not_run_is_free() {
    FROB.none_is_asked_about(
        None,
        &[
            "cat > x.sh <<'X'\n#!/bin/bash\nset -e\nmake\nX\nchmod +x x.sh && ./x.sh",
            "cat > main.c <<'X'\nint main(){return 0;}\nX\ngcc -o main main.c && ./main",
            "make > build.log 2>&1; tail build.log",
            "cargo test 2>&1 | tee test.log; grep FAIL test.log",
            "npm test > out.txt; node check.js out.txt",
            "cp .env.example .env; . .env",
            "cp scripts/a.sh /tmp/a.sh; bash /tmp/a.sh",
            "mv old.sh new.sh && ./new.sh",
            "ln -sf ../lib/run.sh run.sh && ./run.sh",
            "{ echo 'print(1)'; echo 'print(2)'; } > a.py; python3 a.py",
            "go build -o app . && ./app",
            "pip freeze > requirements.txt && pip install -r requirements.txt",
            ": > log; ./run.sh >> log; cat log",
            "printf '#!/bin/sh\\nexec true\\n' > bin/fake; PATH=$PWD/bin:$PATH make test",
            "python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt",
            "node -e 'console.log(1)'; node index.js > out; node index.js",
            "uv run python -c \"print('hi')\"",
        ],
    );
}

#[test]
fn the_gate_reads_what_a_text_writes_or_says_that_it_does_not() {
    for (line, verdict) in [
        ("(echo 'rm -rf X') > w; sh w", Verdict::Dangerous),
        ("echo 'rm -rf X' > a; mv a b; sh b", Verdict::Dangerous),
        ("cp /bin/rm w; ./w -rf X", Verdict::Dangerous),
        ("echo 'rm -rf X' > w; echo ls > w; sh w", Verdict::Dangerous),
        ("tr a a <<< 'rm -rf X' > w; sh w", Verdict::Unknown),
        ("sed s/V/1/ run.in > run.sh; bash run.sh", Verdict::Unknown),
        ("sed -i s/V/1/ run.sh; bash run.sh", Verdict::Safe),
        (
            "python3 -c 'open(\"a.sh\", \"w\")'; bash a.sh",
            Verdict::Safe,
        ),
    ] {
        assert_eq!(judged(line, None).verdict, verdict, "{line}");
    }
}
