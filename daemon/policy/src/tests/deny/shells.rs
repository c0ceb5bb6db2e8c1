//! What other shells read otherwise than bash, what bash calls a command, and the lines that shells are given.
#![allow(clippy::too_many_lines)] // Tables.

use crate::tests::forbidden::Forbidden;

const FROB: Forbidden = Forbidden("frob");
const GIT: Forbidden = Forbidden("git");

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
fn the_line_of_a_shell_is_found_behind_its_options() {
    GIT.all_are_stopped(
        None,
        &[
            "bash +O extglob -c 'git push'",
            "bash -Oc extglob 'git push'",
            "bash -oc pipefail 'git push'",
            "bash -euoc pipefail 'git push'",
            "bash -oo errexit pipefail -c 'git push'",
            "bash +o posix -c 'git push'",
            "bash +x -c 'git push'",
            "bash +xc 'git push'",
            "bash -c +o errexit 'git push'",
            "echo git push | fish -d 0",
            "dash -c 'for x do git push; done' a b",
            "zsh +f -c 'git push'",
            "zsh --emulate sh -c 'git push'",
            "zsh --emulate sh -fc 'git push'",
            "zsh --emulate ksh -c 'git push'",
            "bash -c 'time ! git push'",
            "bash -c 'for x do git push; done' a b",
            "script -q g <<< 'git push'",
            "bash -C -c 'git push'",
            "bash -Cc 'git push'",
            "sh -C -c 'git push'",
            "bash -o noglob -C -c 'git push'",
        ],
    );
    GIT.none_is_asked_about(
        None,
        &[
            "fish --no-config -C 'function fish_prompt; echo '\\''ready> '\\''; end'",
            "fish --init-command='cd src' -c ls",
            "fish -N",
            "fish -d 0 -c ls",
            "bash --norc -ic 'ls'",
            "bash -euo pipefail -c 'make test | tail -3'",
            "bash -euxo pipefail -c 'make'",
            "bash -o pipefail build.sh",
            "bash -O extglob -c 'ls *.rs'",
            "bash -O globstar -c 'wc -l src/**/*.rs'",
            "bash -c 'make \"$@\"' x all test",
            "bash -x ./build.sh --fast",
            "bash --rcfile .bashrc -ic 'make'",
            "bash -lc 'nvm use 20 && npm test'",
            "sh -ec 'cd x; make'",
            "dash -n x.sh",
            "zsh -fc 'ls'",
            "zsh -n x.zsh",
            "bash -n x.sh",
            "sh -s -- a b <<< 'echo $1'",
            "bash -s < build.sh",
            "bash +x build.sh",
            "bash - build.sh",
            "bash -- build.sh a b",
            "docker exec x bash -lc 'ls'",
            "docker run --rm x sh -c 'make test'",
            "busybox sh -c 'ls'",
            "ssh h bash -c ls",
            "env -S 'make all'",
            "env -i PATH=/usr/bin bash --norc -c 'make'",
            "script -qec 'make' /dev/null",
            "script -q log",
        ],
    );
}

#[test]
fn lines_of_the_history_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "echo frob > h; HISTFILE=h bash -ic '!!'",
            "HISTFILE=h bash -i -c '!fr'",
            "bash -i <<< $'history -r h\n!fr'",
            "bash -H <<< $'history -r h\n^a^b'",
            "bash -i <<'E'\nls\n!-2\nE",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "bash -ic 'echo hi!'",
            "bash -lic 'if ! make test; then echo no; fi'",
            "bash -i <<< 'test a != b'",
            "bash -c 'echo a!b'",
        ],
    );
}
