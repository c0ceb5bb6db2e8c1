//! A rule is not passed by what may fit it, and asks about nothing else.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::{Effect, GateSettings, Judgement, Verdict};

use super::judged;
use super::rules::rules;
use crate::{CompiledGate, Policy, Request, judge};

fn gate(enabled: bool) -> CompiledGate {
    let patterns = Vec::new();
    CompiledGate::compile(&GateSettings { enabled, patterns }).unwrap()
}

fn under(policy: &Policy, line: &str, is_gate_on: bool) -> Judgement {
    judge(&Request::line(line), &gate(is_gate_on), policy)
}

/// Lines under a policy that are neither refused nor left to a person.
fn passing<'a>(policy: &Policy, lines: &[&'a str]) -> Vec<&'a str> {
    let passes = |line: &&&str| {
        [true, false].iter().any(|is_gate_on| {
            let judgement = under(policy, line, *is_gate_on);
            let is_asked = judgement.effect == Effect::Confirm && judgement.needs_person;
            judgement.effect != Effect::Deny && !is_asked
        })
    };
    lines.iter().filter(passes).copied().collect()
}

#[test]
fn no_spelling_passes_a_rule_that_forbids_a_program() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let lines = [
        "frob",
        "/tmp/d/bin/frob x",
        // Patterns of file names.
        "/tmp/d/bin/[f]rob",
        "/tmp/d/bin/fro?",
        "/tmp/d/bin/f*",
        "/tmp/d/bin/[!x]rob",
        "/tmp/d/bin/@(frob)",
        "/tmp/d/b[i]n/frob",
        "/tmp/d/*/frob",
        "~frob",
        "fr{n..p}b",
        // Arrays.
        "c=(/tmp/frob x); \"${c[@]}\"",
        "c=(ls /tmp/frob); ${c[1]}",
        "c=(ls); c+=(x); c[0]=/tmp/frob; \"${c[@]}\"",
        "c=($(gen)); \"${c[@]}\"",
        "declare -a c=(/tmp/frob); \"${c[@]}\"",
        "declare -A m; m[a]=/tmp/frob; ${m[a]}",
        "c=([0]=/tmp/frob); $c",
        // Assembled and read.
        "x=/tmp/fr; x+=ob; $x",
        "x=ls; read x <<< /tmp/frob; $x",
        "x=ls; read -r x < list; $x",
        "x=ls; printf -v x %s /tmp/frob; $x",
        "x=ls; printf -v x '\\x66rob'; $x",
        "x=ls; mapfile -t x < list; $x",
        "x=ls; readarray x < list; $x",
        "x=ls; getopts a x; $x",
        "x=ls; declare -n y=x; y=/tmp/frob; $x",
        "x=ls; . ./settings.sh; $x",
        "x=ls; source settings.sh; $x",
        "x=ls; eval \"$(gen)\"; $x",
        "x=ls; eval x=/tmp/frob; $x",
        "x=ls; export x=/tmp/frob; $x",
        "x=ls; declare x=/tmp/frob; $x",
        "x=ls; command export x=/tmp/frob; $x",
        "x=ls; export \"x=/tmp/frob\"; $x",
        "declare -l x=FROB; $x",
        "x=ls; unset x; $x frob",
        "IFS=,; x=/tmp/frob,a; $x",
        "IFS=x; c=frobxy; $c",
        "IFS=$(gen); c=axfrob; $c",
        "IFS=, read c <<< x; $c",
        // Substituted where the grammar has no node.
        "cat <<EOF\na `/tmp/frob` b\nEOF",
        "cat <<E\n\t$(/tmp/frob)\nE",
        "echo \"${x:-`/tmp/frob`}\"",
        "echo ${PATH##$(/tmp/frob)}",
        "[[ x =~ `/tmp/frob` ]]",
        "${x:-frob}",
        "${x:=frob}",
        "${x:-ls}",
        "x=ls; ${x:+frob}",
        "${x:+frob}",
        "x=frob.c; ${x%.c}",
        "x=FROB; ${x,,}",
        "y=frob; x=y; ${!x}",
        "x=frob; ${x@P}",
        "$1",
        "set -- /tmp/frob; $1",
        "set -- /tmp/frob; \"$@\"",
        "set -- ls /tmp/frob; shift; \"$@\"",
        // Where it is not known which course is taken.
        "if a; then x=ls; fi; $x",
        "if false; then x=ls; else x=/tmp/frob; fi; $x",
        "false && x=ls; $x",
        "x=/tmp/frob; (x=ls); $x",
        "x=/tmp/frob; x=ls & $x",
        "x=/tmp/frob; echo a | x=ls; $x",
        "x=/tmp/frob; y=$(x=ls); $x",
        "$x; x=ls",
        "x=ls; f() { x=/tmp/frob; }; f; $x",
        "x=ls; f() { $x; }; x=/tmp/frob; f",
        "x=ls; while $x; do x=/tmp/frob; done",
        "for i in 1 2; do $x; x=/tmp/frob; done",
        "for x in ls /tmp/frob; do $x; done",
        "for x in *; do ./$x; done",
        "case $a in b) x=/tmp/frob;; *) x=ls;; esac; $x",
        "x=/tmp/frob; x=ls true; $x",
        "x=/tmp/frob sh -c '$x'",
        "select x in ls; do $REPLY; done",
        "a=1; b=2; for x in 1 2 3 4 5 6 7 8 9 10 11 12 13 frob; do $x; done",
        "for a in l f; do for b in s rob; do $a$b; done; done",
        // Functions, aliases, other names.
        "f() { \"$@\"; }; f /tmp/frob",
        "f() { $1; }; f /tmp/frob",
        "f() { shift; \"$@\"; }; f x /tmp/frob",
        "f() { if a; then $2; else f x frob; fi; }; f",
        "ls() { /tmp/frob; }; ls",
        "alias g=/tmp/frob; g",
        "alias g='x; /tmp/frob'\ng",
        "hash -p /tmp/frob ls; ls",
        "enable -f ./x.so frobx",
        "command -p frob",
        "builtin command frob",
        "exec -a ls /tmp/frob",
        "trap /tmp/frob EXIT",
        "trap \"$x\" EXIT",
        "PROMPT_COMMAND=/tmp/frob",
        "PS1='$(/tmp/frob)'",
        "PS4='$(/tmp/frob)'; set -x; ls",
        "coproc /tmp/frob",
        // What is printed.
        "printf '%s' /tmp/frob | sh",
        "printf '%s x' /tmp/frob | sh",
        "printf '\\x2ftmp/fro\\x62' | sh",
        "printf '%b' '\\057tmp/frob' | sh",
        "echo -e '\\x66rob' | sh",
        "echo '\\x66rob' | sh",
        "$(printf '\\x66rob') x",
        "$(printf '%s%s' fr ob)",
        "eval \"$(printf '\\x66rob x')\"",
        "eval \"ls; $x\"",
        "bash -c \"cd $x && ls\"",
        "$(cat <<< /tmp/frob)",
        "$(echo /tmp/frob | cat)",
        "`echo /tmp/frob`",
        "$(< file)",
        "x=$(cat name); $x",
        ". /dev/stdin <<< /tmp/frob",
        "source /dev/fd/0 <<< /tmp/frob",
        "sh /dev/stdin <<< /tmp/frob",
        "sh /proc/self/fd/0 <<< /tmp/frob",
        "exec 3<<< /tmp/frob; sh <&3",
        "exec 3<<< /tmp/frob; sh /dev/fd/3",
        "exec 3<<< /tmp/frob; . /dev/fd/3",
        "sh <<EOF\n$x\nEOF",
        "sh <<EOF\n$(printf '\\x66rob')\nEOF",
        "sh <<< \"$x\"",
        "cat > s.sh <<< x && sh <<< /tmp/frob",
        "echo /tmp/frob > >(sh)",
        "echo /tmp/frob | tee >(sh)",
        "exec 3> >(sh); echo /tmp/frob >&3",
        "{ echo /tmp/frob; } > >(sh)",
        "coproc sh; echo /tmp/frob >&${COPROC[1]}",
        ". <(echo /tmp/frob)",
        "bash <(printf %s /tmp/frob)",
        // What is fed.
        "xargs env <<< /tmp/frob",
        "echo /tmp/frob | xargs env",
        "xargs -I{} env {} <<< /tmp/frob",
        "find . | xargs -I{} sh -c '{}'",
        "make -f - <<< 'a:;/tmp/frob'",
        "printf 'a:;/tmp/frob' | make -f /dev/stdin",
        // Subscripts that run.
        "test -v 'a[$(/tmp/frob)]'",
        "[ -v 'a[$(/tmp/frob)]' ]",
        "[[ -v 'a[$(/tmp/frob)]' ]]",
        "[[ 'a[$(/tmp/frob)]' -eq 1 ]]",
        "echo $((a[$(/tmp/frob)]))",
        "let 'a[$(/tmp/frob)]=1'",
        "x='a[$(/tmp/frob)]'; echo $((x))",
        "printf -v 'a[$(/tmp/frob)]' x",
        "read 'a[$(/tmp/frob)]' < x",
        "unset 'a[$(/tmp/frob)]'",
        // Other languages.
        "python3 -c 'import os; os.system(\"/tmp/frob\")'",
        "python3 -c 'import os; os.system(\"/tmp/f\" + \"rob\")'",
        "python3 -c 'import subprocess; subprocess.run([\"/tmp/frob\", \"x\"])'",
        "perl -e 'system(\"/tmp/frob\")'",
        "ruby -e 'system(\"/tmp/frob\")'",
        "node -e 'require(\"child_process\").execSync(\"/tmp/frob\")'",
        "awk 'BEGIN { system(\"/tmp/frob\") }'",
        "awk 'BEGIN { system(x) }'",
        // Zsh.
        "=frob x",
        // Wrapped.
        "env $x",
        "sudo $x",
        "nice \"$x\"",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
}

#[test]
fn no_spelling_passes_a_rule_about_words() {
    let policy = rules(
        "[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']\nhas = ['-f|--force']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'terraform'\narguments = '^destroy'",
    )
    .unwrap();
    let lines = [
        "git push -f",
        "git p?sh -f",
        "git [p]ush -f",
        "git $(printf '\\x70ush') -f",
        "git $(echo push) $(printf -- '-f')",
        "git push $x",
        "git $x",
        "git $x -f",
        "git \"$x\" --force",
        "git push --forc\"$x\"",
        "x=(push -f); git \"${x[@]}\"",
        "/usr/lib/git-core/git-push -f",
        "git-push -f",
        "xargs git push <<< -f",
        "echo push -f | xargs git",
        "find . | xargs git push",
        "$(printf '\\x74erraform') destroy",
        "echo destroy | xargs terraform",
        "terraform $what",
        "terraform \"$what\"",
        "terraform d?stroy",
        "x=destroy; terraform $x",
        "terraform ${x:-plan}",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
    for line in [
        "git log $x",
        "git commit -m \"$(date)\"",
        "git push origin \"v$x\"",
        "git add *.rs",
        "git checkout -b \"$x\"",
        "terraform plan",
        "x=plan; terraform $x",
        "$HOME/bin/tool destroy",
        "make push -f",
    ] {
        let judgement = under(&policy, line, false);
        assert_eq!(judgement.effect, Effect::Allow, "{line}: {judgement:?}");
    }
}

/// Whether an option takes a value is not always known, so the word behind it may be none of the operands.
#[test]
fn no_option_passes_a_rule_about_operands() {
    let policy = rules(
        "[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push', 'origin', 'main*']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'kubectl'\noperands = ['delete']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'docker'\noperands = ['compose', 'down']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'cargo'\noperands = ['publish']",
    )
    .unwrap();
    let lines = [
        "git push origin main",
        "git -C . push origin main",
        "git -c a.b=c push origin main-2",
        "git push -o ci.skip origin main",
        "git -C . push -o ci.skip --receive-pack x origin main",
        "git push --force origin main",
        "kubectl -n prod delete pod x",
        "docker compose -f x.yml down",
        "docker -H ssh://h compose --profile p down",
        "cargo +nightly publish",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
    for line in [
        "git commit -m push origin main",
        "git push origin topic",
        "git -C main push origin topic",
        "git log --oneline origin/main",
        "git -C . status",
        "docker compose -f down.yml up",
        "docker compose up -d",
        "cargo build --features publish",
        "cargo +nightly test",
        "kubectl -n prod get pods",
        "kubectl get pods -n delete",
    ] {
        let judgement = under(&policy, line, false);
        assert_eq!(judgement.effect, Effect::Allow, "{line}: {judgement:?}");
    }
}

#[test]
fn a_rule_that_asks_is_asked_by_the_client_too() {
    let policy = rules("[[rules]]\neffect = 'confirm'\nprogram = 'frob'").unwrap();
    let judgement = under(&policy, "$x", false);
    assert_eq!(judgement.effect, Effect::Confirm);
    assert!(!judgement.needs_person);
}

#[test]
fn a_profile_is_not_passed_and_not_lost() {
    let policy = rules(
        "[fronts.cli]\nprofile = 'workspace'\n[[rules]]\nprogram = 'frob'\nprofile = 'read-only'\n\
         [[rules]]\nprogram = 'git'\nprofile = 'none'",
    )
    .unwrap();
    for line in ["/tmp/[f]rob", "$(printf '%s' frob)", "$x", "git; $x"] {
        let request = Request::line(line);
        let decision = policy.decide(&request, crate::Completeness::Whole, &gate(false));
        let names = &decision.profiles_by_rule;
        assert!(names.contains(&"read-only".to_owned()), "{line}: {names:?}");
        let judgement = decision.judgement;
        if line != "$(printf '%s' frob)" {
            assert_eq!(judgement.effect, Effect::Confirm, "{line}");
            assert!(judgement.needs_person, "{line}");
        }
    }
    // What may be git is not free of the front's profile.
    let free = policy.decide(
        &Request::line("git"),
        crate::Completeness::Whole,
        &gate(true),
    );
    let maybe = policy.decide(
        &Request::line("gi[t]"),
        crate::Completeness::Whole,
        &gate(true),
    );
    assert_ne!(free.profile, maybe.profile);
}

/// Lines of agents' days, none of which may be asked about.
const HARMLESS: [&str; 112] = [
    "cd x && npm test 2>&1 | tail -50",
    "cd \"$(git rev-parse --show-toplevel)\" && ls",
    "git rev-parse --short HEAD",
    "BRANCH=$(git rev-parse --abbrev-ref HEAD); git push -u origin \"$BRANCH\"",
    "git commit -m \"$(cat <<'EOF'\nfix: a thing\n\nIt was $broken.\nEOF\n)\"",
    "git add -A && git commit -q -m 'wip' && git log --oneline -1",
    "git diff --stat HEAD~1 | cat",
    "git log --since=yesterday --format='%h %s' -- src/*.rs",
    "git status --porcelain | awk '{print $2}' | head",
    "for f in *.rs; do wc -l \"$f\"; done",
    "for f in $(git ls-files '*.py'); do grep -n TODO $f; done",
    "for i in 1 2 3; do curl -s localhost:$i/health; done",
    "for d in */; do (cd \"$d\" && git status -s); done",
    "while read -r line; do echo \"$line\"; done < list.txt",
    "find . -name '*.ts' -not -path './node_modules/*' | xargs grep -l foo",
    "find . -type f -print0 | xargs -0 wc -l",
    "grep -rn 'fn main' --include=*.rs . | head -20",
    "rg -n \"pattern_$x\" src/",
    "sed -n '10,40p' src/main.rs",
    "sed -i 's/foo/bar/g' src/*.rs",
    "sed -i \"s/VERSION/$VERSION/\" file",
    "awk -F: '{print $1}' /etc/passwd",
    "awk '{s+=$1} END {print s}' nums",
    "awk 'NR==1{print; next} $3 > 5 {print $1, $2}' data.tsv",
    "jq -r '.items[] | select(.name == \"x\") | .id' a.json",
    "jq --arg v \"$VERSION\" '.version = $v' package.json > tmp.json",
    "curl -s https://api.x.org/v1 | jq '.data[0]'",
    "[ -f package.json ] && cat package.json",
    "[ -f x ] && echo yes || echo no",
    "[[ -d \"$dir\" && -n $x ]] && ls \"$dir\"",
    "if [ -z \"$x\" ]; then echo empty; fi",
    "if [ \"$x\" -eq 1 ]; then echo one; fi",
    "test -d build || mkdir -p build",
    "printf '%s\\n' a b c",
    "printf '%s\\n' \"$x\" >> log.txt",
    "printf 'a\\tb\\n' | column -t",
    "echo \"PATH is $PATH\"",
    "echo -e \"a\\nb\"",
    "echo -n \"$x\" | sha256sum",
    "cat > script.sh <<< 'echo hi'",
    "cat > a.txt <<'EOF'\n$x and `y` and $(z)\nEOF",
    "cat > a.txt <<EOF\nname=$name\nEOF",
    "cat <<EOF > conf.yml\nkey: ${value:-default}\nEOF",
    "cat >> .gitignore <<EOF\ntarget/\nEOF",
    "tee a.txt <<EOF > /dev/null\nhi\nEOF",
    "python3 - <<'EOF'\nimport json\nprint(json.dumps({}))\nEOF",
    "python3 -c \"import sys; print(sys.version)\"",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"a\"])' < a.json",
    "python3 -m pytest -x -q tests/test_a.py::test_b 2>&1 | tail -30",
    "python3 -m http.server 8000 &",
    "node -e 'console.log(process.version)'",
    "node -p 'require(\"./package.json\").version'",
    "npm run build --silent 2>&1 | grep -i error | head",
    "npm ci && npm run lint -- --fix",
    "npx tsc --noEmit -p tsconfig.json",
    "npx prettier --write \"src/**/*.ts\"",
    "pip install -e '.[dev]' -q",
    "cargo test -p foo --lib 2>&1 | tail -20",
    "RUST_LOG=debug cargo run -- --port 80",
    "RUST_BACKTRACE=1 cargo test name -- --nocapture",
    "CC=clang make -j$(nproc)",
    "make -j\"$(nproc)\" 2>&1 | tee build.log",
    "make -C build test",
    "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release",
    "go test ./... 2>&1 | grep -v 'no test files'",
    "docker compose up -d && docker compose logs --tail 50",
    "docker ps --format '{{.Names}}: {{.Status}}'",
    "docker run --rm -v \"$PWD\":/w -w /w node:20 npm test",
    "kubectl get pods -n \"$NS\" -o json | jq '.items | length'",
    "ls -la \"$HOME/.config\"",
    "ls $dir/*.log | wc -l",
    "cp -r \"$src\" \"$dst\"",
    "mv \"$f\" \"${f%.txt}.md\"",
    "mkdir -p $(dirname $out)",
    "tar czf \"backup-$(date +%F).tgz\" src",
    "x=$(mktemp -d) && cd \"$x\" && git init -q",
    "args=(-a -b); ls \"${args[@]}\"",
    "files=(src/*.rs); echo ${#files[@]}",
    "declare -A m=([a]=1 [b]=2); echo ${m[a]}",
    "a=(); for i in 1 2; do a+=($i); done; echo \"${a[@]}\"",
    "n=0; while [ $n -lt 3 ]; do n=$((n+1)); echo $n; done",
    "((count++)); echo $count",
    "export FOO=bar; env | grep FOO",
    "export PATH=\"$HOME/.local/bin:$PATH\"",
    "set -euo pipefail; cd src; ls",
    "set -e; for p in a b; do (cd packages/$p && npm test); done",
    "source .venv/bin/activate && pip list",
    ". ~/.nvm/nvm.sh && nvm use 20",
    "source ~/.bashrc; ls",
    "eval \"$(ssh-agent -s)\"",
    "ssh host 'cd /srv && git pull'",
    "sleep 2; curl -fsS localhost:3000 > /dev/null && echo up",
    "timeout 10 npm start > out.log 2>&1 &",
    "(npm start > /tmp/log 2>&1 &) ; sleep 3; cat /tmp/log",
    "ps aux | grep -v grep | grep node | awk '{print $2}'",
    "lsof -i :3000 -t",
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "diff <(sort a) <(sort b)",
    "comm -12 <(sort a) <(sort b) | head",
    "tail -f log.txt | grep --line-buffered ERROR",
    "time cargo build --release",
    "which python3 && python3 --version",
    "command -v rg >/dev/null || echo missing",
    "type -a node",
    "case \"$1\" in start) echo a;; *) echo b;; esac",
    "f() { echo \"$1\"; }; f hello",
    "greet() { local name=${1:-you}; echo \"hi $name\"; }; greet bob",
    "trap 'echo done' EXIT; ls",
    "TOOL=./build/tool; $TOOL --version",
    "cmd='ls -la'; $cmd",
    "echo {1..5} | tr ' ' '\\n'",
    "[ \"$(id -u)\" = 0 ] || echo 'not root'",
];

#[test]
fn harmless_lines_are_safe_and_no_rule_that_they_do_not_fit_asks() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let mut wrong = Vec::new();
    for line in HARMLESS {
        let judgement = judged(line, None);
        if judgement.verdict != Verdict::Safe {
            wrong.push(format!("{line:?} is {judgement:?}"));
        }
        let judgement = under(&policy, line, true);
        if judgement.effect != Effect::Allow {
            wrong.push(format!("{line:?} is asked about: {judgement:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_profile_by_name_is_for_no_other_file_of_that_name() {
    let policy = rules("[[rules]]\nprogram = 'git'\nprofile = 'none'").unwrap();
    for (line, effect) in [
        ("git status", Effect::Allow),
        ("/usr/bin/git status", Effect::Allow),
        ("PATH=$PATH:/usr/local/bin git status", Effect::Allow),
        (
            "export PATH=$HOME/.cargo/bin:$PATH; git status",
            Effect::Allow,
        ),
        ("./git status", Effect::Confirm),
        ("/home/me/src/git status", Effect::Confirm),
        ("PATH=.:$PATH git status", Effect::Confirm),
        ("PATH=$PWD/bin:$PATH git status", Effect::Confirm),
        ("env PATH=bin:/usr/bin git status", Effect::Confirm),
        (
            "export PATH=/home/me/src/x/bin:$PATH; git status",
            Effect::Confirm,
        ),
    ] {
        let mut request = Request::line(line);
        request.front = crate::Front::Mcp;
        let judgement = judge(&request, &CompiledGate::default(), &policy);
        assert_eq!(judgement.effect, effect, "{line}: {judgement:?}");
        assert_eq!(judgement.needs_person, effect == Effect::Confirm, "{line}");
    }
}
