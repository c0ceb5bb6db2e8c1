//! A rule that forbids a program, and the ways in which shells, programs and code start another one.
#![allow(clippy::too_many_lines)] // Tables.

use super::forbidden::Forbidden;

const FROB: Forbidden = Forbidden("frob");

const ZSH: [&str; 30] = [
    "*(e:./frob:)",
    ": *(e:./frob:)",
    ": =(./fr*)",
    "cat =(./frob)",
    "hash z=./frob; z",
    "functions[z]=./frob; z",
    "functions[z]=\"./fr\"ob; z",
    "commands[zz]=./frob; zz",
    "aliases[z]=./frob\nz",
    "print -z ./frob",
    "print -P '%{$(./frob)%}'",
    "emulate sh -c ./frob",
    "emulate sh -c './fr''ob'",
    "sched +0 ./frob",
    "zle -N x",
    "zmodload zsh/zpty; zpty a ./frob",
    "typeset -T A b; A=./frob; $b",
    "eval '*(e:./frob:)'",
    "autoload -Uz zargs; zargs a -- ./frob",
    "x=./fro; ${x}b",
    "${(e):-./frob}",
    "${:-./frob}",
    "foreach x (./frob) $x; end",
    "for x (./frob) $x",
    "repeat 2 ./frob",
    "if true { ./fr* }",
    "() { ./frob }",
    "alias -s txt=./frob; a.txt",
    "setopt autocd cdablevars; x",
    "bindkey -s x './frob\\n'",
];

const FISH: [&str; 26] = [
    "./fro\\x62",
    "echo ./frob | source",
    "echo ./fro\\x62 | source",
    "not ./frob",
    "and ./frob",
    "or ./frob",
    "if true; ./frob; end",
    "begin; ./frob; end",
    "complete -C ./frob",
    "complete -C './fr\\'\\'ob'",
    "commandline ./frob",
    "bind x ./frob",
    "function ls; ./frob; end",
    "alias ls ./frob",
    "abbr ls ./frob",
    "eval './fr'ob",
    "set x ./frob; $x",
    "set -x GIT_SSH_COMMAND ./frob",
    "set x a ./frob; $x[2]",
    "string collect ./frob | source",
    "./fr'o'b",
    "(echo ./frob)",
    "./{frob}",
    "while ./frob; end",
    "trap ./frob EXIT",
    "exec ./frob",
];

#[test]
fn what_another_shell_reads_otherwise_may_be_any_program() {
    let command =
        |shell: &str, text: &str| format!("{shell} -c {}", crate::shell::text::quote::quoted(text));
    let mut lines: Vec<String> = ZSH.iter().map(|text| command("zsh", text)).collect();
    lines.extend(FISH.iter().map(|text| command("fish", text)));
    lines.extend(
        FISH.iter()
            .map(|text| format!("fish -d 0 -c {}", crate::shell::text::quote::quoted(text))),
    );
    lines.extend(ZSH.iter().map(|text| format!("zsh <<'EOF'\n{text}\nEOF")));
    lines.extend(FISH.iter().map(|text| format!("fish <<'EOF'\n{text}\nEOF")));
    let more = [
        "fish -C ./frob",
        "fish --init-command=./frob",
        "fish -d 0 -c ./frob",
        "fish --command ./frob",
        "csh -c 'setenv X y; foreach x (./frob)'",
        "csh -c './fr\\ob'",
        "tcsh -c '`echo ./frob`'",
        "tcsh -c 'sched 0 ./frob'",
        "ksh -c 'print -p x'",
        "ksh -c '${ ./fr*; }'",
        "nu -c './frob'",
        "nu -c 'do { ^./fr }'",
        "nu -c 'run-external x'",
        "xonsh -c '$[./frob]'",
        "elvish -c 'e:./frob'",
        "zsh -o autocd -c x.txt",
        "env zsh -c '=(./fr*)'",
    ];
    lines.extend(more.map(str::to_owned));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    FROB.all_are_stopped(None, &lines);
    FROB.all_are_stopped(Some("/bin/zsh"), &ZSH);
    FROB.all_are_stopped(Some("fish"), &FISH);
    FROB.none_is_asked_about(
        None,
        &[
            "zsh -c 'ls *.py | wc -l'",
            "zsh -c 'cd src && make test 2>&1 | tail -5'",
            "zsh -c 'echo \"$HOME\"; git status --short'",
            "zsh -lc 'node --version'",
            "zsh -ic 'nvm use 20 && npm test'",
            "zsh -c 'FOO=bar npm run build > out.log'",
            "fish -c 'ls; git log --oneline -5'",
            "fish -c 'cargo test && echo ok'",
            "fish --no-config -c 'ls src'",
            "csh -c 'ls -l'",
            "zsh -c 'for f in a b; do wc -l $f; done'",
        ],
    );
    FROB.none_is_asked_about(
        Some("zsh"),
        &[
            "git commit -m 'fix: (a) thing'",
            "for f in *.rs; do wc -l $f; done",
            "if [ -f x ]; then cat x; fi",
            "export PATH=\"$HOME/bin:$PATH\"",
            "grep -rn 'a(b)' src/ | head -20",
            "git diff HEAD~1 -- src/*.rs",
            "cat > a.py <<'EOF'\nprint([x for x in (1, 2)])\nEOF",
            "cd \"$(git rev-parse --show-toplevel)\" && ls",
            "find . -name '*.o' -exec ls {} \\;",
            "! grep -q x y",
            "[[ -f x ]] && echo yes",
            "set -euo pipefail",
            "npm test 2>&1 | tee log",
            "curl -s localhost:80/health?x=1 | jq .",
        ],
    );
    FROB.none_is_asked_about(
        Some("fish"),
        &[
            "git commit -m 'fix: (a) thing'",
            "ls *.rs | wc -l",
            "cargo test 2>&1 | tail -20",
            "cd src; make; ls",
            "echo \"$HOME\" $PATH",
        ],
    );
}

#[test]
fn what_bash_calls_a_command_may_be_any_program() {
    FROB.all_are_stopped(
        None,
        &[
            "BASH_CMDS[zz]=./frob; zz",
            "BASH_CMDS[zz]=$x; zz",
            "BASH_CMDS[$z]=./frob; zz",
            "BASH_CMDS=([zz]=./frob); zz",
            "BASH_CMDS+=([zz]=./frob); zz",
            "declare -A BASH_CMDS=([zz]=./frob); zz",
            "declare 'BASH_CMDS[zz]=./frob'; zz",
            "printf -v 'BASH_CMDS[zz]' ./fr%s ob; zz",
            "read 'BASH_CMDS[zz]' <<< ./frob; zz",
            "x=BASH_CMDS; printf -v \"$x[zz]\" ./frob; zz",
            "declare -n r=BASH_CMDS; r[zz]=./frob; zz",
            "declare -n r=BASH_C''MDS; r[zz]=./frob; zz",
            ": ${BASH_CMDS[zz]:=./frob}; zz",
            "shopt -s expand_aliases; BASH_ALIASES[zz]=./frob; eval zz",
            "BASH_ALIASES[ls]=./frob\nls",
            "BASH_ALIASES=([ls]=./frob)\nls",
            "PROMPT_COMMAND+=('./frob')",
            "PROMPT_COMMAND=(ls './frob')",
            "PROMPT_COMMAND+=./frob",
            "PROMPT_COMMAND[3]=./frob",
            "PROMPT_COMMAND[3]=$x",
            "bash -O extglob -c './+(f|r|o|b)'",
            "shopt -s extglob\n./+(f|r|o|b)",
            "shopt -s extglob\n./@(frob)",
            "./!(x)",
            "./?(f)rob",
            "./*(f)rob",
            "nice ./+(f|r|o|b)",
            "hash -p ./frob zz; zz",
            "hash -p \"$x\" ls; ls",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "echo ${BASH_VERSION}",
            "a[1]=x; echo ${a[1]}",
            "shopt -s extglob; ls *.@(rs|toml)",
        ],
    );
}

#[test]
fn what_programs_read_may_name_the_program() {
    FROB.all_are_stopped(
        None,
        &[
            "printf './frob\\0' | xargs -0 -n1 nice",
            "printf 'x\\0./frob\\0' | xargs -0 -n1 nice",
            "echo x ./frob | xargs -n1 nice",
            "echo x,./frob | xargs -d, -n1 env",
            "printf 'x\\n./frob\\n' | xargs -L1 env",
            "xargs -a list nice",
            "xargs timeout 5 < list",
            "cat list | xargs sh",
            "xargs sed -n <<< \"'1e ./frob' f\"",
            "cat list | xargs sed -n",
            "cat list | xargs awk",
            "cat list | xargs -I{} sed {} f",
            "echo x ./frob | parallel -N1 nice",
            "gen | xargs git",
            "gen | xargs -n1 make",
            "perl -e '@ARGV=(\"./frob|\");<>'",
            "perl -ne 1 './frob|'",
            "perl -pe 1 '| ./frob'",
            "perl -e 'while(<>){}' './frob |'",
            "perl -e 'open(F, shift); <F>' './frob|'",
            "perl -e 'open F, $ARGV[0]; print <F>' x",
            "perl -e 'open(my $f, $x)'",
            "perl -e 'open(F, <STDIN>)' <<< './frob|'",
            "sed -f /dev/stdin f <<< '1e ./frob'",
            "sed -f - f <<< '1e ./frob'",
            "sed --file=- f <<< '1e ./frob'",
            "echo '1e ./frob' | sed -nf- f",
            "gen | sed -f - f",
            "sed -f <(echo 1e ./frob) f",
            "python3 -m code <<< 'import os;os.system(\"./frob\")'",
            "python3 -m asyncio <<< 'import os;os.system(\"./fr\"+x)'",
            "python3 -m cProfile /dev/stdin <<< 'import os;os.system(\"./frob\")'",
            "python3 -m trace --trace /dev/stdin <<< 'import os;os.system(\"./frob\")'",
            "python3 -m pdb x.py <<< '!import os; os.system(\"./frob\")'",
            "gen | python3 -m code",
            "gen | awk -f -",
            "awk -f - f <<< '{system($1)}'",
            "python3 -i -c 1 <<< 'import os; os.system(\"./frob\")'",
            "python3 -ic 1 <<< 'import os; os.system(\"./frob\")'",
            "python3 -i x.py <<< 'import os; os.system(\"./frob\")'",
            "node -i -e 1 <<< 'require(\"child_process\").execSync(\"./frob\")'",
            "gen | node --interactive -e 1",
            "echo ./frob | awk '{print | \"sh\"}'",
            "echo ./frob | awk '{print | \"bash -s\"}'",
            "echo ./frob | awk '{print | (\"s\" \"h\")}'",
            "perl -e 'open F, \"|sh\"; print F \"./fr\", \"ob\"'",
            "python3 -c 'import subprocess as s; s.run([\"sh\"], input=b\"./fr\"+b\"ob\")'",
            "python3 -c 'import subprocess as s; s.run(\"bash -s\", shell=True, input=x)'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "git ls-files | xargs -n1 wc -l",
            "git ls-files -z | xargs -0 grep -l foo",
            "ls | xargs -I{} echo {}",
            "ls *.rs | xargs sed -i 's/a/b/'",
            "python3 -m json.tool < a.json",
            "cat a.json | python3 -m json.tool",
            "curl -s localhost:1/x | python3 -m json.tool",
            "python3 -m cProfile -s time x.py",
            "perl -pe 's/a|b/c/' f",
            "perl -ne 'print if /x/' a.log | head",
            "sed -f edit.sed f",
            "awk '{print | \"sort -n\"}' f",
            "python3 -m pytest -q < /dev/null",
        ],
    );
}

#[test]
fn a_long_option_may_be_abbreviated() {
    FROB.all_are_stopped(
        None,
        &[
            "sort -S 1k --compress-prog ./frob f",
            "sort --compress-prog=./frob f",
            "sort --comp ./frob f",
            "split --filt ./frob f",
            "split --filt=./frob f",
            "tar cf x --to-comm ./frob y",
            "tar xf x --to-comm=./frob",
            "tar cf x --use-comp ./frob y",
            "timeout --sig KILL 5 ./frob",
            "nice --adj 5 ./frob",
            "env --uns X ./frob",
            "env --split './frob x'",
            "xargs --max-a 1 ./frob",
            "sudo --us root ./frob",
            "stdbuf --out L ./frob",
            "flock --time 5 l ./frob",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "sort --parallel 2 f",
            "sort --version",
            "tar --to-stdout -xf x",
            "env --ignore-environment ls",
        ],
    );
}

#[test]
fn options_that_name_a_program_start_it() {
    FROB.all_are_stopped(
        None,
        &[
            "git ls-remote --exec=./frob r",
            "git fetch-pack --exec=./frob r HEAD",
            "git fetch-pack --upload-pack ./frob r HEAD",
            "git clone --upload-pack=./frob r",
            "git push --receive-pack=./frob r",
            "git send-pack --exec=./frob r",
            "ZZ='!./frob' git --config-env=alias.x=ZZ x",
            "git --config-env alias.x=ZZ x",
            "git --config-env=core.pager=ZZ log",
            "git -c alias.x='!./frob' x",
            "wget -e use_askpass=./frob u",
            "wget --execute use_askpass=./frob u",
            "wget --exec='use-askpass = ./frob' u",
            "gcc -wrapper ./frob f.c",
            "cpp -wrapper ./frob f",
            "x86_64-linux-gnu-gcc -wrapper ./frob f.c",
            "aarch64-linux-gnu-g++-12 -wrapper ./frob f.c",
            "arm-none-eabi-cpp -wrapper ./frob f.c",
            "gcc-13 -wrapper ./frob,x f.c",
            "gdb -batch -ex '| help | ./frob'",
            "gdb -batch -ex 'pipe help | ./frob'",
            "gdb -batch -ex 'target remote | ./frob'",
            "gdb -batch -ex 'tar rem | ./frob'",
            "gdb -batch -ex 'target extended-remote | ./frob'",
            "gdb -batch -ex 'she ./frob'",
            "gdb -batch -ex '!./frob'",
            "gdb -batch -ex 'make -f x'",
            "gdb -batch -ex 'file /bin/sh' -ex 'set exec-wrapper ./frob' -ex run",
            "gdb -batch -ex 'run -c ./frob' sh",
            "gdb -batch -ex 'r -c ./frob' sh",
            "gdb -batch -ex 'set args -c ./frob' -ex run sh",
            "vim -es -c 'exe \"!./fr\".\"ob\"'",
            "make CFLAGS='-wrapper ./frob' zz.o",
            "make 'CPPFLAGS=$(shell ./frob)' zz.o",
            "make COMPILE.c=./frob zz.o",
            "git --exec-path=. x",
            "git -c url.ext::./frob.insteadOf=zz: ls-remote zz:",
            "apt-get -o Dir::Bin::dpkg=./frob install x",
            "bwrap --dev-bind / / ./frob",
            "prove -e ./frob f",
            "set -o vi",
            "zsh-5.9 -c 'hash x=frob; x'",
            "gdb -batch -ex 'eval \"%s %s\", $a, $b'",
            "gdb -batch -ex 'call (int)system(\"./frob\")'",
            "gdb -batch -ex 'print system($x)'",
            "strace -o '|./frob' true",
            "strace -o '!./frob' true",
            "strace --output='|./frob' true",
            "ltrace -o '|./frob' true",
            "node --test-reporter=data:text/javascript,x",
            "node --test-reporter ./x.mjs --test",
            "node --import data:text/javascript,x x.js",
            "node --import ./x.mjs -e 1",
            "node -r ./x.js -e 1",
            "node --require=./x.js y.js",
            "node --loader ./x.mjs y.js",
            "node --experimental-loader=data:x y.js",
            "npm config edit --editor=./frob",
            "npm config edit --editor ./frob",
            "npm test --script-shell=./frob",
            "npm run x --node-options='--require ./x'",
            "npm --script-shell ./frob run x",
            "tmux -c ./frob",
            "tmux new -d \\; run-shell ./frob",
            "tmux new -d ';' run-shell ./frob",
            "tmux new -d \\; if-shell ./frob x",
            "tmux new -d \\; pipe-pane ./frob",
            "tmux run-shell ./frob",
            "tmux if-shell ./frob x",
            "tmux if-shell true 'run-shell ./frob'",
            "tmux pipe-pane -o ./frob",
            "tmux new-session -d ./frob",
            "tmux set-option -g default-command ./frob",
            "tmux set -g default-shell ./frob",
            "tmux source-file x.conf",
            "tmux bind x run-shell ./frob",
            "tmux set-hook -g x 'run-shell ./frob'",
            "sqlite3 :memory: \"select edit('x','./frob')\"",
            "sqlite3 :memory: \"select edit('x',y)\"",
            "sqlite3 x.db \"select load_extension('./x.so')\"",
            "sqlite3 x.db '.shell ./frob'",
            "sqlite3 x.db '.sh ./frob'",
            "sqlite3 x.db '.system ./frob'",
            "sqlite3 x.db \".once '|./frob'\"",
            "sqlite3 x.db '.output |./frob'",
            "sqlite3 x.db -cmd '.shell ./frob' ''",
            "PYTHONBREAKPOINT=os.system python3 -c 'breakpoint(\"./frob\")'",
            "TARGET_ARCH='-wrapper ./frob' make zz.o",
            "OUTPUT_OPTION='; ./frob' make zz.o",
            "env COMPILE.c=./frob make zz.o",
            "ZIP='-TT ./frob -T' zip a b",
            "SYSTEM_WGETRC=./x wget u",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "git log --oneline -5",
            "gcc -O2 -o x x.c",
            "x86_64-linux-gnu-gcc -c x.c",
            "x86_64-linux-gnu-objdump -d x",
            "gdb -batch -ex bt ./a.out core",
            "gdb -batch -ex run -ex bt --args ./a.out x",
            "gdb -batch -ex 'info registers' -ex 'print x' ./a.out",
            "strace -f -o out.txt ls",
            "node --test",
            "node --test-reporter=spec --test",
            "node --test-reporter tap --test x.js",
            "tmux ls",
            "tmux capture-pane -p -t x",
            "sqlite3 x.db 'select * from edits'",
            "sqlite3 x.db .tables",
            "npm run build",
            "wget -q -O - http://localhost:80/x",
        ],
    );
}

#[test]
fn code_that_can_start_a_program_may_start_any() {
    FROB.all_are_stopped(
        None,
        &[
            "python3 -c 'import webbrowser as w;w.get(\"./frob %s\").open(\"x\")'",
            "python3 -c 'import code;code.interact()' <<< x",
            "python3 -c 'breakpoint()' <<< 'import os; os.system(\"./frob\")'",
            "python3 -c 'import pdb; pdb.set_trace()'",
            "python3 -c 'import ctypes; ctypes.cdll.LoadLibrary(x)'",
            "python3 -c 'import pty; pty.spawn(x)'",
            "python3 -c 'import pty as p; p.spawn(x)'",
            "python3 -c 'import multiprocessing as m; m.Process(target=f).start()'",
            "python3 -c 'import importlib; importlib.import_module(x).f(y)'",
            "python3 -c 'import pdb; pdb.run(x)'",
            "python3 -c 'import timeit; timeit.timeit(x)'",
            "python3 -c 'import os as o; o.__dict__[x](y)'",
            "python3 -c 'import os; vars(os)[x](y)'",
            "python3 -c 'import pickle; pickle.loads(x)'",
            "python3 -c 'import cProfile; cProfile.run(x)'",
            "python3 -c '[c for c in ().__class__.__base__.__subclasses__()]'",
            "python3 -c 'import sys; sys.modules[x].f(y)'",
            "perl -e 'exec{$ARGV[0]} @ARGV' ./frob",
            "perl -e 'readpipe(shift)' ./frob",
            "perl -e 'use IPC::Open3; open3(a,b,c,shift)' ./frob",
            "perl -e 'use IPC::Open2; open2(a,b,shift)' ./frob",
            "perl -e '$x->(y)'",
            "perl -e '&$x(y)'",
            "perl -e 'require shift'",
            "perl -e 's/x/y/ee'",
            "perl -e 'print <$x>; glob(\"x\")' ",
            "ruby -e 'spawn(*ARGV)' ./frob",
            "ruby -e 'require ARGV[0]' x",
            "ruby -e 'x.public_send(y, z)'",
            "node -e 'process.binding(\"spawn_sync\")'",
            "node -e 'import(process.argv[1])' x",
            "node -e 'new (require(\"worker_threads\").Worker)(x)'",
            "node -e 'require(\"cluster\").fork()'",
            "node -e 'process.dlopen(x, y)'",
            "node -e 'require(\"vm\").runInThisContext(x)'",
            "node -e 'require(\"module\")._load(x)'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "python3 -c 'import json; print(json.load(open(\"a.json\")))'",
            "python3 -c 'import torch; print(torch.__version__)'",
            "python3 -c 'from app.models import User; print(User.query.count())'",
            "node -e 'console.log(require(\"./package.json\").version)'",
            "node -e 'const x = require(\"./lib/x\"); console.log(x.parse(\"a\"))'",
            "perl -pe 's/(\\d+)/$1+1/e' f",
            "ruby -rjson -e 'puts JSON.parse(STDIN.read)[\"a\"]' < a.json",
        ],
    );
}

#[test]
fn a_line_typed_into_a_program_may_start_any() {
    for (program, lines) in [
        (
            "bash",
            [
                "BASH_ALIASES[ls]=./frob",
                "PROMPT_COMMAND+=('./frob')",
                "./+(f|r|o|b)",
            ]
            .as_slice(),
        ),
        (
            "gdb",
            &[
                "| help | ./frob",
                "she ./frob",
                "shell ./frob",
                "pipe help | ./frob",
                "eval \"%s\", $c",
                "target remote | ./frob",
                "set exec-wrapper ./frob",
                "run -c ./frob",
                "source x.gdb",
                "python import os; os.system('./frob')",
                "call (int)system($c)",
            ],
        ),
        (
            "sqlite3",
            &[
                "select edit('x','./frob');",
                ".shell ./frob",
                ".once '|./frob'",
                "select load_extension('x');",
            ],
        ),
        (
            "python3",
            &["from subprocess import run as r", "import pty"],
        ),
    ] {
        FROB.all_are_stopped(Some(program), lines);
    }
    FROB.none_is_asked_about(
        Some("gdb"),
        &[
            "bt",
            "print x",
            "info threads",
            "next",
            "break main",
            "continue",
        ],
    );
    FROB.none_is_asked_about(Some("sqlite3"), &["select 1;", ".tables"]);
    FROB.none_is_asked_about(Some("python3"), &["print(1)", "x = [1, 2]", "import json"]);
}
